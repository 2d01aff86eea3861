#include "e2e/real_managers/real_managers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <map>
#include <set>
#include <thread>
#include <vector>

#include "api/testing/release_folder.h"
#include "base/clock.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/http/client.h"
#include "base/mutex.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "e2e/real_managers/forwarder.h"
#include "e2e/support/managed_cluster.h"
#include "kube/testing/ports.h"
#include "kube/testing/programs.h"

namespace capi::e2e {
namespace {

constexpr Millis kTick{50};
// No such Node exists: neither the scheduler nor kwok has anything to do with Pods there.
constexpr const char* kNodeName = "stand-in";

void MustWrite(const std::string& path, std::string_view text) {
  if (!WriteFile(path, text, 0600).ok()) std::abort();
}

// The docker provider serves its workload clusters on ports from 20000 on, on all interfaces: one test at a time.
class WorkloadPorts {
 public:
  WorkloadPorts() : fd_(open("/tmp/capi-test-workload-ports", O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (fd_ < 0 || flock(fd_, LOCK_EX) != 0) std::abort();
  }
  ~WorkloadPorts() { close(fd_); }

 private:
  int fd_;
};

// "v1.12" of an image "registry.example/manager:v1.12.0".
std::string SeriesOf(const std::string& image) {
  std::string tag = image.substr(image.rfind(':') + 1);
  return tag.substr(0, tag.rfind('.'));
}

std::string ProgramOf(const Managed& provider, const std::string& series) {
  std::string name = provider.type == kCore.type           ? "core-manager"
                     : provider.type == kBootstrap.type    ? "bootstrap-manager"
                     : provider.type == kControlPlane.type ? "control-plane-manager"
                                                           : "docker-manager";
  return series == "v1.12" ? name : name + "-" + series;
}

const Json* Container(const kube::Object& pod) {
  const Json* containers = Find(pod.json(), {"spec", "containers"});
  if (containers == nullptr) return nullptr;
  for (const Json& container : *containers) {
    if (GetString(container, {"name"}) == "manager") return &container;
  }
  return nullptr;
}

// RFC 6902 operations that put `url` and `bundle` where the object's clientConfig at `at` has a service.
void Redirect(Json& operations, const Json& config, const std::string& at, int port, const std::string& bundle) {
  std::string path = GetString(config, {"service", "path"});
  operations.push_back({{"op", "replace"},
                        {"path", at},
                        {"value", {{"url", fmt::format("https://127.0.0.1:{}{}", port, path)}, {"caBundle", bundle}}}});
}

// The patch for one document of a release; null where it needs none.
Json PatchFor(const Json& document, int port, const std::string& bundle) {
  std::string kind = GetString(document, {"kind"});
  Json operations = Json::array();
  if (const Json* config = Find(document, {"spec", "conversion", "webhook", "clientConfig"})) {
    Redirect(operations, *config, "/spec/conversion/webhook/clientConfig", port, bundle);
  }
  if (kind.ends_with("WebhookConfiguration")) {
    size_t index = 0;
    for (const Json& webhook : *Find(document, {"webhooks"})) {
      Redirect(operations, webhook["clientConfig"], fmt::format("/webhooks/{}/clientConfig", index++), port, bundle);
    }
  }
  if (!operations.empty()) {
    operations.push_back({{"op", "remove"}, {"path", "/metadata/annotations/cert-manager.io~1inject-ca-from"}});
  }
  if (kind == "Deployment") {
    operations.push_back({{"op", "add"}, {"path", "/spec/template/spec/nodeName"}, {"value", kNodeName}});
  }
  if (operations.empty()) return nullptr;
  return {{"target", {{"kind", kind}, {"name", GetString(document, {"metadata", "name"})}}},
          {"patch", ToJsonText(operations)}};
}

}  // namespace

const std::vector<Managed>& RealProviders() {
  static const std::vector<Managed> all = {kCore, kBootstrap, kControlPlane, kDocker};
  return all;
}

// A Pod of ours, and the process that runs for it.
struct RealPod {
  std::string name, series;
  std::vector<int> ports;  // webhooks, health, diagnostics
  std::unique_ptr<capi::Process> process;
  bool ready = false;    // and the API server knows
  bool ends = false;     // it was told to
  MonoTime killed_at{};  // when it ends
};

// The kubelet of one provider's Pods, and its Service. `Follow` and the destructor belong to one thread; the others are
// thread-safe.
class RealManagers::StandIn {
 public:
  StandIn(const Managed& provider, Cluster& cluster, const std::vector<std::string>& series)
      : provider_(provider), client_(cluster.plane().NewClient("stand-in")) {
    for (const std::string& one : series) {
      programs_[one] = ValueOrAbort(kube::FindProgram(ProgramOf(provider, one)), provider.Label());
    }
    kube::CertificateOptions options;
    options.alt_names = {"IP:127.0.0.1"};
    options.authority = true;
    certificate_ = ValueOrAbort(kube::MakeCertificate(options), "certificate");
    MustWrite(folder_.path() + "/tls.crt", certificate_.cert_pem);
    MustWrite(folder_.path() + "/tls.key", certificate_.key_pem);
  }
  ~StandIn() {
    for (auto& [uid, pod] : pods_) (void)Forget(uid, pod.name);
    pods_.clear();
    auto log = ReadFile(Log());
    if (!::testing::Test::HasFailure() || !log.ok()) return;
    size_t from = log->size() > 6000 ? log->size() - 6000 : 0;
    fmt::print(stderr, "---- the log of {}'s manager ends with\n{}\n", provider_.Label(), log->substr(from));
  }

