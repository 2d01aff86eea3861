#include "fetch/oci/challenge.h"

#include <gtest/gtest.h>

namespace capi::fetch {
namespace {

struct Case {
  std::vector<std::string_view> headers;
  std::string want;  // scheme, realm, service, scope, by |; "" for none
};

std::string Text(const std::optional<Challenge>& one) {
  if (!one) return "";
  return std::string(one->bearer ? "bearer" : "basic") + "|" + one->realm + "|" + one->service + "|" + one->scope;
}

// T9: of the ways that a registry offers, a token comes first.
TEST(Challenge, IsReadAsRegistriesWriteIt_T9) {
  const Case cases[] = {
      {{}, ""},
      {{""}, ""},
      {{"Negotiate"}, ""},
      {{"Digest realm=\"x\", nonce=\"Basic\""}, ""},
      {{"Basic realm=\"a b\""}, "basic|a b||"},
      {{"basic"}, "basic|||"},
      {{R"(Bearer realm="https://a/t",service="s",scope="repository:o/p:pull,push")"},
       "bearer|https://a/t|s|repository:o/p:pull,push"},
      {{"BEARER realm=https://a/t , service = s"}, "bearer|https://a/t||"},
      {{R"(Basic realm="x", Bearer realm="https://a/t")"}, "bearer|https://a/t||"},
      {{R"(Bearer realm="https://a/t", Basic realm="x")"}, "bearer|https://a/t||"},
      {{R"(Basic realm="x")", R"(Bearer realm="https://a/t")"}, "bearer|https://a/t||"},
      {{R"(Bearer realm="one", Bearer realm="two")"}, "bearer|one||"},
      {{R"(Bearer realm="a \"quoted\" one",service="never ended)"}, "bearer|a \"quoted\" one|never ended|"},
      {{R"(Bearer realm="one",realm="two")"}, "bearer|one||"},
      {{"=,\"=\" realm=x"}, ""},
  };
  for (const Case& c : cases)
    EXPECT_EQ(Text(ReadChallenge(c.headers)), c.want) << (c.headers.empty() ? "" : c.headers[0]);
}

}  // namespace
}  // namespace capi::fetch
