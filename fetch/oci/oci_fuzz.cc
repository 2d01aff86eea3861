// What a registry answers, and what people name one by: never more than was asked for, and what is read can be written.
#include "api/validate/oci_reference.h"
#include "base/fuzz.h"
#include "fetch/oci/answers.h"
#include "fetch/oci/challenge.h"
#include "fetch/oci/manifest.h"

CAPI_FUZZ(oci, "fetch/oci",
          {"registry.example.com:5000/org/provider:v1.0.0", "http://[::1]:5000/a",
           "oci://a/b@sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
           "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:o/p:pull\", Basic realm=\"x\"",
           "{\"tags\":[\"v1.0.0\",\"latest\"]}", "{\"errors\":[{\"code\":\"DENIED\"}]}",
           "{\"token\":\"\",\"access_token\":\"b\"}",
           "{\"layers\":[{\"digest\":\"sha256:1\",\"size\":1,\"annotations\":{\"org.opencontainers.image.title\":\"a\"}"
           "}]}"}) {
  using namespace capi;
  if (auto reference = api::ParseOciReference(input); reference.ok()) {
    auto again = api::ParseOciReference(reference->ToString());
    FUZZ_REQUIRE(again.ok() && again->ToString() == reference->ToString());
    FUZZ_REQUIRE(reference->repository.find_first_of("?#%\\ @:") == std::string::npos);
    FUZZ_REQUIRE(reference->repository.find("..") == std::string::npos);
    FUZZ_REQUIRE(reference->host.find_first_of("/?#%\\ @") == std::string::npos);
  }
  auto challenge = fetch::ReadChallenge({input});
  if (challenge)
    FUZZ_REQUIRE(challenge->realm.size() + challenge->service.size() + challenge->scope.size() <= input.size());
  size_t tags = 0;
  const Status page = fetch::ReadTags(input, [&tags](const std::string& tag) { tags += tag.size(); });
  FUZZ_REQUIRE(page.ok() || page.code() == Code::kInvalidArgument);
  FUZZ_REQUIRE(tags <= input.size());
  FUZZ_REQUIRE(fetch::ErrorCodeIn(input).size() <= 40);
  FUZZ_REQUIRE(fetch::TokenIn(input).size() <= input.size());
  auto files = fetch::ReadOciManifest(input);
  if (!files.ok()) FUZZ_REQUIRE(files.code() == Code::kInvalidArgument || files.code() == Code::kUnsupported);
}
