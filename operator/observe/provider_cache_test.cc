#include "operator/observe/provider_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr auto kType = api::ProviderType::kInfrastructure;
constexpr const char* kKey = "InfrastructureProvider/n/aws";

kube::Object Aws(const std::string& version, const std::function<void(Json&)>& change = nullptr,
                 const std::string& uid = "u") {
  Json json = {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
               {"kind", "InfrastructureProvider"},
               {"metadata",
                {{"namespace", "n"}, {"name", "aws"}, {"uid", uid}, {"resourceVersion", version}, {"generation", 1}}},
               {"spec", {{"version", "v1.0.0"}}}};
  if (change) change(json);
  return kube::Object(std::move(json));
}

// A cache, and the changes that it told as "added", "changed spec", "changed" and "gone".
struct Cache {
  kube::ObjectPtr shown;  // by the watch, last
  std::vector<std::string> changes;
  ProviderCache cache{[this](const ProviderCache::Change& change) {
    changes.push_back(!change.was ? "added" : !change.is ? "gone" : change.spec ? "changed spec" : "changed");
  }};

  void Event(kube::Object is) {
    auto now = std::make_shared<const kube::Object>(std::move(is));
    cache.OnEvent(kType, std::exchange(shown, now), now);
  }
  void Delete(kube::Object was) { cache.OnDelete(kType, std::make_shared<const kube::Object>(std::move(was))); }
  void Write(kube::Object written) { cache.OnWrite(kType, std::move(written)); }
  std::string Version() const {
    auto cached = cache.Get(kKey);
    return cached ? cached->Object().resource_version() : "";
  }
};

TEST(ProviderCache, HasWhomALabelNames_I5) {
  Cache c;
  const auto keys = [&c](const std::string& label) { return c.cache.KeysOf(label); };
  EXPECT_THAT(keys("infrastructure-aws"), IsEmpty());
  c.Event(Aws("5"));
  c.Event(Aws("6"));
  const auto of_another_namespace = [](Json& aws) { aws["metadata"]["namespace"] = "m"; };
  c.shown = nullptr;
  c.Event(Aws("7", of_another_namespace));
  EXPECT_THAT(keys("infrastructure-aws"), ElementsAre("InfrastructureProvider/m/aws", kKey)) << "one is refused";
  for (const char* label : {"infrastructure-", "aws", "infrastructure-big-aws", "control-plane-aws", ""}) {
    EXPECT_THAT(keys(label), IsEmpty()) << label;
  }
  c.Delete(Aws("8", of_another_namespace));
  EXPECT_THAT(keys("infrastructure-aws"), ElementsAre(kKey));
  c.Delete(Aws("9", nullptr, "another"));
  EXPECT_THAT(keys("infrastructure-aws"), ElementsAre(kKey)) << "that was another one of its name";
  c.Delete(Aws("9"));
  EXPECT_THAT(keys("infrastructure-aws"), IsEmpty());
}

TEST(ProviderCache, GivesTheObjectAsTheServerDid) {
  Cache c;
  const kube::Object aws = Aws("5", [](Json& json) {
    json["metadata"]["finalizers"] = {"x"};
    json["status"] = {{"contract", "v1beta1"},
                      {"inventory", Json::array({{{"kind", "Node"}, {"name", "n"}, {"version", "v1"}, {"later", 1}}})}};
  });
  c.Event(aws);
  EXPECT_EQ(c.cache.Get(kKey)->Object().json(), aws.json());
  c.Event(Aws("6"));
  EXPECT_EQ(c.cache.Get(kKey)->Object().json(), Aws("6").json()) << "without a status";
  const kube::Object odd = Aws("7", [](Json& json) { json["spec"] = "no object"; });
  c.Event(odd);
  EXPECT_EQ(c.cache.Get(kKey)->Object().json(), odd.json()) << "also what can't be read";
}

// U13: what is to run is what the policy has installed, and neither that nor the policy is an input of its own.
TEST(ProviderCache, WhatAPolicyHasInstalledTakesThePlaceOfWhatIsDeclared_U13) {
  Cache c;
  c.Event(Aws("5"));
  const std::string digest = c.cache.Get(kKey)->spec_digest;
  c.Event(Aws("6", [](Json& aws) {
    aws["spec"]["upgradePolicy"] = {{"type", "Patch"}};
    aws["status"]["history"] =
        Json::array({{{"version", "v1.0.1"}, {"outcome", "Succeeded"}, {"insteadOf", "v1.0.0"}}});
  }));
  const CachedPtr cached = c.cache.Get(kKey);
  EXPECT_EQ(cached->provider->spec.version, "v1.0.1");
  EXPECT_EQ(cached->declared_version, "v1.0.0");
  EXPECT_EQ(cached->spec_digest, digest);
}

