#include "cli/install/carry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "api/release_maps.h"
#include "base/encoding.h"
#include "cli/api_testing.h"
#include "cli/install/wait.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

const Answer kDone = {200, R"({"apiVersion":"v1","kind":"X","metadata":{"name":"x","namespace":"ns","uid":"u"}})"};
const Answer kForbidden = {403, R"({"kind":"Status","reason":"Forbidden","message":"no right"})"};
const Answer kNoWebhook = {
    500,
    R"({"kind":"Status","reason":"InternalError","message":"Internal error occurred: failed calling webhook \"w\": x"})"};
const Answer kRefused = {422, R"({"kind":"Status","reason":"Invalid","message":"spec.version: Invalid value"})"};

Answer Secret(const std::map<std::string, std::string>& values) {
  Json json = {{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", {{"name", "s"}}}, {"data", Json::object()}};
  for (const auto& [key, value] : values) json["data"][key] = Base64Encode(value);
  return {200, ToJsonText(json)};
}

// L10: what a Secret has stays, and only what differs is written.
TEST(MergeSecret, WritesWhatDiffers) {
  FakeApi same({{"/secrets/s", {Secret({{"A", "1"}, {"MINE", "2"}})}}});
  EXPECT_TRUE(MergeSecret(Context{}, same.client(), "ns", "s", {{"A", "1"}}).ok());
  EXPECT_TRUE(same.Asked("PATCH").empty());

  FakeApi other({{"GET /api/v1/namespaces/ns/secrets/s", {Secret({{"A", "1"}, {"B", "2"}})}},
                 {"PATCH /api/v1/namespaces/ns/secrets/s", {kDone}}});
  EXPECT_TRUE(MergeSecret(Context{}, other.client(), "ns", "s", {{"A", "1"}, {"B", "3"}}).ok());
  ASSERT_EQ(other.Asked("PATCH").size(), 1u);
  EXPECT_THAT(other.Asked("PATCH")[0], HasSubstr(R"({"data":{"B":"Mw=="}})"));

  FakeApi none({{"POST /api/v1/namespaces/ns/secrets", {kDone}}});
  EXPECT_TRUE(MergeSecret(Context{}, none.client(), "ns", "s", {{"A", "1"}}).ok());
  EXPECT_EQ(none.Asked("POST").size(), 1u);
}

TEST(MergeSecret, ErrorsNameTheSecretAndNoValue) {
  FakeApi api({{"POST /api/v1/namespaces/ns/secrets", {kForbidden}}});
  Status got = MergeSecret(Context{}, api.client(), "ns", "s", {{"A", "hush"}});
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("Secret ns/s"));
  EXPECT_THAT(got.error().message, Not(HasSubstr("hush")));
  EXPECT_THAT(got.error().message, Not(HasSubstr(Base64Encode("hush"))));
}

TEST(EnsureNamespace, AddsLabelsThatItLacksAndWaitsForNone) {
  const std::string get = "GET /api/v1/namespaces/ns";
  FakeApi there({{get, {{200, R"({"kind":"Namespace","metadata":{"name":"ns","labels":{"a":"mine"}}})"}}},
                 {"PATCH /api/v1/namespaces/ns", {kDone}}});
  EXPECT_TRUE(EnsureNamespace(Context{}, there.client(), "ns", {{"a", "x"}}).ok());
  EXPECT_TRUE(there.Asked("PATCH").empty());
  EXPECT_TRUE(EnsureNamespace(Context{}, there.client(), "ns", {{"a", "x"}, {"b", "y"}}).ok());
  ASSERT_EQ(there.Asked("PATCH").size(), 1u);
  EXPECT_THAT(there.Asked("PATCH")[0], HasSubstr(R"({"metadata":{"labels":{"b":"y"}}})"));
  FakeApi going(
      {{get, {{200, R"({"kind":"Namespace","metadata":{"name":"ns","deletionTimestamp":"2026-01-01T00:00:00Z"}})"}}}});
  Status got = EnsureNamespace(Context{}, going.client(), "ns", {});
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("is being deleted"));
}

