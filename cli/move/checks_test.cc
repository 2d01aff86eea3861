#include "cli/move/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "cli/frame/management_cluster.h"
#include "cli/move/move_testing.h"
#include "cli/move/pausing.h"
#include "cli/testing.h"

namespace capi::cli::move {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Ends kEnds{"a", "b"};

Graph GraphOf(const std::vector<const char*>& texts) {
  GraphInput input{.ns = "team"};
  for (const char* text : texts) {
    kube::Object object(ParseJson(text).value());
    MovedKind kind{.resource = {.group = "cluster.x-k8s.io", .version = "v1beta2", .kind = object.kind()},
                   .moves = true,
                   .hierarchy = true};
    input.kinds.push_back(kind);
    input.nodes.push_back(NodeOf(object, input.kinds.size() - 1, kind));
  }
  return MakeGraph(std::move(input)).value();
}

constexpr char kReady[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1"},"spec":{"controlPlaneRef":{"name":"x"}},
  "status":{"initialization":{"infrastructureProvisioned":true,"controlPlaneInitialized":true},
    "conditions":[{"type":"ControlPlaneInitialized","status":"True"}]}})";
constexpr char kNoInfrastructure[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1"}})";
constexpr char kNoCondition[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1"},
  "status":{"initialization":{"infrastructureProvisioned":true,"controlPlaneInitialized":true}}})";
constexpr char kNoControlPlane[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1"},"spec":{"controlPlaneRef":{"name":"x"}},
  "status":{"initialization":{"infrastructureProvisioned":true},
    "conditions":[{"type":"ControlPlaneInitialized","status":"True"}]}})";
constexpr char kInFlight[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1",
    "annotations":{"operator.cluster.x-k8s.io/move":"{\"from\":\"b\",\"to\":\"a\"}"}},"spec":{"paused":true}})";
constexpr char kBegun[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1",
    "annotations":{"operator.cluster.x-k8s.io/move":"{\"from\":\"a\",\"to\":\"b\",\"run\":\"x\"}"}},"spec":{"paused":true},
  "status":{"initialization":{"infrastructureProvisioned":true},
    "conditions":[{"type":"ControlPlaneInitialized","status":"True"}]}})";
constexpr char kOfAnother[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Cluster",
  "metadata":{"name":"c","namespace":"team","uid":"1",
    "annotations":{"operator.cluster.x-k8s.io/move":"{\"from\":\"a\",\"to\":\"z\"}"}},"spec":{"paused":true}})";
constexpr char kMachine[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine",
  "metadata":{"name":"m","namespace":"team","uid":"2"},"spec":{"clusterName":"c"}})";
constexpr char kCopy[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine",
  "metadata":{"name":"m","namespace":"team","uid":"2"},"spec":{"clusterName":"c","providerID":"x://m"},
  "status":{"conditions":[{"type":"Paused","status":"True"}]}})";
constexpr char kWorkedOn[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine",
  "metadata":{"name":"m","namespace":"team","uid":"2"},"spec":{"clusterName":"c","providerID":"x://m"},
  "status":{"phase":"Provisioned"}})";
constexpr char kDeleted[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine",
  "metadata":{"name":"m","namespace":"team","uid":"2","deletionTimestamp":"t"},"status":{"nodeRef":{"name":"n"}}})";
constexpr char kLeaving[] = R"({"apiVersion":"cluster.x-k8s.io/v1beta2","kind":"Machine",
  "metadata":{"name":"m","namespace":"team","uid":"2","deletionTimestamp":"t",
    "annotations":{"clusterctl.cluster.x-k8s.io/delete-for-move":""}},"status":{"nodeRef":{"name":"n"}}})";

// L17.
TEST(Hindrances, AreToldOfEachObject) {
  struct Case {
    std::vector<const char*> objects;
    const char* want;  // "" for none
  };
  const Case cases[] = {
      {{kReady}, ""},
      {{kNoInfrastructure},
       R"(cannot start the move operation while "cluster.x-k8s.io/v1beta2, Kind=Cluster" team/c is still provisioning the )"
       "infrastructure"},
      {{kNoCondition},
       R"(cannot start the move operation while the control plane for "cluster.x-k8s.io/v1beta2, Kind=Cluster" team/c is )"
       "not yet initialized"},
      {{kNoControlPlane}, "not yet initialized"},
      {{kReady, kMachine},
       R"(cannot start the move operation while "cluster.x-k8s.io/v1beta2, Kind=Machine" team/m is still provisioning )"
       "the node"},
      {{kInFlight, kMachine}, ""},
      {{kReady, kCopy}, ""},
      {{kReady, kWorkedOn}, "team/m is still provisioning the node"},
      {{kBegun, kMachine}, "team/m is still provisioning the node"},
      {{kOfAnother}, "Cluster team/c is part of another move that hasn't ended: run that one again"},
      {{kReady, kDeleted}, "cannot start the move operation while Machine team/m is being deleted"},
      {{kReady, kLeaving}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.objects.back());
    auto got = Hindrances(GraphOf(c.objects), kEnds, [](size_t) { return false; });
    if (*c.want == '\0') {
      EXPECT_THAT(got, IsEmpty());
    } else {
      EXPECT_THAT(got, ElementsAre(HasSubstr(c.want)));
    }
  }
}

