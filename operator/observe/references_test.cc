#include "operator/observe/references.h"

#include <gtest/gtest.h>

#include "api/reference_record.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops {
namespace {

using References = std::vector<api::ForeignReference>;

// T1: closed, but for what the operator allows to all, or the record of just these references allows.
TEST(RefusedReferences, AreAllWithoutARecord) {
  const std::string secret(32, 'k');
  api::Provider provider = testing::Observed().provider;
  provider.spec.config_secret = api::ObjectRef{"s", "other"};
  provider.spec.additional_manifests = api::ObjectRef{"m", provider.id.ns};
  const References all = {{"spec.configSecret.namespace", "other", "Secret", "s"}};
  const std::string record = api::MakeReferenceRecord(secret, provider.id, all, "alice");
  const std::string of_more = api::MakeReferenceRecord(
      secret, provider.id, {all[0], {"spec.additionalManifests.namespace", "other", "ConfigMap", "m"}}, "alice");

  struct Case {
    std::string_view name;
    std::string record;
    bool flag, has_key, allowed;
  };
  const Case cases[] = {
      {"no record", "", false, true, false},
      {"the record", record, false, true, true},
      {"a record of more", of_more, false, true, false},
      {"no admission", record, false, false, false},
      {"by hand", "true", false, true, false},
      {"the flag", "", true, true, true},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    int asked = 0;
    Settings settings;
    settings.allow_cross_namespace_references = c.flag;
    provider.annotations.clear();
    if (!c.record.empty()) provider.annotations[std::string(api::kAnnotationAllowedReferences)] = c.record;
    ReferenceKey key;
    if (c.has_key) key = [&](const Context&) -> Result<std::string> { return ++asked, secret; };
    auto refused = RefusedReferences({}, provider, settings, key);
    ASSERT_TRUE(refused.ok()) << refused.error().message;
    EXPECT_EQ(*refused, c.allowed ? References() : all);
    EXPECT_EQ(asked, !c.record.empty() && c.has_key ? 1 : 0) << "only where there is a record to judge";
  }
}

TEST(RefusedReferences, NobodyGuessesWithoutTheKey) {
  api::Provider provider = testing::Observed().provider;
  provider.annotations[std::string(api::kAnnotationAllowedReferences)] = "{}";
  const ReferenceKey away = [](const Context&) -> Result<std::string> { return Error{Code::kUnavailable, "away", {}}; };
  EXPECT_TRUE(RefusedReferences({}, provider, {}, away).ok()) << "there is nothing to judge";
  provider.spec.config_secret = api::ObjectRef{"s", "other"};
  EXPECT_EQ(RefusedReferences({}, provider, {}, away).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace capi::ops