  // Looks at the Pods, once, and does what they ask for.
  void Follow() {
    auto list = client_->List(Soon(), kube::Builtin("Pod"), provider_.ns,
                              {.field_selector = fmt::format("spec.nodeName={}", kNodeName)});
    if (!list.ok()) return;
    std::set<std::string> there;
    for (const kube::Object& pod : list->items) {
      there.insert(pod.uid());
      if (pod.deleting()) {
        End(pod);
      } else {
        Run(pod);
      }
    }
    std::erase_if(pods_, [&](const auto& known) { return !there.contains(known.first); });
    Serve();
  }

  Json Patches(const std::string& components) const {
    Json patches = Json::array();
    auto documents = ValueOrAbort(ParseYamlStream(components), provider_.Label());
    for (const YamlDocument& document : documents) {
      Json patch = PatchFor(document.value, service_.port(), Base64Encode(certificate_.cert_pem));
      if (!patch.is_null()) patches.push_back(std::move(patch));
    }
    return patches;
  }

  std::string label() const { return provider_.Label(); }
  // Of all that run, "v1.11, v1.12 (ready)"; "" while nothing does.
  std::string Running() const {
    MutexLock lock(mu_);
    return running_;
  }

 private:
  static Context Soon() { return Context{}.WithTimeout(Seconds(5)); }
  std::string Log() const { return folder_.path() + "/log"; }

  void Run(const kube::Object& object) {
    RealPod& pod = pods_[object.uid()];
    pod.name = object.name();
    bool runs = pod.process != nullptr && pod.process->running();
    if (!runs) {
      pod.ready = false;
      if (!pod.ends) Start(object, pod);
    } else if (!pod.ready && IsReady(pod)) {
      pod.ready = SayReady(object);
    }
  }

