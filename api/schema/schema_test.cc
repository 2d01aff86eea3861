#include "api/schema/schema.h"

#include <gtest/gtest.h>

#include <set>

#include "api/schema/crds.h"
#include "api/schema/generated.h"
#include "api/schema/webhooks.h"
#include "api/types.h"
#include "base/files.h"

namespace capi::api {
namespace {

TEST(Generated, CommittedFilesAreWhatTheTablesSay) {
  for (const auto& [path, text] : GeneratedFiles()) {
    auto committed = ReadFile(path);  // tests run at the root of the tree
    ASSERT_TRUE(committed.ok()) << path;
    EXPECT_TRUE(*committed == text) << path << " is not what gen_crds prints; run: gen_crds --write .";
  }
}

TEST(Generated, NoCrdIsLeftOver) {
  auto files = ListDir("manifests/crds");
  ASSERT_TRUE(files.ok());
  std::set<std::string> generated;
  for (const auto& [path, text] : GeneratedFiles()) generated.insert(path);
  for (const std::string& file : *files) {
    if (file.ends_with(".yaml")) EXPECT_TRUE(generated.contains("manifests/crds/" + file)) << file;
  }
}

// Calls `visit(path, schema, is_field)` for each schema below `schema`; false stops the descent.
template <typename Visit>
void Walk(const Json& schema, const std::string& path, const Visit& visit) {
  if (!visit(path, schema)) return;
  if (schema.contains("properties")) {
    for (const auto& [name, field] : schema["properties"].items()) Walk(field, path + "." + name, visit);
  }
  if (schema.contains("items")) Walk(schema["items"], path + "[0]", visit);
  if (schema.contains("additionalProperties")) Walk(schema["additionalProperties"], path + "[key]", visit);
}

TEST(Schema, EveryFieldHasATypeAndADescription) {
  int fields = 0;
  constexpr auto kOld = ApiVersion::kV1Alpha1;
  for (const Json& part : {schema::Spec(), schema::Status(), schema::Spec(kOld), schema::Status(kOld)}) {
    Walk(part, "", [&](const std::string& path, const Json& s) {
      ++fields;
      EXPECT_TRUE(s.contains("type") || s.contains("x-kubernetes-int-or-string") ||
                  s.contains("x-kubernetes-preserve-unknown-fields"))
          << path;
      std::string description = GetString(s, {"description"});
      EXPECT_TRUE(description.ends_with('.')) << path << ": " << description;
      return true;
    });
  }
  EXPECT_GT(fields, 200);
}

TEST(Schema, RequiredAndMapKeysNameFieldsThatExist) {
  Walk(ProviderSchema("d."), "", [](const std::string& path, const Json& s) {
    for (const Json& name : s.value("required", Json::array())) {
      EXPECT_TRUE(s["properties"].contains(name.get<std::string>())) << path << " " << name;
    }
    for (const Json& key : s.value("x-kubernetes-list-map-keys", Json::array())) {
      EXPECT_TRUE(s["items"]["properties"].contains(key.get<std::string>())) << path << " " << key;
      const Json required = s["items"].value("required", Json::array());
      EXPECT_NE(std::find(required.begin(), required.end(), key), required.end()) << path << " " << key;
    }
    return true;
  });
}

// Parts that stay JSON: their own fields belong to core/v1.
bool KeptAsJson(const std::string& path) {
  for (const char* end : {".env", ".resources", ".tolerations", ".affinity", ".imagePullSecrets",
                          ".topologySpreadConstraints", ".securityContext", ".strategy", ".selector"}) {
    if (path.ends_with(end)) return true;
  }
  return false;
}

Json WrongValue(const Json& schema) { return GetString(schema, {"type"}) == "string" ? Json(5) : Json("text"); }

// An object with `value` at a path like ".a.b[0].c[key].d".
Json Wrap(const std::string& path, Json value) {
  std::string rest = path;
  while (!rest.empty()) {
    size_t at = rest.find_last_of(".[");
    std::string step = rest.substr(at);
    rest.resize(at);
    if (step == "[0]") {
      value = Json::array({std::move(value)});
    } else {
      std::string name = step == "[key]" ? "key" : step.substr(1);
      Json object = Json::object();
      object[name] = std::move(value);
      value = std::move(object);
    }
  }
  return value;
}

// The codec and the schema describe the same fields: a wrong value anywhere is noticed, by its path.
TEST(Schema, TheCodecReadsEveryField) {
  int leaves = 0;
  Walk(schema::Spec(), "", [&](const std::string& path, const Json& s) {
    bool inner =
        (s.contains("properties") || s.contains("items") || s.contains("additionalProperties")) && !KeptAsJson(path);
    if (inner) return true;
    ++leaves;
    auto spec = ParseSpec(Wrap(path, WrongValue(s)), "ns");
    EXPECT_FALSE(spec.ok()) << path;
    if (!spec.ok()) {
      EXPECT_TRUE(spec.error().message.starts_with("spec" + path + ": ")) << path << "\n" << spec.error().message;
    }
    return false;
  });
  EXPECT_GT(leaves, 100);
}

TEST(Schema, StatusHasAFieldForEverythingThatIsWritten) {
  ProviderStatus status;
  status.contract = status.installed_version = status.applied = status.source = status.handled_reconcile_at = "x";
  status.desired_version = status.desired_contract = "x";
  status.observed_generation = 1;
  status.conditions = {{"Ready", "True", "R", "m", 1, "2026-01-02T03:04:05Z"}};
  status.inventory = Json::array({Json{{"kind", "Secret"}, {"name", "n"}, {"version", "v1"}}});
  status.history = {
      {"v1.0.0", "v1beta1", "sha256:00", "2026-01-02T03:04:05Z", "Failed", "2026-01-02T03:04:05Z", "x", "m"}};
  status.available_upgrades = {{"v1.0.0", "v1beta1", "Pause", UpgradeRefusal{"i", "s", "u", "m"}}};
  status.update_check = UpdateCheck{"x", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"};
  const Json fields = schema::Status()["properties"];
  const Json written = StatusToJson(status);
  EXPECT_EQ(written.size(), fields.size());
  for (const auto& [name, value] : written.items()) {
    ASSERT_TRUE(fields.contains(name)) << name;
    if (value.is_object()) {
      for (const auto& [member, unused] : value.items()) {
        EXPECT_TRUE(fields[name]["properties"].contains(member)) << name << "." << member;
      }
    }
    if (!value.is_array()) continue;
    for (const auto& [member, unused] : value[0].items()) {
      EXPECT_TRUE(fields[name]["items"]["properties"].contains(member)) << name << "." << member;
    }
  }
}

// Names and paths are the peer's, so that what knows them goes on to.
TEST(Webhooks, OneOfEachKindForEachConfiguration) {
  const Json mutating = MutatingWebhookConfiguration(), validating = ValidatingWebhookConfiguration();
  ASSERT_EQ(mutating["webhooks"].size(), kProviderKinds.size());
  ASSERT_EQ(validating["webhooks"].size(), kProviderKinds.size());
  const Json& first = mutating["webhooks"][0];
  EXPECT_EQ(first["name"], "vcoreprovider.kb.io");
  EXPECT_EQ(GetString(first, {"clientConfig", "service", "path"}),
            "/mutate-operator-cluster-x-k8s-io-v1alpha2-coreprovider");
  EXPECT_EQ(GetString(validating["webhooks"][4], {"clientConfig", "service", "path"}),
            "/validate-operator-cluster-x-k8s-io-v1alpha2-ipamprovider");
  std::set<Json> resources;
  for (const Json& webhook : validating["webhooks"]) resources.insert(webhook["rules"][0]["resources"]);
  EXPECT_EQ(resources.size(), kProviderKinds.size());
  EXPECT_EQ(first["matchPolicy"], "Equivalent") << "v1alpha1 is asked about, too";
}

TEST(Crds, NamesFollowTheKinds) {
  for (const ProviderKind& kind : kProviderKinds) {
    const Json crd = CustomResourceDefinition(kind);
    EXPECT_EQ(GetString(crd, {"metadata", "name"}), std::string(kind.plural) + ".operator.cluster.x-k8s.io");
    const Json& names = crd["spec"]["names"];
    EXPECT_EQ(names["kind"], std::string(kind.kind));
    EXPECT_EQ(names["listKind"], std::string(kind.kind) + "List");
    EXPECT_EQ(names["shortNames"], Json::array({std::string(kind.short_name)}));
    EXPECT_EQ(names["categories"].size(), 2u);
    EXPECT_EQ(crd["spec"]["versions"].size(), HasOldVersion(kind.type) ? 2u : 1u);
    EXPECT_EQ(crd["spec"].contains("conversion"), HasOldVersion(kind.type));
    for (const Json& version : crd["spec"]["versions"]) {
      EXPECT_EQ(version["storage"], version["name"] == std::string(kVersion));
      EXPECT_FALSE(GetString(version["schema"]["openAPIV3Schema"], {"description"}).empty());
    }
  }
}

}  // namespace
}  // namespace capi::api