// L17: what an earlier run has copied was ready.
TEST(Hindrances, AreNotWhatWasReady) {
  EXPECT_THAT(Hindrances(GraphOf({kBegun, kMachine}), kEnds, [](size_t) { return true; }), IsEmpty());
}

// L17: a pause counts as that of the run that wrote it.
TEST(NotHeld, AreThoseThatTheRunHasNotPaused) {
  EXPECT_THAT(NotHeld(GraphOf({kBegun, kMachine}), "x"), IsEmpty());
  for (const char* cluster : {kReady, kBegun})
    EXPECT_THAT(NotHeld(GraphOf({cluster}), "y"),
                ElementsAre("Cluster team/c was resumed, or another move has paused it"));
}

// L17.
TEST(LacksOfProviders, AreMissingOrOlderOnes) {
  using enum api::ProviderType;
  auto lacks = [](std::vector<InstalledProvider> target) {
    return LacksOfProviders(
        {{kCore, "cluster-api", "capi-system", "v1.12.0"}, {kInfrastructure, "docker", "x", "v1.12.0"}}, target);
  };
  InstalledProvider core{kCore, "cluster-api", "elsewhere", "v1.12.1"};
  EXPECT_THAT(lacks({core, {kInfrastructure, "docker", "y", "v1.12.0"}}).value(), IsEmpty());
  EXPECT_THAT(
      lacks({core, {kInfrastructure, "docker", "y", "v1.11.0"}, {kInfrastructure, "docker", "z", "v1.13.0"}}).value(),
      IsEmpty());
  EXPECT_THAT(lacks({core, {kBootstrap, "docker", "y", "v1.12.0"}}).value(),
              ElementsAre("provider infrastructure-docker not found in the target cluster"));
  EXPECT_THAT(lacks({core, {kInfrastructure, "docker", "y", "v1.12.0-rc.0"}}).value(),
              ElementsAre("provider infrastructure-docker in the target cluster is older than in the source cluster "
                          "(source: 1.12.0, target: 1.12.0-rc.0)"));
  auto bad = lacks({{kCore, "cluster-api", "x", "one"}});
  ASSERT_FALSE(bad.ok());
  EXPECT_THAT(bad.error().message, HasSubstr("provider cluster-api in the target cluster"));
}

// L17.
TEST(MoveFlags, AreRefusedThatDoNotGoTogether) {
  struct Case {
    std::vector<std::string> flags;
    const char* error;
  };
  const Case cases[] = {
      {{},
       "please specify a target cluster using the --to-kubeconfig flag when not using --dry-run, --to-directory or "
       "--from-directory"},
      {{"--to-kubeconfig-context=x"}, "please specify a target cluster"},
      {{"--to-directory=a", "--to-kubeconfig=b"},
       "if any flags in the group [to-directory to-kubeconfig] are set none of the others can be; [to-directory "
       "to-kubeconfig] were all set"},
      {{"--to-directory=a", "--from-directory=b"}, "[from-directory to-directory] were all set"},
      {{"--from-directory=a", "--kubeconfig=b"}, "[from-directory kubeconfig] were all set"},
      {{"--from-directory=a", "--kubeconfig-context=b"}, "--kubeconfig-context means nothing with --from-directory"},
      {{"--from-directory=a", "-n=b"}, "--namespace means nothing with --from-directory"},
      {{"--to-directory=a", "--to-kubeconfig-context=b"}, "--to-kubeconfig-context means nothing with --to-directory"},
      {{"--dry-run", "--to-kubeconfig-context=b"}, "--to-kubeconfig-context means nothing without --to-kubeconfig"},
      {{"--dry-run", "--hide-api-warnings=some"},
       "set of API warnings \"some\" is unknown; choose \"default\", \"all\", or \"none\""},
      {{"--dry-run", "team"}, "unknown command \"team\" for \"clusterctl move\""},
  };
  for (const Case& c : cases) {
    std::vector<std::string> words = {"move"};
    words.insert(words.end(), c.flags.begin(), c.flags.end());
    Outcome got = Clusterctl(words, {{"HOME", "/nonexistent"}, {"KUBECONFIG", "/nonexistent"}});
    EXPECT_EQ(got.code, 1);
    EXPECT_THAT(got.err, HasSubstr(c.error));
  }
}