  // As a kubelet does, but that it gets no connections any more when it is told to end: rules for packets need their
  // time on a real node.
  void End(const kube::Object& object) {
    auto known = pods_.find(object.uid());
    bool runs = known != pods_.end() && known->second.process != nullptr && known->second.process->running();
    if (runs && !known->second.ends) {
      Tell(known->second, GetInt(object.json(), {"metadata", "deletionGracePeriodSeconds"}, 30));
      return;
    }
    if (runs && SystemClock().Monotonic() < known->second.killed_at) return;
    if (known != pods_.end()) known->second.process.reset();
    if (Forget(object.uid(), object.name()).ok() && known != pods_.end()) pods_.erase(known);
  }
  void Tell(RealPod& pod, std::int64_t grace) {
    pod.ends = true;
    pod.killed_at = SystemClock().Monotonic() + Seconds(grace);
    Serve();
    pod.process->Signal(SIGTERM);
  }
  Status Forget(const std::string& uid, const std::string& name) {
    Json options = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", uid}}}};
    std::string path = fmt::format("/api/v1/namespaces/{}/pods/{}", provider_.ns, name);
    TRY(client_->Raw(Soon(), "DELETE", path, ToJsonText(options), "application/json"));
    return Ok();
  }

  bool IsReady(const RealPod& pod) const {
    auto answer = http::Fetch(Soon(), fmt::format("http://127.0.0.1:{}/readyz", pod.ports[1]), http::Request{}, {});
    return answer.ok() && answer->status == 200;
  }
  bool SayReady(const kube::Object& object) {
    std::string now = FormatTime(SystemClock().Now());
    Json status = {{"phase", "Running"}, {"startTime", now}, {"conditions", Json::array()}};
    for (const char* type : {"PodScheduled", "Initialized", "ContainersReady", "Ready"}) {
      status["conditions"].push_back({{"type", type}, {"status", "True"}, {"lastTransitionTime", now}});
    }
    auto said = client_->Patch(Soon(), kube::Builtin("Pod"), provider_.ns, object.name(), kube::PatchType::kMerge,
                               {{"status", std::move(status)}}, {.subresource = "status"});
    return said.ok();
  }

  // Connections go to those who are ready.
  void Serve() {
    std::vector<int> targets;
    std::vector<std::string> running;
    for (const auto& [uid, pod] : pods_) {
      if (pod.process == nullptr) continue;
      bool serves = pod.ready && !pod.ends;
      if (serves) targets.push_back(pod.ports[0]);
      running.push_back(pod.series + (serves ? " (ready)" : ""));
    }
    std::sort(running.begin(), running.end());
    service_.SetTargets(std::move(targets));
    MutexLock lock(mu_);
    running_ = Join(running, ", ");
  }

  // With a token of the pod's ServiceAccount, so that the release's own roles decide what it may do.
  Status WriteKubeconfig(const std::string& account) {
    std::string path = fmt::format("/api/v1/namespaces/{}/serviceaccounts/{}/token", provider_.ns, account);
    Json request = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenRequest"}, {"spec", Json::object()}};
    auto answer =
        TRY(client_->Raw(Context{}.WithTimeout(Seconds(5)), "POST", path, ToJsonText(request), "application/json"));
    std::string token = GetString(TRY(ParseJson(answer)), {"status", "token"});
    const kube::Config& admin = client_->config();
    Json config = {{"apiVersion", "v1"}, {"kind", "Config"}, {"current-context", "it"}};
    config["contexts"] = {{{"name", "it"}, {"context", {{"cluster", "it"}, {"user", "it"}}}}};
    config["clusters"] = {
        {{"name", "it"},
         {"cluster", {{"server", admin.server}, {"certificate-authority-data", Base64Encode(admin.tls.ca_pem)}}}}};
    config["users"] = {{{"name", "it"}, {"user", {{"token", token}}}}};
    return WriteFile(folder_.path() + "/kubeconfig", ToJsonText(config), 0600);
  }

