// Image references: parts put together give the text again, and an override changes what it names and nothing else.
#include "base/fuzz.h"
#include "templating/customise/image_reference.h"
#include "templating/customise/images.h"

// A reference on the first line, the overrides behind it.
CAPI_FUZZ(image, "templating/customise",
          {"registry.k8s.io/cluster-api/controller:v1.2.3\nall: {repository: mirror.io/x, tag: v2}\n",
           "a.b/c@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\nall: {name: d}",
           "localhost:5000/a/b_c\nx", "nginx:1\n", "a.b/C:1\n"}) {
  using namespace capi::templating;
  size_t newline = input.find('\n');
  std::string_view image = input.substr(0, newline);
  auto reference = ImageReference::Parse(image);
  if (reference.ok()) {
    FUZZ_REQUIRE(reference->ToString() == image);
    FUZZ_REQUIRE(!reference->name.empty() && !reference->repository.empty());
    FUZZ_REQUIRE(reference->name.find('/') == std::string::npos);
  } else {
    FUZZ_REQUIRE(!reference.error().message.empty());
  }
  auto overrides = ParseImageOverrides(newline == input.npos ? "" : input.substr(newline + 1));
  if (!overrides.ok()) return;
  auto fixed = OverrideImage("infrastructure-x", image, *overrides);
  FUZZ_REQUIRE(fixed.ok() == reference.ok());
  if (!fixed.ok()) return;
  if (overrides->empty()) FUZZ_REQUIRE(*fixed == image);
  if (!reference->digest.empty()) FUZZ_REQUIRE(fixed->ends_with(reference->digest));
}