// Whoever waits on it goes on at once, at the time that was waited for.
class Hasty : public FakeClock {
 public:
  bool WaitUntil(std::condition_variable_any&, Mutex&, const std::stop_token&, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    if (const MonoTime now = Monotonic(); now < deadline) Advance(std::chrono::ceil<Millis>(deadline - now));
    return ready();
  }
};

// L17.
TEST_F(Moves, WaitSixMinutesForABlockedObject) {
  Json machine = *a_.Find("Machine", "team", "one-m");
  machine["metadata"]["annotations"][std::string(kBlockMoveAnnotation)] = "";
  a_.Put(machine);
  Graph graph = GraphOf({machine.dump().c_str()});
  graph.kinds[0].resource.plural = "machines";
  auto source = ManagementCluster::Open({.kubeconfig = folder_ / "a"}, From({}));
  ASSERT_TRUE(source.ok());
  Hasty clock;
  Context ctx;
  ctx.clock = &clock;
  std::ostringstream said;
  Notes notes(said);
  Progress progress(notes, Hidden::kNone);
  const MonoTime begin = clock.Monotonic();
  Status done = AwaitUnblocked(ctx, source->client(), graph, progress);
  ASSERT_EQ(done.code(), Code::kFailedPrecondition);
  EXPECT_EQ(done.error().message,
            "resource is not ready to move: Machine team/one-m still has the annotation "
            "clusterctl.cluster.x-k8s.io/block-move, which its provider is to remove");
  EXPECT_EQ(said.str(),
            "Move blocked by clusterctl.cluster.x-k8s.io/block-move annotation, waiting for it to be removed "
            "resource=\"Machine team/one-m\"\n");
  EXPECT_EQ(clock.Monotonic() - begin, std::chrono::minutes(6));
}

// L17: nothing is written for a move of which a provider would lack all the same.
TEST_F(Moves, RefuseWhatNoProviderObjectBrings) {
  const Json entry = *b_.Find("Provider", "provider", "docker");
  b_.Remove("Provider", "provider", "docker");
  fleet_.Make("InfrastructureProvider", "aws", "", "provider");
  allowance_.Set(-1);
  const char* lacks = "provider infrastructure-docker not found in the target cluster\n";
  EXPECT_THAT(There({"--include-providers", "--dry-run"}).err, HasSubstr(lacks));
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 1);
  EXPECT_THAT(got.err, HasSubstr(lacks));
  EXPECT_EQ(allowance_.taken(), 0);
  fleet_.Make("InfrastructureProvider", "docker", "", "provider");
  b_.OnWrite([&](const std::string&, const std::string& target) {
    if (target.find("/infrastructureproviders") != target.npos) b_.Put(entry);
  });
  EXPECT_THAT(There({"--include-providers", "--dry-run"}).err, testing::Not(HasSubstr(lacks)));
  got = There({"--include-providers"});
  EXPECT_EQ(got.code, 0) << got.err;
}

// L17: a refusal says to run them again where that helps.
TEST_F(Moves, AreToBeRunAgainWhereTheSourceHasChanged) {
  Fleet there(b_);
  there.Make("Namespace", "team", "", "");
  there.Make("Secret", "one-kubeconfig");
  auto refusal = [&](const std::function<void()>& change) {
    a_.OnRead([&](const std::string& target) {
      if (target.find("/secrets/one-kubeconfig") != target.npos) change();
    });
    return There().err;
  };
  const std::string refused = "Secret team/one-kubeconfig can't be compared";
  EXPECT_THAT(refusal([&] { a_.Remove("Secret", "team", "one-kubeconfig"); }),
              HasSubstr(refused + "; run the same command again: "));
  fleet_.Make("Secret", "one-kubeconfig");
  EXPECT_THAT(refusal([&] { a_.Forbid("GET", "secrets"); }), HasSubstr(refused + ": "));
}

// L17: the target may have the operator alone.
TEST_F(Moves, IncludeTheFirstProviders) {
  fleet_.Make("InfrastructureProvider", "aws", "", "provider");
  const Json crd = *b_.Find("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io");
  b_.Remove("CustomResourceDefinition", "", "clusters.cluster.x-k8s.io");
  EXPECT_THAT(There().err, HasSubstr("\"clusters.cluster.x-k8s.io\" not found"));
  EXPECT_EQ(There({"--include-providers", "--dry-run"}).code, 0);
  b_.OnWrite([&](const std::string&, const std::string& target) {
    if (target.find("/infrastructureproviders") != target.npos) b_.Put(crd);
  });
  Outcome got = There({"--include-providers"});
  EXPECT_EQ(got.code, 0) << got.err;
  EXPECT_TRUE(b_.Find("Cluster", "team", "one"));
  EXPECT_FALSE(a_.Find("Cluster", "team", "one"));
}

}  // namespace
}  // namespace capi::cli::move
