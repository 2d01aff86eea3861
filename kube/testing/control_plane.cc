#include "kube/testing/control_plane.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/mutex.h"
#include "base/processes/process.h"
#include "base/processes/reserved_port.h"
#include "base/processes/temporary_folder.h"
#include "kube/testing/programs.h"
#include "kube/testing/tls.h"

namespace capi::kube {
namespace {

constexpr char kToken[] = "test-administrator";
constexpr char kAuditPolicy[] = R"(apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
)";

// What a release needs of kube-controller-manager. The other controllers cost start-up time and memory.
constexpr char kControllers[] =
    "deployment-controller,replicaset-controller,daemonset-controller,statefulset-controller,job-controller,"
    "garbage-collector-controller,namespace-controller,serviceaccount-controller,clusterrole-aggregation-controller,"
    "root-ca-certificate-publisher-controller,disruption-controller";

constexpr char kNode[] = R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-0","labels":{
  "kubernetes.io/hostname":"node-0","kubernetes.io/os":"linux","kubernetes.io/arch":"amd64",
  "node-role.kubernetes.io/control-plane":""}},"status":{
  "allocatable":{"cpu":"64","memory":"256Gi","pods":"1000"},"capacity":{"cpu":"64","memory":"256Gi","pods":"1000"}}})";

class StaticToken : public CredentialSource {
 public:
  Result<Credential> Get(const Context&, const Credential*) override {
    return Credential{.authorization = std::string("Bearer ") + kToken};
  }
};

std::string KubeconfigText(const std::string& server, const std::string& ca_file) {
  return fmt::format(R"(apiVersion: v1
kind: Config
clusters: [{{name: test, cluster: {{server: "{}", certificate-authority: "{}"}}}}]
users: [{{name: admin, user: {{token: {}}}}}]
contexts: [{{name: test, context: {{cluster: test, user: admin}}}}]
current-context: test
)",
                     server, ca_file, kToken);
}

}  // namespace

class ControlPlane::Impl {
 public:
  Impl(const ControlPlaneOptions& options, ReservedPort port) : options_(options), port_(std::move(port)) {}
  ~Impl() { ReportEarlyEnds(); }

  Status Start() {
    TRY(WriteFiles());
    TRY(StartEtcd());
    TRY(StartApiServer());
    if (options_.controllers) TRY(StartControllers());
    return Ok();
  }

  Status StartApiServer();
  Status StopApiServer() {
    MutexLock lock(mu_);
    if (apiserver_) apiserver_->Stop(SIGKILL);  // a graceful end takes as long as the longest watch
    apiserver_.reset();
    return Ok();
  }

  std::string server() const { return fmt::format("https://127.0.0.1:{}", port_.number()); }
  std::string File(std::string_view name) const { return fmt::format("{}/{}", folder_.path(), name); }
  const std::string& folder() const { return folder_.path(); }
  const KeyPair& authority() const { return authority_; }

 private:
  Status WriteFiles();
  Status StartEtcd();
  Status StartControllers();
  Status AwaitReady(const Process& process);
  Status CreateNode();
  std::vector<std::string> ApiServerFlags() const;
  Result<std::unique_ptr<Process>> Launch(const std::string& program, std::vector<std::string> flags) const;
  Result<PlainResponse> AskServer(std::string_view method, std::string_view target, std::string_view body = "") const;
  void ReportEarlyEnds() const;

  const ControlPlaneOptions options_;
  TemporaryFolder folder_;
  ReservedPort port_;
  KeyPair authority_;
  Mutex mu_;
  // In the order of their start; they end in reverse.
  std::unique_ptr<Process> etcd_;
  std::unique_ptr<Process> apiserver_ CAPI_GUARDED_BY(mu_);
  std::vector<std::unique_ptr<Process>> controllers_;
};

