// The client on a real API server: objects.
#include "kube/client/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>

#include "kube/testing/control_plane.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;

Json ConfigMapJson(const std::string& ns, const std::string& name, const std::string& value) {
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata", {{"name", name}, {"namespace", ns}, {"labels", {{"set", "a"}}}}},
          {"data", {{"key", value}}}};
}

class ClientTest : public testing::Test {
 protected:
  // A Namespace for each test.
  ClientTest() : client_(ControlPlane::Shared(false).NewClient("client-test")) {
    ns_ = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : ns_) c = static_cast<char>(std::tolower(c));
    Object ns(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns_}}}});
    auto made = client_->Create(ctx_, Builtin("Namespace"), ns);
    EXPECT_TRUE(made.ok()) << made.error().message;
  }

  Object Make(const std::string& name, const std::string& value = "v") {
    auto made = client_->Create(ctx_, map_, Object(ConfigMapJson(ns_, name, value)));
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : Object();
  }

  Context ctx_;
  std::unique_ptr<Client> client_;
  std::string ns_;
  const Resource& map_ = Builtin("ConfigMap");
};

TEST_F(ClientTest, CreatesReadsUpdatesAndDeletes) {
  Object made = Make("m");
  EXPECT_FALSE(made.uid().empty());
  EXPECT_EQ(client_->Create(ctx_, map_, Object(ConfigMapJson(ns_, "m", "v"))).code(), Code::kAlreadyExists);

  auto read = client_->Get(ctx_, map_, ns_, "m");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->json(), made.json());

  Ensure(read->json(), {"data", "key"}) = "changed";
  auto updated = client_->Update(ctx_, map_, *read);
  ASSERT_TRUE(updated.ok());
  EXPECT_EQ(GetString(updated->json(), {"data", "key"}), "changed");
  EXPECT_EQ(client_->Update(ctx_, map_, *read).code(), Code::kConflict);

  EXPECT_TRUE(client_->Delete(ctx_, map_, ns_, "m").ok());
  auto gone = client_->Get(ctx_, map_, ns_, "m");
  ASSERT_FALSE(gone.ok());
  EXPECT_EQ(gone.code(), Code::kNotFound);
  EXPECT_EQ(gone.error().message, "configmaps \"m\" not found");
  EXPECT_EQ(client_->Delete(ctx_, map_, ns_, "m").code(), Code::kNotFound);
}

// F9: what a server drops it tells.
TEST_F(ClientTest, HandsUpWhichFieldsTheServerDrops) {
  Make("m");
  std::vector<std::string> warnings;
  WriteOptions options{.field_manager = "me"};
  options.warnings = &warnings;
  auto patched = client_->Patch(ctx_, map_, ns_, "m", PatchType::kMerge, {{"dataa", {{"k", "v"}}}}, options);
  ASSERT_TRUE(patched.ok()) << patched.error().message;
  EXPECT_THAT(warnings, testing::ElementsAre(R"(unknown field "dataa")"));
  warnings.clear();
  Json other = ConfigMapJson(ns_, "other", "v");
  other["metadata"]["lables"] = {{"a", "b"}};
  auto created = client_->Create(ctx_, map_, Object(other), options);
  ASSERT_TRUE(created.ok()) << created.error().message;
  EXPECT_THAT(warnings, testing::ElementsAre(R"(unknown field "metadata.lables")"));
  EXPECT_FALSE(created->json()["metadata"].contains("lables"));
  warnings.clear();
  auto applied = client_->Apply(ctx_, map_, Object(other), options);
  ASSERT_FALSE(applied.ok()) << "an apply takes no field that isn't declared";
  EXPECT_EQ(CodeName(applied.code()), CodeName(Code::kFailedPrecondition)) << "trying again doesn't help (F5)";
  EXPECT_THAT(applied.error().message, HasSubstr("field not declared in schema"));
  EXPECT_THAT(warnings, testing::IsEmpty());
  Json wrong_type = ConfigMapJson(ns_, "other", "v");
  wrong_type["data"] = "text";
  applied = client_->Apply(ctx_, map_, Object(wrong_type), options);
  ASSERT_FALSE(applied.ok());
  EXPECT_EQ(CodeName(applied.code()), CodeName(Code::kFailedPrecondition)) << applied.error().message;
  options.strict = true;
  EXPECT_EQ(client_->Create(ctx_, map_, Object(other), options).code(), Code::kInvalidArgument);
}

