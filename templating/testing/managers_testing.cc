#include "templating/testing/managers_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/testing/release_folder.h"
#include "base/files.h"
#include "base/http/client.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"
#include "kube/meta/kind.h"
#include "kube/testing/ports.h"
#include "kube/testing/programs.h"
#include "templating/customise/deployment.h"
#include "templating/render.h"

namespace capi::templating {
namespace {

// Outside of a pod a manager has no namespace for its lease. In a mount namespace of its own it gets one.
constexpr const char* kAsPod =
    "mount -t tmpfs none /run && mkdir -p /run/secrets/kubernetes.io/serviceaccount && "
    "printf default > /run/secrets/kubernetes.io/serviceaccount/namespace && exec \"$@\"";

// What makes that mount namespace here: root may, and others where user namespaces are allowed.
std::vector<std::string> Unshare() {
  bool root = capi::RunProgram({"/usr/bin/unshare", "--mount", "true"}, "", Seconds(10)).ok();
  if (root) return {"/usr/bin/unshare", "--mount"};
  return {"/usr/bin/unshare", "--map-root-user", "--mount"};
}

// Without its CRDs, which are most of it and say nothing of the manager.
std::string WithoutCrds(const std::string& components) {
  constexpr std::string_view kMark = "\n---\n";
  std::string out;
  for (size_t begin = 0; begin < components.size();) {
    size_t end = std::min(components.find(kMark, begin), components.size());
    std::string_view document(components.data() + begin, end - begin);
    if (document.find("\nkind: CustomResourceDefinition\n") == document.npos) out.append(document).append(kMark);
    begin = end + kMark.size();
  }
  return out;
}

}  // namespace

const RealManager kRealManagers[4] = {
    {api::ProviderType::kCore, "cluster-api", "core-manager", "Machine", "machine", "controller-leader-election-capi"},
    {api::ProviderType::kBootstrap, "kubeadm", "bootstrap-manager", "KubeadmConfig", "kubeadmconfig",
     "kubeadm-bootstrap-manager-leader-election-capi"},
    {api::ProviderType::kControlPlane, "kubeadm", "control-plane-manager", "KubeadmControlPlane", "kubeadmcontrolplane",
     "kubeadm-control-plane-manager-leader-election-capi"},
    {api::ProviderType::kInfrastructure, "docker", "docker-manager", "", "dockermachine",
     "controller-leader-election-capd"},
};

std::string ComponentsOf(const RealManager& manager) {
  return api::GetRelease(api::ManifestLabel(manager.type, manager.name), kManagersVersion).Components();
}

std::vector<std::string> RenderedManager::args() const {
  const Json* list = Find(container, {"args"});
  return list == nullptr ? std::vector<std::string>{} : list->get<std::vector<std::string>>();
}

RenderedManager RenderManager(const RealManager& manager, std::string_view spec) {
  api::ProviderSpec parsed =
      ValueOrAbort(api::ParseSpec(ValueOrAbort(ParseYaml(spec), "the spec"), "default"), "the spec");
  api::Release release;
  release.version = ValueOrAbort(api::Version::Parse(kManagersVersion), "the managers' version");
  release.components = WithoutCrds(ComponentsOf(manager));
  RenderInput input;
  input.type = manager.type;
  input.name = manager.name;
  input.release = &release;
  input.target_namespace = "default";
  input.spec = &parsed;
  input.variables = [](const std::string&) { return std::nullopt; };
  RenderResult result = Render(input);
  RenderedManager out;
  if (result.error) {
    out.error = result.error->error.message;
    return out;
  }
  for (kube::Object& object : result.output->objects) {
    if (IsDeployment(object)) out.container = *ManagerContainer(object);
  }
  return out;
}

std::string OutputOf(const std::string& program, const std::vector<std::string>& args) {
  TemporaryFolder folder;
  std::string log = folder.path() + "/log";
  capi::ProcessOptions options;
  options.argv = {ValueOrAbort(kube::FindProgram(program), program)};
  options.argv.insert(options.argv.end(), args.begin(), args.end());
  options.log_file = log;
  options.environment = {"POD_NAMESPACE=default", "POD_NAME=test", "POD_UID=test"};
  auto process = ValueOrAbort(capi::Process::Start(std::move(options)), program);
  if (!process->Wait(Seconds(60))) process->Stop(SIGKILL);
  return ValueOrAbort(ReadFile(log), program);
}

ManagerRun::ManagerRun(const kube::ControlPlane& plane, const RealManager& manager, const RenderedManager& rendered) {
  capi::ProcessOptions options;
  static const std::vector<std::string> unshare = Unshare();
  options.argv = unshare;
  for (const char* word : {"sh", "-c", kAsPod, "sh"}) options.argv.emplace_back(word);
  options.argv.push_back(ValueOrAbort(kube::FindProgram(std::string(manager.program)), manager.program));
  for (std::string& arg : rendered.args()) options.argv.push_back(std::move(arg));
  options.argv.push_back("--kubeconfig=" + plane.kubeconfig());
  options.log_file = folder_.path() + "/log";
  // The docker provider serves its debugging at a fixed port of its pod's address.
  options.environment = {"POD_NAMESPACE=default", "POD_NAME=test", "POD_UID=test", "POD_IP=" + kube::OwnAddress()};
  if (const Json* env = Find(rendered.container, {"env"})) {
    for (const Json& entry : *env) {
      std::string value = GetString(entry, {"value"});
      if (!value.empty()) options.environment.push_back(GetString(entry, {"name"}) + "=" + value);
    }
  }
  process_ = ValueOrAbort(capi::Process::Start(std::move(options)), manager.program);
}

bool ManagerRun::AwaitReady(const std::string& health_url) {
  bool ready = false;
  kube::Eventually(
      [&] {
        ready = GetUrl(health_url + "/readyz") == 200;
        return ready || !running();
      },
      Seconds(60), Millis(50));
  return ready;
}

std::string ManagerRun::Log() const { return ValueOrAbort(ReadFile(folder_.path() + "/log"), "a manager's log"); }

std::string ManagerRun::Environment() const {
  return ValueOrAbort(ReadFile(fmt::format("/proc/{}/environ", process_->pid())), "a manager's environment");
}

int GetUrl(const std::string& url, std::string* body, const std::string& ca_pem) {
  http::Options options;
  options.tls.ca_pem = ca_pem;
  options.tls.insecure_skip_verify = ca_pem.empty();
  auto answer = http::Fetch(Context{}.WithTimeout(Seconds(5)), url, http::Request{}, options);
  if (!answer.ok()) return 0;
  if (body != nullptr) *body = answer->body;
  return answer->status;
}

}  // namespace capi::templating