ProviderCargo Cargo() {
  ProviderCargo out;
  out.id = {api::ProviderType::kInfrastructure, "ns", "x"};
  out.version = "v1.0.0";
  return out;
}

// L10: webhooks that don't answer yet are waited for; a refusal is told.
TEST(CarryObject, WaitsForWebhooksAndTellsARefusal) {
  const std::string patch = "PATCH /apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/ns/infrastructureproviders/x";
  FakeApi late({{patch, {kNoWebhook, kNoWebhook, kDone}}});
  EXPECT_TRUE(CarryObject(Context{}, late.client(), Cargo()).ok());
  EXPECT_EQ(late.Asked("PATCH").size(), 3u);
  FakeApi no({{patch, {kRefused}}});
  Status got = CarryObject(Context{}, no.client(), Cargo());
  ASSERT_FALSE(got.ok());
  EXPECT_THAT(got.error().message, HasSubstr("InfrastructureProvider ns/x"));
  EXPECT_THAT(got.error().message, HasSubstr("spec.version: Invalid value"));
  EXPECT_EQ(no.Asked("PATCH").size(), 1u);
}

// L10: values of variables lie in the cluster only where an operator that has come up is to read them.
TEST(CarryObject, TheSecretComesWithTheObjectAndBeforeIt) {
  const std::string make = "POST /api/v1/namespaces/ns/secrets";
  const std::string patch = "PATCH /apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/ns/infrastructureproviders/x";
  ProviderCargo cargo = Cargo();
  cargo.secret = api::ObjectRef{"x-variables", "ns"};
  cargo.values = {{"TOKEN", "t"}};
  FakeApi api({{"GET /api/v1/namespaces/ns HTTP", {kDone}}, {make, {kDone}}, {patch, {kDone}}});
  ASSERT_TRUE(CarryParts(Context{}, api.client(), cargo).ok());
  EXPECT_TRUE(api.Asked("POST").empty());
  ASSERT_TRUE(CarryObject(Context{}, api.client(), cargo).ok());
  ASSERT_EQ(api.Asked("POST").size(), 1u);
  EXPECT_THAT(api.Asked("POST")[0], HasSubstr(R"("data":{"TOKEN":"dA=="})"));
  EXPECT_EQ(api.Asked("PATCH").size(), 1u);

  FakeApi no({{make, {kForbidden}}, {patch, {kDone}}});
  EXPECT_EQ(CarryObject(Context{}, no.client(), cargo).code(), Code::kPermissionDenied);
  EXPECT_TRUE(no.Asked("PATCH").empty()) << "the operator would begin without them";
}

