// Leader election, events and the manager on a real API server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "kube/runtime/events.h"
#include "kube/runtime/leader.h"
#include "kube/runtime/lease_record.h"
#include "kube/runtime/manager.h"
#include "kube/testing/control_plane.h"
#include "kube/testing/fault_proxy.h"

namespace capi::kube {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// One process of several: its own way to the server, its own elector.
class Candidate {
 public:
  Candidate(const std::string& lease, const std::string& identity)
      : proxy_(*FaultProxy::Start(ControlPlane::Shared(false).config())),
        client_(*Client::Connect(proxy_->config(), {.user_agent = identity})),
        elector(*client_, {.ns = "default",
                           .name = lease,
                           .identity = identity,
                           .lease_duration = Seconds(4),
                           .renew_deadline = Seconds(3),
                           .retry_period = Seconds(1)}) {
    Context ctx;
    ctx.stop = stop_.get_token();
    thread_ = std::thread([this, ctx] { leads_ = elector.Acquire(ctx).ok(); });
  }
  ~Candidate() {
    stop_.request_stop();
    thread_.join();
  }

  bool leads() const { return leads_ && !elector.lost().stop_requested(); }
  void CutOff() {
    proxy_->SetFaults([](const ProxyRequest&) { return Fault{.drop = true}; });
    proxy_->CutAllConnections();
  }
  std::vector<std::string> Methods() const {
    std::vector<std::string> out;
    for (const auto& request : proxy_->requests()) out.push_back(request.method);
    return out;
  }

 private:
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Client> client_;
  std::stop_source stop_;
  std::atomic<bool> leads_ = false;

 public:
  LeaderElector elector;