Status ControlPlane::Impl::WriteFiles() {
  authority_ = TRY(MakeCertificate({.common_name = "test-ca", .authority = true}));
  auto serving = TRY(MakeCertificate({.common_name = "kube-apiserver",
                                      .alt_names = {"IP:127.0.0.1", "DNS:localhost", "DNS:kubernetes.default.svc"},
                                      .issuer = &authority_}));
  TRY(WriteFile(File("ca.crt"), authority_.cert_pem));
  TRY(WriteFile(File("apiserver.crt"), serving.cert_pem));
  TRY(WriteFile(File("apiserver.key"), serving.key_pem, 0600));
  const std::string account_key = TRY(MakePrivateKey());
  TRY(WriteFile(File("sa.key"), account_key, 0600));
  TRY(WriteFile(File("tokens.csv"), fmt::format("{},admin,admin,\"system:masters\"\n", kToken), 0600));
  TRY(WriteFile(File("audit-policy.yaml"), kAuditPolicy));
  return WriteFile(File("kubeconfig"), KubeconfigText(server(), File("ca.crt")), 0600);
}

Result<std::unique_ptr<Process>> ControlPlane::Impl::Launch(const std::string& program,
                                                            std::vector<std::string> flags) const {
  flags.insert(flags.begin(), TRY(FindProgram(program)));
  return Process::Start(
      {.argv = std::move(flags), .log_file = File(program + ".log"), .folder = folder(), .environment = {"GOGC=200"}});
}

Status ControlPlane::Impl::StartEtcd() {
  // Unix sockets: no port that another process could take. Relative to its working folder, since their length is
  // limited.
  etcd_ =
      TRY(Launch("etcd", {"--data-dir=etcd", "--listen-client-urls=unix://etcd.sock:0",
                          "--advertise-client-urls=unix://etcd.sock:0", "--listen-peer-urls=unix://peer.sock:0",
                          "--initial-advertise-peer-urls=unix://peer.sock:0",
                          "--initial-cluster=default=unix://peer.sock:0", "--unsafe-no-fsync", "--log-level=warn"}));
  return Ok();
}

std::vector<std::string> ControlPlane::Impl::ApiServerFlags() const {
  std::vector<std::string> flags = {
      "--etcd-servers=unix://etcd.sock:0", "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1",
      fmt::format("--secure-port={}", port_.number()), "--permit-port-sharing=true", "--tls-cert-file=apiserver.crt",
      "--tls-private-key-file=apiserver.key", "--client-ca-file=ca.crt", "--token-auth-file=tokens.csv",
      "--authorization-mode=RBAC", "--service-account-issuer=https://kubernetes.default.svc",
      "--service-account-key-file=sa.key", "--service-account-signing-key-file=sa.key",
      // Webhooks are called at their Service's address. Nothing leaves the machine there, and where nothing listens on
      // its port 443 nobody answers, at once.
      "--service-cluster-ip-range=127.96.0.0/16", "--allow-privileged=true", "--endpoint-reconciler-type=none",
      "--enable-priority-and-fairness=false", "--profiling=false",
      "--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",  // both wait for controllers
  };
  if (options_.audit) {
    flags.push_back("--audit-policy-file=audit-policy.yaml");
    flags.push_back("--audit-log-path=audit.log");
  }
  return flags;
}

Status ControlPlane::Impl::StartApiServer() {
  MutexLock lock(mu_);
  if (apiserver_) return Ok();
  apiserver_ = TRY(Launch("kube-apiserver", ApiServerFlags()));
  return AwaitReady(*apiserver_);
}

Result<PlainResponse> ControlPlane::Impl::AskServer(std::string_view method, std::string_view target,
                                                    std::string_view body) const {
  auto stream = TRY(TlsStream::Connect("127.0.0.1", port_.number(), authority_.cert_pem, nullptr, Seconds(5)));
  return Ask(*stream, method, target,
             fmt::format("Authorization: Bearer {}\r\nContent-Type: application/json\r\n", kToken), body);
}

Status ControlPlane::Impl::AwaitReady(const Process& process) {
  PlainResponse last;
  bool ready = Eventually(
      [&] {
        if (!process.running() || !etcd_->running()) return true;
        auto answer = AskServer("GET", "/readyz?verbose");
        if (answer.ok()) last = *answer;
        return answer.ok() && answer->status == 200;
      },
      Seconds(120), Millis(50));  // often enough; each probe costs the starting server time
  if (ready && last.status == 200) return Ok();
  return Error{Code::kUnavailable,
               fmt::format("the API server does not become ready.\n/readyz: {}\nkube-apiserver:\n{}\netcd:\n{}",
                           last.body, process.LogTail(), etcd_->LogTail()),
               {}};
}