TEST_F(ClientTest, PatchesInEachWay) {
  Make("m");
  auto merged = client_->Patch(ctx_, map_, ns_, "m", PatchType::kMerge, Json::parse(R"({"data":{"key":null,"n":"1"}})"),
                               {.field_manager = "patcher"});
  ASSERT_TRUE(merged.ok()) << merged.error().message;
  EXPECT_EQ(merged->json()["data"], Json::parse(R"({"n":"1"})"));
  EXPECT_EQ(merged->json()["metadata"]["managedFields"].back()["manager"], "patcher");

  auto by_json =
      client_->Patch(ctx_, map_, ns_, "m", PatchType::kJson, Json::parse(R"([{"op":"test","path":"/data/n","value":"1"},
                                                {"op":"add","path":"/data/o","value":"2"}])"));
  ASSERT_TRUE(by_json.ok()) << by_json.error().message;
  EXPECT_EQ(by_json->json()["data"], Json::parse(R"({"n":"1","o":"2"})"));
}

TEST_F(ClientTest, AppliesForcedWithOneFieldManager) {
  Object object(ConfigMapJson(ns_, "m", "one"));
  auto first = client_->Apply(ctx_, map_, object, {.field_manager = "first"});
  ASSERT_TRUE(first.ok()) << first.error().message;
  object.json()["data"]["key"] = "two";
  auto second = client_->Apply(ctx_, map_, object, {.field_manager = "second"});  // takes the field over
  ASSERT_TRUE(second.ok()) << second.error().message;
  EXPECT_EQ(GetString(second->json(), {"data", "key"}), "two");

  auto same = client_->ApplyText(ctx_, map_, ns_, "m", ToJsonText(object.json()), {.field_manager = "second"});
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->resource_version(), second->resource_version()) << "the same again writes nothing";
}

TEST_F(ClientTest, DryRunsChangeNothing) {
  WriteOptions dry{.field_manager = "t", .dry_run = true};
  Object object(ConfigMapJson(ns_, "m", "one"));
  ASSERT_TRUE(client_->Apply(ctx_, map_, object, dry).ok());
  ASSERT_TRUE(client_->Create(ctx_, map_, object, dry).ok());
  EXPECT_EQ(client_->Get(ctx_, map_, ns_, "m").code(), Code::kNotFound);
}

// Without a name these would be about all objects of the kind: a Delete would take all.
TEST_F(ClientTest, RefusesRequestsForOneWithoutItsName) {
  const Object nameless(Json{{"metadata", {{"namespace", ns_}}}});
  EXPECT_EQ(client_->Get(ctx_, map_, ns_, "").code(), Code::kInvalidArgument);
  EXPECT_EQ(client_->Delete(ctx_, map_, ns_, "").code(), Code::kInvalidArgument);
  EXPECT_EQ(client_->Update(ctx_, map_, nameless).code(), Code::kInvalidArgument);
  EXPECT_EQ(client_->Patch(ctx_, map_, ns_, "", PatchType::kMerge, Json::object()).code(), Code::kInvalidArgument);
  EXPECT_EQ(client_->Apply(ctx_, map_, nameless, {.field_manager = "test"}).code(), Code::kInvalidArgument);
}