// U12, U13: newer versions are looked for by what a pass saw, with what it has written. What somebody has edited
// meanwhile would have been looked for at the former source, with the former credentials.
TEST(ProviderCache, WhatIsEditedMeanwhileIsOfAnotherLook_U13) {
  Cache c;
  c.Event(Aws("5"));
  Observation o;
  o.provider = *c.cache.Get(kKey)->provider;
  o.spec_digest = c.cache.Get(kKey)->spec_digest;
  c.Event(Aws("6", [](Json& aws) {
    aws["spec"]["upgradePolicy"] = {{"type", "Patch"}};
    aws["status"]["installedVersion"] = "v1.0.0";
  }));
  EXPECT_TRUE(TakeWritten(o, *c.cache.Get(kKey)));
  EXPECT_EQ(o.provider.status.installed_version, "v1.0.0");
  EXPECT_EQ(o.declared_version, "v1.0.0");
  c.Event(Aws("7", [](Json& aws) {
    aws["spec"]["fetchConfig"] = {{"url", "https://example.org/other"}};
    aws["status"]["installedVersion"] = "v1.0.1";
  }));
  EXPECT_FALSE(TakeWritten(o, *c.cache.Get(kKey)));
  EXPECT_EQ(o.provider.status.installed_version, "v1.0.0") << "as it was seen";
  Observation former = o;
  former.provider.uid = "that of an object that is gone";
  former.spec_digest = c.cache.Get(kKey)->spec_digest;
  EXPECT_FALSE(TakeWritten(former, *c.cache.Get(kKey)));
}

// F10: who has told of a change says how soon it is looked at.
TEST(ProviderCache, TellsWhoToldOfAChange_F10) {
  using ToldBy = ProviderCache::ToldBy;
  std::vector<ToldBy> by;
  ProviderCache cache([&](const ProviderCache::Change& change) { by.push_back(change.by); });
  auto shown = [](const std::string& version) { return std::make_shared<const kube::Object>(Aws(version)); };
  cache.OnEvent(kType, nullptr, shown("200"), ToldBy::kFirstList);
  cache.OnEvent(kType, shown("200"), shown("201"));
  cache.OnWrite(kType, Aws("203"));
  cache.OnRestored(kType, cache.Get(kKey), Aws("202"));
  cache.OnDelete(kType, shown("202"));
  EXPECT_THAT(by, ElementsAre(ToldBy::kFirstList, ToldBy::kWatch, ToldBy::kOurWrite, ToldBy::kWatch, ToldBy::kWatch));
}

// F3: our own write counts before its event, and an event that is older than it changes nothing.
TEST(ProviderCache, TheNewerStateStays) {
  Cache c;
  c.Event(Aws("5"));
  c.Write(Aws("7"));
  EXPECT_EQ(c.Version(), "7");
  c.Event(Aws("6"));
  c.Event(Aws("7"));
  EXPECT_EQ(c.Version(), "7");
  c.Write(Aws("6"));
  EXPECT_EQ(c.Version(), "7") << "an answer that comes late";
  c.Event(Aws("8"));
  EXPECT_EQ(c.Version(), "8");
  EXPECT_THAT(c.changes, ElementsAre("added", "changed", "changed"));
}

// F3: etcd was restored from a backup. Each status was written for a version that isn't there any more, and refused,
// until somebody edited the Provider.
TEST(ProviderCache, AWatchThatGoesBackIsBelieved) {
  Cache c;
  c.Event(Aws("200"));
  c.Write(Aws("205"));
  c.Event(Aws("100"));
  EXPECT_EQ(c.Version(), "100");
  c.Write(Aws("101"));
  c.Event(Aws("101"));
  EXPECT_EQ(c.Version(), "101");
  EXPECT_THAT(c.changes, ElementsAre("added", "changed", "changed spec", "changed"))
      << "what it says of what is there may be as old as the rest: it is looked at";
}

// F3: etcd was restored to what the watch had shown before our last write: it tells of no change, and what we wrote
// stayed for good, to have every further write refused. What the server has, read anew, counts - once, for what was
// asked about.
TEST(ProviderCache, ARestoreThatNoWatchTellsOfIsBelieved) {
  Cache c;
  c.Event(Aws("200"));
  c.Write(Aws("205"));
  auto asked = c.cache.Get(kKey);
  ASSERT_TRUE(asked->awaited);
  c.cache.OnRestored(kType, asked, Aws("206"));
  EXPECT_EQ(c.Version(), "205") << "somebody else's write, which the watch is to show";
  c.cache.OnRestored(kType, asked, Aws("200"));
  EXPECT_EQ(c.Version(), "200");
  c.Write(Aws("201"));
  EXPECT_EQ(c.Version(), "201");
  c.cache.OnRestored(kType, asked, Aws("200"));
  EXPECT_EQ(c.Version(), "201") << "something has come since";
  EXPECT_THAT(c.changes, ElementsAre("added", "changed", "changed spec", "changed"));

  c.Event(Aws("201"));
  asked = c.cache.Get(kKey);
  EXPECT_FALSE(asked->awaited) << "it was shown";
  c.cache.OnRestored(kType, asked, Aws("200"));
  EXPECT_EQ(c.Version(), "201") << "the watch will tell of it";
}

