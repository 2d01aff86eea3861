#include "local/node/rollout/rollout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "local/node/rollout/deployments.h"

namespace capi::local {
namespace {

kube::Object Deployment(std::string_view spec) {
  Json json = {{"metadata", {{"name", "d"}, {"namespace", "n"}}}};
  json["spec"] = ValueOrAbort(ParseYaml(spec), "yaml");
  return kube::Object(std::move(json));
}

// "+A": current and available, "+R": current and ready, "+-": current and neither; "o" for old ones, "x" behind it for
// one that ends. Names are their places: a is the oldest.
std::vector<PodState> Pods(std::string_view text) {
  std::vector<PodState> pods;
  for (size_t at = 0; at + 1 < text.size(); ++at) {
    if (text[at] == ' ') continue;
    PodState pod;
    pod.name = pod.uid = pod.created = std::string(1, static_cast<char>('a' + pods.size()));
    pod.current = text[at] == '+';
    pod.available = text[at + 1] == 'A';
    pod.ready = pod.available || text[at + 1] == 'R';
    pod.ends = at + 2 < text.size() && text[at + 2] == 'x';
    at += pod.ends ? 2 : 1;
    pods.push_back(pod);
  }
  return pods;
}

std::string Next(const RolloutSpec& spec, std::string_view pods) {
  Rollout next = NextOfRollout(spec, Pods(pods));
  std::string text = std::to_string(next.create);
  for (const PodState& pod : next.remove) text += " " + pod.name;
  return text;
}

// G4: the decisions of a cluster's controller, for each strategy.
TEST(Rollout, DecidesWhichPodsComeAndGo) {
  const RolloutSpec one{.replicas = 1}, three{.replicas = 3, .max_surge = 1}, none{.replicas = 0, .max_unavailable = 1};
  const RolloutSpec less{.replicas = 3, .max_surge = 0, .max_unavailable = 1};
  const RolloutSpec recreate{.replicas = 1, .recreate = true}, paused{.replicas = 2, .paused = true};
  struct Case {
    const char* what;
    RolloutSpec spec;
    const char *pods, *expected;
  };
  for (const Case& c : {
           Case{"the first", one, "", "1"},
           {"is there", one, "+-", "0"},
           {"one is too many: the youngest", one, "+A +A", "0 b"},
           {"one is too many: that which doesn't serve", one, "+- +A", "0 a"},
           {"a new one beside the old one", one, "oA", "1"},
           {"the old one serves until the new one does", one, "oA +-", "0"},
           {"and while it isn't available", one, "oA +R", "0"},
           {"then it goes", one, "oA +A", "0 a"},
           {"an old one that never served stays as long as it is all there is", one, "o- +-", "0"},
           {"one that ends counts no more", one, "oAx +A", "0"},
           {"one that ends is replaced", one, "+Ax", "1"},
           {"more than one: with one too many at a time", three, "oA oA oA", "1"},
           {"", three, "oA oA oA +-", "0"},
           {"", three, "oA oA oA +A", "0 c"},
           {"", three, "oA oA +A", "1"},
           {"old ones that don't serve go first", three, "oA o- oA +A", "0 b"},
           {"without one too many: first one goes", less, "oA oA oA", "0 c"},
           {"then one comes", less, "oA oA", "1"},
           {"scaled down to none", none, "+A oA o-", "0 a c b"},
           {"to none: nothing comes", none, "", "0"},
           {"Recreate: the old one goes", recreate, "oA", "0 a"},
           {"Recreate: and nothing comes before it is gone", recreate, "oAx", "0"},
           {"Recreate: now", recreate, "", "1"},
           {"Recreate: with a new one there", recreate, "oA +-", "0 a"},
           {"paused: nothing rolls", paused, "oA oA", "0"},
           {"paused: but it scales", paused, "oA oA oA", "0 c"},
           {"paused: up, too", paused, "+A", "1"},
       }) {
    EXPECT_EQ(Next(c.spec, c.pods), c.expected) << c.what << ": " << c.pods;
  }
}

// G4: from the first to the last step an old one or a new one serves.
TEST(Rollout, NeverServesLessThanItMust) {
  for (int replicas : {1, 2, 5, 10}) {
    RolloutSpec spec = RolloutSpecOf(Deployment("{replicas: " + std::to_string(replicas) + "}"), false);
    std::vector<PodState> pods;
    for (int i = 0; i < replicas; ++i) {
      pods.push_back({.name = "o" + std::to_string(i), .current = false, .ready = true, .available = true});
    }
    for (int step = 0; step < 100; ++step) {
      Rollout next = NextOfRollout(spec, pods);
      for (const PodState& gone : next.remove) {
        std::erase_if(pods, [&](const PodState& pod) { return pod.name == gone.name; });
      }
      auto serve = std::count_if(pods.begin(), pods.end(), [](const PodState& pod) { return pod.available; });
      ASSERT_GE(serve, replicas - spec.max_unavailable);
      ASSERT_LE(static_cast<std::int64_t>(pods.size()) + next.create, replicas + spec.max_surge);
      for (PodState& pod : pods) pod.ready = pod.available = true;  // those of the last step
      for (std::int64_t i = 0; i < next.create; ++i) {
        pods.push_back({.name = "n" + std::to_string(step) + "-" + std::to_string(i), .current = true});
      }
    }
    EXPECT_EQ(pods.size(), static_cast<size_t>(replicas));
    EXPECT_TRUE(
        std::all_of(pods.begin(), pods.end(), [](const PodState& pod) { return pod.current && pod.available; }));
  }
}

TEST(Rollout, HasTheDefaultsOfKubernetes) {
  struct Case {
    const char* spec;
    std::int64_t replicas, surge, unavailable;
    bool recreate;
  };
  for (const Case& c :
       {Case{"{}", 1, 1, 0, false},
        {"{replicas: 0}", 0, 0, 1, false},
        {"{replicas: 10}", 10, 3, 2, false},
        {"{replicas: 4, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: '50%'}}}", 4, 0, 2, false},
        {"{replicas: 4, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}}", 4, 0, 1, false},
        {"{strategy: {type: Recreate}}", 1, 1, 0, true}}) {
    RolloutSpec spec = RolloutSpecOf(Deployment(c.spec), false);
    EXPECT_EQ(spec.replicas, c.replicas) << c.spec;
    EXPECT_EQ(spec.max_surge, c.surge) << c.spec;
    EXPECT_EQ(spec.max_unavailable, c.unavailable) << c.spec;
    EXPECT_EQ(spec.recreate, c.recreate) << c.spec;
  }
  EXPECT_TRUE(RolloutSpecOf(Deployment("{}"), true).recreate) << "no two processes of it may run";
}

TEST(Rollout, KnowsPodsByTheirTemplate) {
  kube::Object a = Deployment("{replicas: 1, template: {spec: {x: 1}}}"),
               b = Deployment("{replicas: 2, template: {spec: {x: 1}}}"), c = Deployment("{template: {spec: {x: 2}}}");
  EXPECT_EQ(TemplateHash(a), TemplateHash(b));
  EXPECT_NE(TemplateHash(a), TemplateHash(c));
}

TEST(Rollout, CountsAPodAsAvailableAfterItsTime) {
  WallTime now = *ParseTime("2026-01-01T00:00:10Z"), again = WallTime::max();
  kube::Object pod(ValueOrAbort(ParseYaml(R"(
metadata: {name: p, uid: u, labels: {pod-template-hash: h}}
status: {conditions: [{type: Ready, status: "True", lastTransitionTime: "2026-01-01T00:00:00Z"}]}
)"),
                                "pod"));
  EXPECT_TRUE(StateOf(pod, "h", Seconds(10), now, again).available);
  EXPECT_EQ(again, WallTime::max());
  PodState early = StateOf(pod, "h", Seconds(15), now, again);
  EXPECT_TRUE(early.current && early.ready);
  EXPECT_FALSE(early.available);
  EXPECT_EQ(again, now + Seconds(5));
  EXPECT_FALSE(StateOf(pod, "other", Seconds(0), now, again).current);
}

// G4: the API server refuses a name with "-" behind a dot.
TEST(Pods, OfALongNameBeginWithWhatFits) {
  const std::pair<std::string, std::string> cases[] = {{"d", "d-h-"},
                                                       {std::string(199, 'd') + ".com", std::string(199, 'd') + "-h-"},
                                                       {std::string(253, 'd'), std::string(200, 'd') + "-h-"}};
  for (const auto& [name, prefix] : cases) {
    Json deployment = {{"metadata", {{"name", name}}}};
    Ensure(deployment, {"spec", "template", "metadata", "labels", "app"}) = "a";
    const kube::Object pod = PodOf(kube::Object(std::move(deployment)), "h");
    EXPECT_EQ(GetString(pod.json(), {"metadata", "generateName"}), prefix);
  }
}

}  // namespace
}  // namespace capi::local