TEST_F(ClientTest, DeletesOnlyWhatItsPreconditionsName) {
  Object made = Make("m");
  auto other = client_->Delete(ctx_, map_, ns_, "m", {.uid = "11111111-1111-1111-1111-111111111111"});
  ASSERT_FALSE(other.ok());
  EXPECT_EQ(other.code(), Code::kConflict);
  EXPECT_EQ(client_->Delete(ctx_, map_, ns_, "m", {.resource_version = "1"}).code(), Code::kConflict);
  auto right = client_->Delete(ctx_, map_, ns_, "m", {.uid = made.uid(), .resource_version = made.resource_version()});
  EXPECT_TRUE(right.ok()) << right.error().message;
}

TEST_F(ClientTest, AnswersWithMetadataAloneWhereThatIsAskedFor) {
  WriteOptions options{.field_manager = "t", .metadata_only = true};
  auto applied = client_->Apply(ctx_, map_, Object(ConfigMapJson(ns_, "m", "secret")), options);
  ASSERT_TRUE(applied.ok()) << applied.error().message;
  auto check = [&](const Object& o) {
    EXPECT_EQ(o.id(), (ObjectId{"", "ConfigMap", ns_, "m"}));
    EXPECT_EQ(o.api_version(), "v1");
    EXPECT_FALSE(o.json().contains("data"));
    EXPECT_FALSE(o.uid().empty());
    EXPECT_EQ(o.label("set"), "a");
    EXPECT_EQ(o.json()["metadata"]["managedFields"][0]["manager"], "t");
  };
  check(*applied);
  auto read = client_->Get(ctx_, map_, ns_, "m", {.metadata_only = true});
  ASSERT_TRUE(read.ok());
  check(*read);
  auto listed = client_->List(ctx_, map_, ns_, {.label_selector = "set=a", .metadata_only = true});
  ASSERT_TRUE(listed.ok());
  ASSERT_EQ(listed->items.size(), 1u);
  check(listed->items[0]);
  auto patched = client_->Patch(ctx_, map_, ns_, "m", PatchType::kMerge, Json::object(), {.metadata_only = true});
  ASSERT_TRUE(patched.ok());
  check(*patched);
}

TEST_F(ClientTest, ListsAllPagesInOrder) {
  for (int i = 0; i < 7; ++i) Make("m" + std::to_string(i));
  auto listed = client_->List(ctx_, map_, ns_, {.label_selector = "set in (a)", .limit = 3});
  ASSERT_TRUE(listed.ok()) << listed.error().message;
  ASSERT_EQ(listed->items.size(), 7u);
  EXPECT_FALSE(listed->resource_version.empty());
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(listed->items[i].name(), "m" + std::to_string(i));
    EXPECT_EQ(listed->items[i].kind(), "ConfigMap");
    EXPECT_EQ(listed->items[i].api_version(), "v1");
  }
  auto one = client_->List(ctx_, map_, ns_, {.field_selector = "metadata.name=m4", .limit = 0});
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(one->items.size(), 1u);
  EXPECT_EQ(one->items[0].name(), "m4");
}

TEST_F(ClientTest, TellsWhatTheServerRefused) {
  Object bad(ConfigMapJson(ns_, "Not_A_Name", "v"));
  auto invalid = client_->Create(ctx_, map_, bad);
  ASSERT_FALSE(invalid.ok());
  EXPECT_EQ(invalid.code(), Code::kInvalidArgument);
  EXPECT_THAT(invalid.error().message, HasSubstr("metadata.name"));

  Object absent(ConfigMapJson("no-such-namespace", "m", "v"));
  EXPECT_EQ(client_->Create(ctx_, map_, absent).code(), Code::kNotFound);
  EXPECT_EQ(client_->Raw(ctx_, "GET", "/apis/no.such/v1/things").code(), Code::kNotFound);
}

TEST_F(ClientTest, WritesIntoATerminatingNamespaceWaitForItsEnd) {
  ASSERT_TRUE(client_->Delete(ctx_, Builtin("Namespace"), "", ns_).ok());  // nobody finalizes it here
  auto refused = client_->Create(ctx_, map_, Object(ConfigMapJson(ns_, "m", "v")));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.code(), Code::kFailedPrecondition) << refused.error().message;
}