Status ControlPlane::Impl::CreateNode() {
  auto answer = TRY(AskServer("POST", "/api/v1/nodes", kNode));
  if (answer.status == 201) return Ok();
  return Error{Code::kInternal, fmt::format("create the Node: {} {}", answer.status, answer.body), {}};
}

Status ControlPlane::Impl::StartControllers() {
  TRY(CreateNode());
  const std::vector<std::string> common = {"--kubeconfig=kubeconfig", "--bind-address=127.0.0.1", "--secure-port=0",
                                           "--leader-elect=false", "--profiling=false"};
  const std::string selected = fmt::format("--controllers={}", kControllers);
  auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> flags = common;
    flags.insert(flags.end(), more);
    return flags;
  };
  controllers_.push_back(
      TRY(Launch("kube-controller-manager",
                 with({selected, "--service-account-private-key-file=sa.key", "--root-ca-file=ca.crt",
                       "--use-service-account-credentials=false", "--kube-api-qps=200", "--kube-api-burst=400"}))));
  controllers_.push_back(TRY(Launch("kube-scheduler", with({"--kube-api-qps=200", "--kube-api-burst=400"}))));
  controllers_.push_back(
      TRY(Launch("kwok", {"--kubeconfig=kubeconfig", "--manage-all-nodes=true", "--node-lease-duration-seconds=40"})));
  return Ok();
}

void ControlPlane::Impl::ReportEarlyEnds() const {
  for (const auto& process : controllers_) {
    if (process->running()) continue;
    std::fprintf(stderr, "%s ended early:\n%s\n", process->options().argv[0].c_str(), process->LogTail().c_str());
  }
}

ControlPlane::ControlPlane(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ControlPlane::~ControlPlane() = default;

Result<std::unique_ptr<ControlPlane>> ControlPlane::Start(const ControlPlaneOptions& options) {
  auto impl = std::make_unique<Impl>(options, TRY(ReservedPort::Take()));
  TRY_WITH(impl->Start(), "control plane");
  return std::unique_ptr<ControlPlane>(new ControlPlane(std::move(impl)));
}

ControlPlane& ControlPlane::Shared(bool controllers) {
  static Mutex mu;
  static std::unique_ptr<ControlPlane> plain, full;
  MutexLock lock(mu);
  std::unique_ptr<ControlPlane>& shared = controllers ? full : plain;
  if (!shared) {
    auto started = Start({.controllers = controllers, .audit = true});
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.error().message.c_str());
      std::exit(1);
    }
    shared = std::move(*started);
  }
  return *shared;
}

Config ControlPlane::config() const {
  Config config;
  config.server = server();
  config.tls.ca_pem = impl_->authority().cert_pem;
  config.credentials = std::make_shared<StaticToken>();
  config.context = "test";
  return config;
}

std::unique_ptr<Client> ControlPlane::NewClient(std::string_view user_agent) const {
  auto client = Client::Connect(config(), {.user_agent = std::string(user_agent)});
  if (client.ok()) return std::move(*client);
  std::fprintf(stderr, "%s\n", client.error().message.c_str());
  std::abort();
}

std::string ControlPlane::kubeconfig() const { return impl_->File("kubeconfig"); }
std::string ControlPlane::server() const { return impl_->server(); }
std::string ControlPlane::audit_log() const { return impl_->File("audit.log"); }
std::string ControlPlane::folder() const { return impl_->folder(); }

Result<KeyPair> ControlPlane::ClientCertificate(const std::string& user, const std::string& group) const {
  return MakeCertificate({.common_name = user, .organizations = {group}, .issuer = &impl_->authority()});
}

Status ControlPlane::StopApiServer() { return impl_->StopApiServer(); }
Status ControlPlane::StartApiServer() { return impl_->StartApiServer(); }
Status ControlPlane::RestartApiServer() {
  TRY(StopApiServer());
  return StartApiServer();
}

}  // namespace capi::kube