const std::string kGetMap = "GET /api/v1/namespaces/ns/configmaps/infrastructure-x-v1.0.0";
const std::string kMakeMap = "POST /api/v1/namespaces/ns/configmaps";
const Answer kMissing = {404, R"({"kind":"Status","reason":"NotFound","message":"it isn't there"})"};
const Answer kThere = {409, R"({"kind":"Status","reason":"AlreadyExists","message":"it is there"})"};

ProviderCargo CargoWithRelease(const std::string& components = "a: b") {
  ProviderCargo out = Cargo();
  api::Release release;
  release.version = api::Version::Parse("v1.0.0").value();
  release.components = components;
  out.maps = ReleaseMapsOf(out.id, release);
  return out;
}

// The ConfigMap of that release, with what `edit` makes of it.
Answer MapWith(const std::function<void(Json&)>& edit) {
  Json map = CargoWithRelease().maps.back().json();
  edit(map);
  return {200, ToJsonText(map)};
}
const Answer kSame = MapWith([](Json&) {});
const Answer kSomebodys = MapWith([](Json& map) { map["data"]["components"] = "somebody's"; });

// L10: what is somebody's stays what it is, and is told before anything is written.
TEST(CarryParts, AnotherConfigMapOfTheNameIsNotOverwritten) {
  for (auto* act : {CheckCargo, CarryParts}) {
    FakeApi api({{"GET /api/v1/namespaces/ns HTTP", {kDone}}, {kGetMap, {kSomebodys}}});
    Status got = act(Context{}, api.client(), CargoWithRelease());
    ASSERT_FALSE(got.ok());
    EXPECT_EQ(got.code(), Code::kFailedPrecondition);
    EXPECT_THAT(got.error().message, HasSubstr("InfrastructureProvider ns/x"));
    EXPECT_THAT(got.error().message, HasSubstr("ConfigMap ns/infrastructure-x-v1.0.0"));
    for (const char* method : {"PATCH", "POST", "PUT", "DELETE"}) EXPECT_TRUE(api.Asked(method).empty()) << method;
  }
}

TEST(CarryParts, MakesTheConfigMapWhereItLacks) {
  struct Case {
    std::vector<Answer> looks, writes;  // of the ConfigMap
    bool ok;
  };
  const Case cases[] = {
      {{kSame}, {}, true},
      {{kMissing}, {kDone}, true},
      {{kMissing}, {kForbidden}, false},
      {{kMissing, kSame}, {kThere}, true},  // somebody was quicker
      {{kMissing, kSomebodys}, {kThere}, false},
      {{kMissing}, {kThere}, false},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    std::map<std::string, std::vector<Answer>> answers = {{"GET /api/v1/namespaces/ns HTTP", {kDone}},
                                                          {kGetMap, cases[i].looks}};
    if (!cases[i].writes.empty()) answers[kMakeMap] = cases[i].writes;
    FakeApi api(std::move(answers));
    Status got = CarryParts(Context{}, api.client(), CargoWithRelease());
    EXPECT_EQ(got.ok(), cases[i].ok) << (got.ok() ? "" : got.error().message);
    EXPECT_EQ(api.Asked("POST").size(), cases[i].writes.size());
    EXPECT_TRUE(api.Asked("PATCH").empty());
  }
}

// A release that goes into two ConfigMaps.
const std::string& LargeComponents() {
  static const std::string components = "a: " + Base64Encode(RandomBytes(1u << 20));
  return components;
}
ProviderCargo LargeCargo() { return CargoWithRelease(LargeComponents()); }

// Of LargeCargo, as another build packs it: bytes, names of parts and the digest are others.
std::vector<kube::Object> PackedElsewhere() {
  std::string packed = Gzip(LargeComponents());
  packed[9] = static_cast<char>(packed[9] ^ 7);  // RFC 1952: the system on which it was packed
  auto maps = LargeCargo().maps;
  const std::string digest = api::ReleasePartsDigest(packed);
  const size_t half = packed.size() / 2;
  Json &part = maps.front().json(), &first = maps.back().json();
  part["metadata"]["name"] = api::ReleasePartName(maps.back().name(), digest, 2);
  part["binaryData"]["components"] = Base64Encode(packed.substr(half));
  first["metadata"]["annotations"][api::kAnnotationPartsDigest] = digest;
  first["binaryData"]["components"] = Base64Encode(packed.substr(0, half));
  return maps;
}

Answer Text(const kube::Object& object) { return {200, ToJsonText(object.json())}; }
std::string GetOf(const kube::Object& map) { return "GET /api/v1/namespaces/ns/configmaps/" + map.name() + " "; }

// L10: what counts is the release, and not how it is packed.
TEST(LackingMaps, ItIsTheSameReleaseHoweverItIsPacked) {
  const Answer by_hand = MapWith([](Json& map) {
    map["binaryData"]["components"] = Base64Encode(Gzip(map["data"]["components"].get<std::string>()));
    map["data"].erase("components");
    map["metadata"]["annotations"][api::kAnnotationCompressed] = "true";
  });
  FakeApi gzipped({{kGetMap, {by_hand}}});
  EXPECT_TRUE(CheckCargo(Context{}, gzipped.client(), CargoWithRelease()).ok());
  const auto theirs = PackedElsewhere();
  FakeApi api({{"GET /api/v1/namespaces/ns HTTP", {kDone}},
               {GetOf(theirs.front()), {Text(theirs.front())}},
               {GetOf(theirs.back()), {Text(theirs.back())}}});
  Status got = CarryParts(Context{}, api.client(), LargeCargo());
  EXPECT_TRUE(got.ok()) << got.error().message;
  EXPECT_TRUE(api.Asked("POST").empty()) << "its own parts have no use";
}

TEST(LackingMaps, WhatDoesNotSayHowItIsPackedIsAnother) {  // L10
  const auto ours = LargeCargo().maps;
  ASSERT_EQ(ours.size(), 2u);
  for (std::string_view lost : {api::kAnnotationCompressed, api::kAnnotationParts}) {
    kube::Object first = ours.back();
    first.json()["metadata"]["annotations"].erase(std::string(lost));
    FakeApi api({{GetOf(ours.front()), {Text(ours.front())}}, {GetOf(first), {Text(first)}}});
    Status got = CheckCargo(Context{}, api.client(), LargeCargo());
    ASSERT_FALSE(got.ok()) << lost;
    EXPECT_EQ(got.code(), Code::kFailedPrecondition);
    EXPECT_THAT(got.error().message, HasSubstr("another content"));
  }
}

TEST(LackingMaps, APartThatLacksIsMadeWhereItIsOfTheSamePacking) {  // L10
  const auto ours = LargeCargo().maps;
  FakeApi lacks(
      {{"GET /api/v1/namespaces/ns HTTP", {kDone}}, {GetOf(ours.back()), {Text(ours.back())}}, {kMakeMap, {kDone}}});
  Status got = CarryParts(Context{}, lacks.client(), LargeCargo());
  EXPECT_TRUE(got.ok()) << got.error().message;
  ASSERT_EQ(lacks.Asked("POST").size(), 1u);
  EXPECT_THAT(lacks.Asked("POST")[0], HasSubstr(ours.front().name()));
  const auto theirs = PackedElsewhere();
  FakeApi other({{GetOf(theirs.back()), {Text(theirs.back())}}});
  EXPECT_EQ(CheckCargo(Context{}, other.client(), LargeCargo()).code(), Code::kFailedPrecondition);
  const std::string outage = R"({"kind":"Status","reason":"ServiceUnavailable","message":"later"})";
  FakeApi away({{GetOf(ours.back()), {Text(ours.back())}}, {GetOf(ours.front()), {{503, outage}}}});
  Status unknown = CheckCargo(Context{}, away.client(), LargeCargo());
  ASSERT_FALSE(unknown.ok());
  EXPECT_THAT(unknown.error().message, Not(HasSubstr("another content"))) << "nobody has seen it";
}

// A map of another release, with what `edit` makes of it.
Answer FormerWith(const std::function<void(Json& metadata)>& edit) {
  return MapWith([&](Json& map) {
    map["data"]["components"] = "former: x";
    map["metadata"]["uid"] = "former";
    map["metadata"]["resourceVersion"] = "7";
    map["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
    edit(map["metadata"]);
  });
}

// L10: of an override that was changed since, say. Somebody else's part of that name stays.
TEST(MakeMaps, WhatARunLeftThatWasBrokenOffIsReplaced) {
  auto part = [](const char* name, const char* manager) {
    return Json{{"metadata",
                 {{"name", name},
                  {"namespace", "ns"},
                  {"uid", std::string("u-") + name},
                  {"resourceVersion", "3"},
                  {"managedFields", Json::array({{{"manager", manager}, {"operation", "Update"}}})}}}};
  };
  const std::string list = ToJsonText({{"kind", "PartialObjectMetadataList"},
                                       {"metadata", {{"resourceVersion", "9"}}},
                                       {"items", Json::array({part("old", "clusterctl"), part("theirs", "kubectl")})}});
  const Answer left = FormerWith([](Json&) {});
  const auto replaces = [&](FakeApi& api) {
    ASSERT_EQ(api.Asked("PUT").size(), 1u);
    for (const char* has : {R"("uid":"former")", R"("resourceVersion":"7")", R"("components":"a: b")"})
      EXPECT_THAT(api.Asked("PUT")[0], HasSubstr(has));
  };
  const std::map<std::string, std::vector<Answer>> answers = {{"GET /api/v1/namespaces/ns HTTP", {kDone}},
                                                              {kGetMap, {left}},
                                                              {kMakeMap, {kThere}},
                                                              {"GET /api/v1/namespaces/ns/configmaps?", {{200, list}}},
                                                              {"DELETE /api/v1/namespaces/ns/configmaps/old", {kDone}},
                                                              {"PUT " + kGetMap.substr(4), {kDone}}};
  FakeApi api(answers);
  EXPECT_TRUE(CheckCargo(Context{}, api.client(), CargoWithRelease()).ok());
  Status got = CarryParts(Context{}, api.client(), CargoWithRelease());
  EXPECT_TRUE(got.ok()) << got.error().message;
  replaces(api);
  ASSERT_EQ(api.Asked("DELETE").size(), 1u);
  for (const char* has : {"/configmaps/old", R"("uid":"u-old")", R"("resourceVersion":"3")"})
    EXPECT_THAT(api.Asked("DELETE")[0], HasSubstr(has));

  FakeApi dry(answers);
  EXPECT_TRUE(MakeMaps(Context{}, dry.client(), CargoWithRelease().maps, {.dry_run = true}).ok());
  replaces(dry);
  EXPECT_THAT(dry.Asked("PUT")[0], HasSubstr("dryRun=All"));
  EXPECT_THAT(dry.Asked("GET").back(), HasSubstr("as=PartialObjectMetadata")) << "the last look is at whose it is";
  EXPECT_TRUE(dry.Asked("DELETE").empty());
}

TEST(MakeMaps, WhatIsSomebodysIsNotReplaced) {  // L10
  const Json somebodys = {{"manager", "kubectl-edit"}, {"operation", "Update"}};
  const Answer cases[] = {
      FormerWith([](Json& metadata) {
        metadata["ownerReferences"] = Json::array({{{"uid", "somebody"}}});
      }),
      FormerWith([&](Json& metadata) { metadata["managedFields"].push_back(somebodys); }),
      FormerWith([](Json& metadata) { metadata["managedFields"][0]["manager"] = "clusterctl-move"; }),
      FormerWith([](Json& metadata) { metadata["managedFields"].clear(); }),
      FormerWith([](Json& metadata) { metadata.erase("managedFields"); }),
      // managedFields don't tell who took it away.
      FormerWith([](Json& metadata) { metadata["labels"].erase(std::string(api::kLabelReleaseVersion)); }),
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    FakeApi api({{"GET /api/v1/namespaces/ns HTTP", {kDone}}, {kGetMap, {cases[i]}}});
    EXPECT_EQ(CarryParts(Context{}, api.client(), CargoWithRelease()).code(), Code::kFailedPrecondition) << i;
    // It became somebody's between two looks.
    FakeApi raced({{"GET /api/v1/namespaces/ns HTTP", {kDone}},
                   {kGetMap, {FormerWith([](Json&) {}), FormerWith([](Json&) {}), cases[i]}},
                   {kMakeMap, {kThere}}});
    EXPECT_EQ(CarryParts(Context{}, raced.client(), CargoWithRelease()).code(), Code::kFailedPrecondition) << i;
    for (const char* method : {"PATCH", "PUT", "DELETE"}) {
      EXPECT_TRUE(api.Asked(method).empty()) << i;
      EXPECT_TRUE(raced.Asked(method).empty()) << i;
    }
  }
}

TEST(LackingMaps, ALabelThatLacksIsNamed) {  // L10
  for (const char* value : {"", "v9"}) {
    const Answer other = MapWith([&](Json& map) {
      Json& labels = map["metadata"]["labels"];
      labels[api::kLabelReleaseVersion] = value;
      if (*value == 0) labels.erase(std::string(api::kLabelReleaseVersion));
    });
    FakeApi api({{kGetMap, {other}}});
    EXPECT_EQ(CheckCargo(Context{}, api.client(), CargoWithRelease()).error().message,
              "InfrastructureProvider ns/x: its release goes into ConfigMap ns/infrastructure-x-v1.0.0, which is there "
              "already without the label provider.cluster.x-k8s.io/version=v1.0.0: add it, or delete the ConfigMap");
  }
}

const Answer kOurs = MapWith([](Json& map) {
  map["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
});

// L10: the object is there already, so that nothing of this would be made good by another run.
TEST(CarryObject, OwnsItsReleaseWhateverHappensMeanwhile) {
  const std::string apply = "PATCH /apis/operator.cluster.x-k8s.io/", own = "PATCH /api/v1/namespaces/ns/configmaps";
  const Answer changed = {409, R"({"kind":"Status","reason":"Conflict","message":"it was changed"})"};
  FakeApi raced({{kGetMap, {kOurs}}, {own, {changed, kDone}}, {apply, {kDone}}});
  EXPECT_TRUE(CarryObject(Context{}, raced.client(), CargoWithRelease()).ok());
  EXPECT_EQ(raced.Asked("PATCH").size(), 3u);
  EXPECT_THAT(raced.Asked("GET"), testing::Each(HasSubstr("as=PartialObjectMetadata"))) << "a release is large";
  FakeApi for_ever({{kGetMap, {kOurs}}, {own, {changed}}, {apply, {kDone}}});
  EXPECT_EQ(CarryObject(Context{}, for_ever.client(), CargoWithRelease()).code(), Code::kConflict);
  FakeApi gone({{kGetMap, {kMissing, kMissing, kOurs}}, {kMakeMap, {kDone}}, {own, {kDone}}, {apply, {kDone}}});
  EXPECT_TRUE(CarryObject(Context{}, gone.client(), CargoWithRelease()).ok());
  EXPECT_EQ(gone.Asked("POST").size(), 1u);
  EXPECT_EQ(gone.Asked("PATCH").size(), 2u);
}

// L10: also of parts that another build of clusterctl has made.
TEST(CarryObject, OwnsThePartsThatThereAre) {
  auto theirs = PackedElsewhere();
  for (kube::Object& map : theirs)
    map.json()["metadata"]["managedFields"] = Json::array({{{"manager", "clusterctl"}, {"operation", "Update"}}});
  const std::string list = ToJsonText({{"kind", "PartialObjectMetadataList"},
                                       {"metadata", {{"resourceVersion", "1"}}},
                                       {"items", Json::array({{{"metadata", theirs.front().json()["metadata"]}}})}});
  FakeApi api({{GetOf(theirs.back()), {Text(theirs.back())}},
               {"GET /api/v1/namespaces/ns/configmaps?", {{200, list}}},
               {"PATCH /api/v1/namespaces/ns/configmaps", {kDone}},
               {"PATCH /apis/operator.cluster.x-k8s.io/", {kDone}}});
  Status got = CarryObject(Context{}, api.client(), LargeCargo());
  ASSERT_TRUE(got.ok()) << got.error().message;
  ASSERT_EQ(api.Asked("PATCH").size(), 3u);
  EXPECT_THAT(api.Asked("PATCH")[1], HasSubstr("/configmaps/" + theirs.front().name()));
  EXPECT_THAT(api.Asked("PATCH")[2], HasSubstr("/configmaps/" + theirs.back().name()));
}

// L10: what it made belongs to the provider, beside the owners that it has; another one isn't touched.
TEST(CarryObject, OwnsItsReleaseBesideOthers) {
  const std::string apply = "PATCH /apis/operator.cluster.x-k8s.io/";
  auto made_by = [](const char* manager) {
    return MapWith([=](Json& map) {
      map["metadata"]["managedFields"] = Json::array({{{"manager", manager}, {"operation", "Update"}}});
      map["metadata"]["ownerReferences"] = Json::array({{{"uid", "somebody"}}});
    });
  };
  FakeApi ours(
      {{kGetMap, {made_by("clusterctl")}}, {"PATCH /api/v1/namespaces/ns/configmaps", {kDone}}, {apply, {kDone}}});
  ASSERT_TRUE(CarryObject(Context{}, ours.client(), CargoWithRelease()).ok());
  ASSERT_EQ(ours.Asked("PATCH").size(), 2u);
  EXPECT_THAT(ours.Asked("PATCH")[1], HasSubstr("merge-patch"));
  EXPECT_THAT(ours.Asked("PATCH")[1], HasSubstr(R"("uid":"u")"));
  EXPECT_THAT(ours.Asked("PATCH")[1], HasSubstr(R"("uid":"somebody")"));
  // What a move copied (L17) somebody else had made.
  for (const Answer& map : {kSame, made_by("clusterctl-move")}) {
    FakeApi theirs({{kGetMap, {map}}, {apply, {kDone}}});
    ASSERT_TRUE(CarryObject(Context{}, theirs.client(), CargoWithRelease()).ok());
    EXPECT_EQ(theirs.Asked("PATCH").size(), 1u);
  }
}

Answer Provider(const std::string& ready, bool stalled) {
  std::string conditions = R"({"type":"Ready","status":")" + ready + R"(","reason":"Why","message":"so"})";
  if (stalled) conditions += R"(,{"type":"Stalled","status":"True"})";
  return {
      200,
      R"({"apiVersion":"operator.cluster.x-k8s.io/v1alpha2","kind":"InfrastructureProvider","metadata":{"name":"x",)"
      R"("namespace":"ns","generation":1},"spec":{},"status":{"observedGeneration":1,"conditions":[)" +
          conditions + "]}}"};
}

// L10: what the operator refuses, or what holds a provider back, is the error.
TEST(Await, SaysWhatTheOperatorSays) {
  const std::string get = "GET /apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/ns/infrastructureproviders/x";
  const std::vector<api::ProviderId> ids = {Cargo().id};
  std::ostringstream terminal;
  LiveLines lines(terminal, 200);
  FakeApi stalled({{get, {Provider("False", true)}}});
  EXPECT_EQ(
      AwaitLook(Context{}, stalled.client(), ids).error().message,
      "the operator doesn't go on with InfrastructureProvider ns/x: Why: so. `clusterctl why NAME` says what to do");
  EXPECT_FALSE(AwaitReady(Context{}, stalled.client(), ids, Seconds(60), lines).ok());
  FakeApi goes_on({{get, {Provider("False", false)}}});
  EXPECT_TRUE(AwaitLook(Context{}, goes_on.client(), ids).ok());
  FakeApi unseen({{get, {kDone}}});
  Status not_looked_at = AwaitLook(Context{}, unseen.client(), ids, Seconds(0));
  ASSERT_FALSE(not_looked_at.ok());
  EXPECT_EQ(not_looked_at.code(), Code::kDeadlineExceeded);
  EXPECT_THAT(not_looked_at.error().message, HasSubstr("InfrastructureProvider ns/x"));
  Status late = AwaitReady(Context{}, goes_on.client(), ids, Seconds(0), lines);
  ASSERT_FALSE(late.ok());
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded);
  FakeApi ready({{get, {Provider("False", false), Provider("True", false)}}});
  EXPECT_TRUE(AwaitReady(Context{}, ready.client(), ids, Seconds(60), lines).ok());
  EXPECT_THAT(terminal.str(), HasSubstr("0 of 1 are ready. InfrastructureProvider ns/x: Why: so\n"));
  // An operator that has just started hasn't looked yet; of what it says itself nothing is waited out.
  const Millis long_time = std::chrono::hours(1), no_time(0);
  FakeApi stale({{get, {Provider("False", true), Provider("False", true), Provider("True", false)}}});
  EXPECT_TRUE(AwaitReady(Context{}, stale.client(), ids, Seconds(60), lines, long_time).ok());
  FakeApi refused({{get, {Provider("False", true), Provider("False", false), Provider("False", true)}}});
  EXPECT_EQ(AwaitReady(Context{}, refused.client(), ids, Seconds(60), lines, long_time).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(AwaitReady(Context{}, stalled.client(), ids, Seconds(60), lines, Millis(1)).code(),
            Code::kFailedPrecondition);
  EXPECT_EQ(AwaitReady(Context{}, stalled.client(), ids, Seconds(60), lines, no_time).code(),
            Code::kFailedPrecondition);
  FakeApi gone({});
  EXPECT_FALSE(AwaitReady(Context{}, gone.client(), ids, Seconds(60), lines).ok());
}

}  // namespace
}  // namespace capi::cli