TEST_F(ClientTest, AsksAsAnotherUserWithThatUsersRights) {
  Config config = ControlPlane::Shared(false).config();
  config.impersonate_user = "nobody";
  config.impersonate_groups = {"nothing"};
  auto client = Client::Connect(config, {.user_agent = "client-test"});
  ASSERT_TRUE(client.ok());
  auto read = (*client)->Get(ctx_, map_, ns_, "m");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.code(), Code::kPermissionDenied);
  EXPECT_THAT(read.error().message, HasSubstr("User \"nobody\" cannot get resource \"configmaps\""));
}

// behaviour.md T8: nothing of the client's own rights, nor of those that it has by a kubeconfig's `as`, comes with it.
TEST_F(ClientTest, AsksInTheNameThatTheContextHas) {
  Config config = ControlPlane::Shared(false).config();
  for (const char* by_configuration : {"", "somebody"}) {
    config.impersonate_user = by_configuration;
    config.impersonate_groups = {"system:masters"};
    auto client = Client::Connect(config, {.user_agent = "client-test"});
    ASSERT_TRUE(client.ok());
    const Context as = ctx_.InNameOf("system:serviceaccount:" + ns_ + ":tenant");
    auto read = (*client)->Get(as, map_, ns_, "m");
    EXPECT_EQ(read.code(), Code::kPermissionDenied) << by_configuration;
    EXPECT_THAT(read.error().message, HasSubstr("User \"system:serviceaccount:" + ns_ + ":tenant\" cannot get"));
    EXPECT_EQ((*client)->Get(as.InOwnName(), map_, ns_, "m").code(), Code::kNotFound) << "its own again";
    (*client)->mapper().Invalidate();
    EXPECT_TRUE((*client)->mapper().All(as).ok()) << "discovery is for all";
  }
}

TEST_F(ClientTest, RefusedCredentialsAreUnauthenticated) {
  Config config = ControlPlane::Shared(false).config();
  struct Wrong : CredentialSource {
    std::atomic<int> asked = 0, refreshed = 0;
    Result<Credential> Get(const Context&, const Credential* refused) override {
      ++asked;
      if (refused != nullptr) ++refreshed;
      return Credential{.authorization = "Bearer wrong"};
    }
  };
  auto wrong = std::make_shared<Wrong>();
  config.credentials = wrong;
  config.tls.cert_pem = config.tls.key_pem = config.tls.cert_file = config.tls.key_file = "";
  auto client = Client::Connect(config, {.user_agent = "client-test"});
  ASSERT_TRUE(client.ok());
  EXPECT_EQ((*client)->Get(ctx_, map_, ns_, "m").code(), Code::kUnauthenticated);
  EXPECT_EQ(wrong->asked, 2);
  EXPECT_EQ(wrong->refreshed, 1) << "fresh credentials are tried once";
}

TEST_F(ClientTest, MapsKindsByAggregatedDiscovery) {
  auto lease = client_->mapper().For(ctx_, {"flowcontrol.apiserver.k8s.io", "FlowSchema"});
  ASSERT_TRUE(lease.ok()) << lease.error().message;
  EXPECT_EQ(lease->plural, "flowschemas");
  EXPECT_FALSE(lease->namespaced);
  EXPECT_THAT(lease->subresources, testing::Contains("status"));
  EXPECT_THAT(lease->verbs, testing::Contains("patch"));
  EXPECT_EQ(client_->mapper().For(ctx_, {"cert-manager.io", "Issuer"}).code(), Code::kNotFound);
  auto all = client_->mapper().All(ctx_);
  ASSERT_TRUE(all.ok());
  for (const Resource& r : *all) {
    const Resource* builtin = FindBuiltin({r.group, r.kind});
    if (builtin == nullptr || builtin->version != r.version) continue;
    EXPECT_EQ(builtin->plural, r.plural);
    EXPECT_EQ(builtin->namespaced, r.namespaced);
  }
}

}  // namespace
}  // namespace capi::kube