 private:
  std::thread thread_;
};

LeaseRecord LeaseOnServer(const std::string& name) {
  auto lease = ControlPlane::Shared(false).NewClient()->Get({}, Builtin("Lease"), "default", name);
  EXPECT_TRUE(lease.ok());
  return lease.ok() ? LeaseRecord::Of(*lease) : LeaseRecord{};
}

TEST(LeaderElectorOnServer, OneLeadsAndTheNextTakesOverWhenItGivesUp) {
  Candidate first("handover", "first");
  ASSERT_TRUE(Eventually([&] { return first.leads(); }));
  Candidate second("handover", "second");
  EXPECT_FALSE(Eventually([&] { return second.leads(); }, Seconds(5))) << "longer than the lease: it is renewed";
  EXPECT_TRUE(first.leads());
  auto methods = first.Methods();
  EXPECT_EQ(methods[0] + methods[1], "GETPOST");
  EXPECT_TRUE(std::all_of(methods.begin() + 2, methods.end(), [](auto& m) { return m == "PUT"; }));
  EXPECT_LE(methods.size(), 9u);

  first.elector.Release(Context{}.WithTimeout(Seconds(5)));
  EXPECT_FALSE(first.leads());
  EXPECT_TRUE(Eventually([&] { return second.leads(); }, Millis(2500))) << "no need to wait for the lease to run out";
  LeaseRecord record = LeaseOnServer("handover");
  EXPECT_EQ(record.holder, "second");
  EXPECT_EQ(record.duration_seconds, 4);
  EXPECT_EQ(record.transitions, 1);
  EXPECT_TRUE(ParseTime(record.acquire_time).ok() && ParseTime(record.renew_time).ok());
}

// F4: at no time do two lead.
TEST(LeaderElectorOnServer, WhoIsCutOffLosesBeforeAnotherLeads) {
  Candidate first("failover", "first");
  ASSERT_TRUE(Eventually([&] { return first.leads(); }));
  Candidate second("failover", "second");
  first.CutOff();
  bool both = false;
  EXPECT_TRUE(Eventually(
      [&] {
        bool second_leads = second.leads();
        both = both || (second_leads && first.leads());
        return second_leads;
      },
      Seconds(10)));
  EXPECT_FALSE(both);
  EXPECT_TRUE(first.elector.lost().stop_requested());
  EXPECT_LE(first.elector.valid_until(), SystemClock().Monotonic());
}

class EventsOnServer : public testing::Test {
 protected:
  EventsOnServer() : client_(ControlPlane::Shared(false).NewClient()), recorder_(*client_, "tester", SystemClock()) {
    Context ctx;
    ctx.stop = stop_.get_token();
    thread_ = std::thread([this, ctx] { recorder_.Run(ctx); });
  }
  ~EventsOnServer() override { Stop(); }
  void Stop() {
    stop_.request_stop();
    if (thread_.joinable()) thread_.join();
  }
  // "reason xcount" of each event about `name`.
  std::vector<std::string> Events(const std::string& ns, const std::string& name) {
    auto list = client_->List({}, Builtin("Event"), ns, {.field_selector = "involvedObject.name=" + name});
    EXPECT_TRUE(list.ok());
    std::vector<std::string> out;
    for (const Object& e : list->items) {
      out.push_back(GetString(e.json(), {"reason"}) + " x" + std::to_string(GetInt(e.json(), {"count"})));
    }
    return out;
  }
  Object Make(const Json& object) {
    Object wanted(object);
    auto made = client_->Create({}, Builtin(wanted.kind()), wanted);
    EXPECT_TRUE(made.ok()) << made.error().message;
    return made.ok() ? *made : wanted;
  }
  Object MakeMap(const std::string& ns, const std::string& name) {
    return Make({{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", ns}}}});
  }
  Object MakeNamespace(const std::string& name) {
    return Make({{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
  }

  std::unique_ptr<Client> client_;
  EventRecorder recorder_;
  std::stop_source stop_;
  std::thread thread_;
};

TEST_F(EventsOnServer, AppearAndCountUp) {
  Object about = MakeMap("default", "told");
  recorder_.Record(about, "Normal", "Installed", std::string(5000, 'x'));
  EXPECT_TRUE(Eventually([&] { return Events("default", "told") == std::vector<std::string>{"Installed x1"}; }));
  for (int i = 0; i < 3; ++i) recorder_.Record(about, "Normal", "Installed", std::string(5000, 'x'));
  EXPECT_TRUE(Eventually([&] { return Events("default", "told") == std::vector<std::string>{"Installed x4"}; }));
  recorder_.Record(about, "Warning", "LastWords", "queued as the process ends");
  Stop();
  EXPECT_THAT(Events("default", "told"), testing::UnorderedElementsAre("Installed x4", "LastWords x1"));
}

TEST_F(EventsOnServer, AboutAClusterScopedObjectAreInDefault) {
  recorder_.Record(MakeNamespace("told-about"), "Normal", "Seen", "m");
  EXPECT_TRUE(Eventually([&] { return Events("default", "told-about") == std::vector<std::string>{"Seen x1"}; }));
}

TEST_F(EventsOnServer, OfATerminatingNamespaceBlockNobody) {
  MakeNamespace("going");
  Object about = MakeMap("going", "inside");
  ASSERT_TRUE(client_->Delete({}, Builtin("Namespace"), "", "going").ok());  // without controllers it stays Terminating
  recorder_.Record(about, "Normal", "Lost", "m");
  recorder_.Record(MakeMap("default", "next"), "Normal", "Written", "m");
  EXPECT_TRUE(Eventually([&] { return Events("default", "next") == std::vector<std::string>{"Written x1"}; }));
  EXPECT_THAT(Events("going", "inside"), IsEmpty());
}

TEST(ManagerOnServer, AChangeBecomesAPassAndAStopGivesTheLeaseBack) {
  auto client = ControlPlane::Shared(false).NewClient();
  Metrics metrics;
  std::atomic<int> passes = 0;
  Controller controller(
      {.name = "maps", .workers = 2},
      [&](const Context&, const std::string& key) -> Result<Outcome> {
        if (key == "default/wanted") ++passes;
        return Outcome{};
      },
      metrics, SystemClock());
  Informer informer(*client, Builtin("ConfigMap"), {.metadata_only = true}, [&](const auto& was, const auto& is) {
    const Object& object = is ? *is : *was;
    controller.queue().Add(object.ns() + "/" + object.name(), Priority::kNow);
  });
  LeaderElector elector(*client, {.ns = "default", .name = "managed", .identity = "me"});
  Manager manager(SystemClock());
  manager.Add(informer);
  manager.Add(controller);
  manager.LeadBy(elector);
  std::stop_source stop;
  Status result;
  std::thread thread([&] {
    Context ctx;
    ctx.stop = stop.get_token();
    result = manager.Run(ctx);
  });
  Object wanted(
      Json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", "wanted"}, {"namespace", "default"}}}});
  EXPECT_TRUE(client->Create({}, Builtin("ConfigMap"), wanted).ok());
  EXPECT_TRUE(Eventually([&] { return passes == 1; }));
  EXPECT_EQ(LeaseOnServer("managed").holder, "me");
  EXPECT_TRUE(client->Delete({}, Builtin("ConfigMap"), "default", "wanted").ok());
  EXPECT_TRUE(Eventually([&] { return passes == 2; }));
  stop.request_stop();
  thread.join();
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(LeaseOnServer("managed").holder, "");
}

}  // namespace
}  // namespace capi::kube
