// Versions: what is read is written and read again as the same; the strict form is tolerated too; order is an order.
#include "api/version.h"
#include "base/fuzz.h"

namespace capi::api {
namespace {

void CheckOne(std::string_view text) {
  auto strict = Version::Parse(text), tolerant = Version::ParseTolerant(text);
  if (strict.ok()) {
    auto again = Version::Parse(strict->ToString());
    FUZZ_REQUIRE(again.ok() && *again == *strict && again->ToString() == strict->ToString());
    FUZZ_REQUIRE(again->build == strict->build);
    FUZZ_REQUIRE(SameVersion(text, strict->ToString()));
  } else {
    FUZZ_REQUIRE(!strict.error().message.empty());
  }
  if (tolerant.ok()) {
    auto again = Version::ParseTolerant(tolerant->ToString());
    FUZZ_REQUIRE(again.ok() && *again == *tolerant && again->ToString() == tolerant->ToString());
    FUZZ_REQUIRE(!strict.ok() || *strict == *tolerant);
  }
}

void CheckPair(std::string_view left, std::string_view right) {
  FUZZ_REQUIRE(SameVersion(left, right) == SameVersion(right, left));
  FUZZ_REQUIRE(SameVersion(left, left));
  auto a = Version::ParseTolerant(left), b = Version::ParseTolerant(right);
  if (!a.ok() || !b.ok()) return;
  FUZZ_REQUIRE((*a < *b) + (*a > *b) + (*a == *b) == 1);
  FUZZ_REQUIRE((*a < *b) == (*b > *a));
  // A prerelease stands before its release.
  Version release = *a;
  release.prerelease.clear();
  FUZZ_REQUIRE(a->prerelease.empty() ? *a == release : *a < release);
}

}  // namespace
}  // namespace capi::api

// Two versions, one a line.
CAPI_FUZZ(version, "api",
          {"v1.2.3\n1.2.4-rc.1+build.5", "v1.0.0-alpha\nv1.0.0-alpha.1", " v01.2 \n1",
           "v1.2.3-99999999999999999999\nv1.2.x"}) {
  size_t newline = input.find('\n');
  std::string_view left = input.substr(0, newline);
  std::string_view right = newline == input.npos ? "v1.0.0" : input.substr(newline + 1);
  capi::api::CheckOne(left);
  capi::api::CheckOne(right);
  capi::api::CheckPair(left, right);
}