TEST(ProviderCache, WhatIsGoneStaysGone) {
  Cache c;
  c.Write(Aws("5"));
  EXPECT_EQ(c.Version(), "") << "nobody has seen it";
  c.Event(Aws("5"));
  c.Delete(Aws("4", nullptr, "older"));
  EXPECT_EQ(c.Version(), "5") << "one of the same name, long ago";
  c.Delete(Aws("6"));
  c.Delete(Aws("6"));
  c.Write(Aws("7"));
  EXPECT_EQ(c.Version(), "");
  EXPECT_THAT(c.cache.All(), IsEmpty());
  EXPECT_THAT(c.changes, ElementsAre("added", "gone"));
}

// An object that was made anew is another one, whatever its version says (a restored etcd begins with smaller ones).
TEST(ProviderCache, AnotherObjectOfTheNameReplacesIt) {
  Cache c;
  c.Event(Aws("50"));
  c.Event(Aws("3", nullptr, "new"));
  EXPECT_EQ(c.Version(), "3");
  c.Write(Aws("60"));
  EXPECT_EQ(c.Version(), "3") << "the answer to a write of the one before";
  EXPECT_THAT(c.changes, ElementsAre("added", "changed spec"));
}

// What needs a pass of the provider itself, and what doesn't: its own status doesn't, or every pass would lead to the
// next. A status that was lost does (U11).
TEST(ProviderCache, TellsAChangeOfInputsFromOneOfStatus) {
  auto with_status = [](Json& o) {
    o["status"] = {{"applied", "digest"},
                   {"inventory", Json::array({{{"kind", "Service"}, {"name", "s"}, {"version", "v1"}}})},
                   {"conditions", Json::array({{{"type", "Ready"}, {"status", "True"}, {"reason", "R"}}})}};
  };
  auto without = [&](const char* member) {
    return [=](Json& o) {
      with_status(o);
      o["status"].erase(member);
    };
  };
  auto and_metadata = [&](const char* member, Json value) {
    return [=](Json& o) {
      with_status(o);
      o["metadata"][member] = value;
    };
  };
  struct Case {
    std::string_view name;
    std::function<void(Json&)> is;
    bool event, write;  // whether it counts as a change of inputs: as an event, and as the answer to a write
  };
  const Case cases[] = {
      {"nothing", with_status, false, false},
      {"words of its status",
       [&](Json& o) {
         with_status(o);
         o["status"]["conditions"][0]["message"] = "more";
       },
       false, false},
      {"its spec", and_metadata("generation", 2), true, true},
      {"an annotation", and_metadata("annotations", {{"a", "b"}}), true, true},
      {"its deletion", and_metadata("deletionTimestamp", "2026-01-01T00:00:00Z"), true, true},
      {"its finalizer", and_metadata("finalizers", {"provider.cluster.x-k8s.io"}), true, false},
      {"what was applied is lost (U11)", without("applied"), true, false},
      {"the inventory is lost (U11)", without("inventory"), true, false},
      {"the conditions are lost", without("conditions"), true, false},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Cache event, write;
    event.Event(Aws("5", with_status));
    event.Event(Aws("6", c.is));
    EXPECT_THAT(event.changes, ElementsAre("added", c.event ? "changed spec" : "changed"));
    write.Event(Aws("5", with_status));
    write.Write(Aws("6", c.is));
    EXPECT_THAT(write.changes, ElementsAre("added", c.write ? "changed spec" : "changed"));
  }
}

TEST(ProviderCache, ASpecThatCannotBeReadIsAnErrorBesideWhatCan) {
  Cache c;
  c.Event(Aws("5", [](Json& o) { o["spec"] = {{"version", 7}}; }));
  auto cached = c.cache.Get(kKey);
  ASSERT_NE(cached, nullptr);
  EXPECT_TRUE(cached->spec_error.has_value());
  EXPECT_EQ(cached->provider->uid, "u");
}

// P1, I3: a pause, and a version that is filled in, need no other render.
TEST(ProviderCache, TheDigestIsOfTheOtherInputs) {
  auto digest = [](const Json& spec) {
    Cache c;
    c.Event(Aws("5", [&](Json& o) { o["spec"] = spec; }));
    return c.cache.Get(kKey)->spec_digest;
  };
  const std::string empty = digest(Json::object());
  EXPECT_EQ(digest(nullptr), empty);
  EXPECT_EQ(digest({{"version", "v2.0.0"}, {"paused", true}}), empty);
  EXPECT_NE(digest({{"manager", {{"verbosity", 1}}}}), empty);
}

TEST(ProviderCache, NamesThoseThatAreLookedFor) {
  Cache c;
  c.Event(Aws("5"));
  c.Event(Aws(
      "6", [](Json& o) { o["metadata"]["name"] = "azure"; }, "v"));
  EXPECT_THAT(c.cache.Keys([](const api::ProviderId& id) { return id.name == "aws"; }), ElementsAre(kKey));
  EXPECT_EQ(c.cache.Keys([](const api::ProviderId&) { return true; }).size(), 2u);
}

}  // namespace
}  // namespace capi::ops