  void Start(const kube::Object& object, RealPod& pod) {
    const Json* container = Container(object);
    std::string account = GetString(object.json(), {"spec", "serviceAccountName"});
    if (container == nullptr || !WriteKubeconfig(account).ok()) return;  // its ServiceAccount may come later
    if (provider_.type == kDocker.type) EndOthers(pod);
    pod.series = SeriesOf(GetString(*container, {"image"}));
    pod.ports = kube::FreePorts(3);
    capi::ProcessOptions options;
    options.argv = {programs_.at(pod.series)};
    if (const Json* args = Find(*container, {"args"})) {
      for (const Json& arg : *args) options.argv.push_back(arg.get<std::string>());
    }
    for (std::string arg : {std::string("--leader-elect=false"), "--kubeconfig=" + folder_.path() + "/kubeconfig",
                            fmt::format("--webhook-port={}", pod.ports[0]), "--webhook-cert-dir=" + folder_.path(),
                            fmt::format("--health-addr=127.0.0.1:{}", pod.ports[1]),
                            fmt::format("--diagnostics-address=127.0.0.1:{}", pod.ports[2]),
                            std::string("--insecure-diagnostics=true")}) {
      options.argv.push_back(std::move(arg));
    }
    options.environment = {fmt::format("POD_NAMESPACE={}", provider_.ns), "POD_NAME=" + pod.name, "POD_UID=stand-in",
                           // Of its workload clusters; debugging is served there on a fixed port.
                           "POD_IP=" + kube::OwnAddress()};
    options.log_file = Log();
    pod.process = ValueOrAbort(capi::Process::Start(std::move(options)), provider_.Label());
  }
  // The workload clusters that are in the docker provider's memory have fixed ports: two of it can't be.
  void EndOthers(const RealPod& pod) {
    for (auto& [uid, other] : pods_) {
      if (&other == &pod || other.process == nullptr) continue;
      other.ends = true;
      other.process->Stop();
    }
  }

  const Managed& provider_;
  std::unique_ptr<kube::Client> client_;
  TemporaryFolder folder_;
  kube::KeyPair certificate_;
  std::map<std::string, std::string> programs_;  // by series
  Forwarder service_;
  std::map<std::string, RealPod> pods_;  // by uid
  mutable Mutex mu_;
  std::string running_ CAPI_GUARDED_BY(mu_);
};

struct RealManagers::State {
  WorkloadPorts ports;  // before all processes, and after them
  std::vector<std::unique_ptr<StandIn>> all;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  StandIn& Of(const Managed& provider) {
    auto same = [&](const auto& one) { return one->label() == provider.Label(); };
    return **std::find_if(all.begin(), all.end(), same);
  }
};

RealManagers::RealManagers(Cluster& cluster, const std::vector<std::string>& series)
    : state_(std::make_unique<State>()) {
  for (const Managed& provider : RealProviders()) {
    state_->all.push_back(std::make_unique<StandIn>(provider, cluster, series));
  }
  for (auto& one : state_->all) {
    state_->threads.emplace_back([this, &one] {
      while (!state_->stop) {
        one->Follow();
        std::this_thread::sleep_for(kTick);
      }
    });
  }
}

RealManagers::~RealManagers() {
  state_->stop = true;
  for (std::thread& thread : state_->threads) thread.join();
}

Json RealManagers::Spec(const Managed& provider, const std::string& version) const {
  ReleaseFolder release = GetRelease(provider.Label(), version);
  Json spec = SelectorSpec(release);
  spec["patches"] = state_->Of(provider).Patches(release.Components());
  return spec;
}

bool RealManagers::AwaitServing(const Managed& provider, std::string_view series) {
  StandIn& one = state_->Of(provider);
  std::string wanted = fmt::format("{} (ready)", series);
  bool serving = kube::Eventually([&] { return one.Running() == wanted; }, Seconds(120), kTick);
  EXPECT_TRUE(serving) << provider.Label() << " " << series << " isn't ready; there is: " << one.Running();
  return serving;
}

bool RealManagers::AwaitStopped(const Managed& provider) {
  StandIn& one = state_->Of(provider);
  bool stopped = kube::Eventually([&] { return one.Running().empty(); }, Seconds(30), kTick);
  EXPECT_TRUE(stopped) << provider.Label() << " still runs: " << one.Running();
  return stopped;
}

}  // namespace capi::e2e
