#include "local/node/container_plan.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "local/node/probes.h"

namespace capi::local {
namespace {

// Where a program looks for a volume by itself, and the variable that leads it elsewhere.
struct KnownMount {
  const char *path, *variable, *file;
};
constexpr KnownMount kKnownMounts[] = {
    {"/var/run/secrets/azure/tokens", "AZURE_FEDERATED_TOKEN_FILE", "/azure-identity-token"},
};

// What a Pod's process has of its own; and what of the user's is no secret.
constexpr std::array kOwn = {"HOME", "TMPDIR", "KUBECONFIG"};
constexpr std::array kOpen = {"PATH", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"};

std::vector<std::string> Words(const Json& container, const char* field, const Variables& variables) {
  std::vector<std::string> words;
  const Json* list = Find(container, {field});
  if (list == nullptr || !list->is_array()) return words;
  for (const Json& word : *list) words.push_back(Expand(word.is_string() ? word.get<std::string>() : "", variables));
  return words;
}

void Put(Variables& variables, const std::string& entry) {
  size_t equal = entry.find('=');
  if (equal != entry.npos) variables[entry.substr(0, equal)] = entry.substr(equal + 1);
}

// An image's PATH, where its files are, and then the user's.
std::string PathOf(const std::string& image, const std::string& root, const std::string& user) {
  std::vector<std::string> folders;
  for (const std::string& folder : Split(image, ':')) folders.push_back(root + folder);
  if (!user.empty()) folders.push_back(user);
  return Join(folders, ":");
}

Variables Below(const NodeParts& node, const PodFiles& files, const Program& program) {
  Variables variables;
  for (const std::string& entry : node.options.environment) Put(variables, entry);
  const std::string path = variables["PATH"];
  for (const auto& [name, value] : program.environment) {
    variables[name] = name == "PATH" ? PathOf(value, program.root, path) : value;
  }
  variables["HOME"] = files.home();
  variables["TMPDIR"] = files.tmp();
  if (files.HasToken()) variables["KUBECONFIG"] = files.kubeconfig();
  return variables;
}

// Of the variables that the container itself has.
std::set<std::string> LeadVariables(Variables& variables, const Variables& below,
                                    const std::map<std::string, std::string>& mounts) {
  std::set<std::string> named;
  for (auto& [name, value] : variables) {
    auto was = below.find(name);
    if (was != below.end() && was->second == value) continue;
    if (auto led = LedPath(value, mounts, named)) value = *led;
  }
  for (const KnownMount& known : kKnownMounts) {
    auto mount = mounts.find(known.path);
    if (mount == mounts.end() || variables.contains(known.variable)) continue;
    variables[known.variable] = mount->second + known.file;
    named.insert(mount->first);
  }
  return named;
}

std::string FolderOf(const Json& container, const Program& program, const PodFiles& files) {
  std::string own = GetString(container, {"workingDir"});
  std::string folder = own.empty() || program.root.empty() ? program.working_folder : program.root + own;
  struct stat there {};
  return !folder.empty() && stat(folder.c_str(), &there) == 0 ? folder : files.home();
}

// Those that another container of the Pod declares may be asked by this one's probes; they aren't its own.
std::set<int> UnledPorts(const kube::Object& pod, const Json& container, const std::map<int, int>& led) {
  std::set<int> unled;
  for (int port : PortsOf(container)) {
    if (port > 0 && !led.contains(port)) unled.insert(port);
  }
  const Json* all = Find(pod.json(), {"spec", "containers"});
  if (all == nullptr || !all->is_array()) return unled;
  for (const Json& other : *all) {
    const Json* ports = Find(other, {"ports"});
    if (GetString(other, {"name"}) == GetString(container, {"name"}) || ports == nullptr || !ports->is_array())
      continue;
    for (const Json& one : *ports) unled.erase(static_cast<int>(GetInt(one, {"containerPort"})));
  }
  return unled;
}

}  // namespace

Status CheckContainer(const NodeOptions& options, const Json& container) {
  for (const char* field : {"startupProbe", "readinessProbe", "livenessProbe"}) TRY(ProbeOf(container, field));
  if (const Json* hooks = Find(container, {"lifecycle"}); hooks != nullptr && !hooks->empty()) {
    return Error{Code::kUnsupported, "lifecycle isn't carried out on a local plane", {}};
  }
  if (GetString(container, {"restartPolicy"}) == "Always") {
    return Error{Code::kUnsupported, "restartPolicy: Always (a sidecar) isn't carried out on a local plane", {}};
  }
  for (const std::string& entry : options.environment) {
    std::string name = entry.substr(0, entry.find('='));
    if (std::find(kOwn.begin(), kOwn.end(), name) == kOwn.end()) continue;
    return Error{
        Code::kUnsupported,
        fmt::format("the variable {} of this machine is named for managers (--env), but each has its own", name),
        {}};
  }
  return Ok();
}

std::vector<std::string> ValuesToHide(const std::vector<std::string>& environment) {
  std::vector<std::string> values;
  for (const std::string& entry : environment) {
    size_t equal = entry.find('=');
    if (equal == entry.npos) continue;
    if (std::find(kOpen.begin(), kOpen.end(), entry.substr(0, equal)) != kOpen.end()) continue;
    values.push_back(entry.substr(equal + 1));
  }
  return values;
}

Result<ContainerPlan> PlanContainer(const Context& ctx, NodeParts& node, PodFiles& files, const kube::Object& pod,
                                    const Json& container, Program program) {
  const Variables below = Below(node, files, program);
  auto environment = TRY(EnvironmentOf(pod, container, below, files.Source(ctx)));
  Variables& variables = environment.variables;
  const auto mounts = MountsOf(pod, container, files.volumes());
  auto argv = TRY(ArgumentsOf(program, Words(container, "command", variables), Words(container, "args", variables)));
  std::set<std::string> named = LeadVariables(variables, below, mounts);

  ContainerPlan plan;
  std::vector<int> ports = PortsOf(container);
  ArgumentOptions options{.flags = node.help.Of(ctx, argv[0], files.tmp(), node.options.environment),
                          .ports = std::set<int>(ports.begin(), ports.end()),
                          .mounts = mounts,
                          .ns = pod.ns(),
                          .port_of = [](int) { return FreePort(); }};
  Arguments led = ArgumentsOnLoopback(std::vector<std::string>(argv.begin() + 1, argv.end()), options);
  named.insert(led.named.begin(), led.named.end());
  std::string unled = UnledMount(pod, container, named);
  if (!unled.empty()) return Error{Code::kUnsupported, unled, {}};

  plan.process.argv = {argv[0]};
  plan.process.argv.insert(plan.process.argv.end(), led.values.begin(), led.values.end());
  plan.process.log_file = files.Log(GetString(container, {"name"}));
  plan.process.folder = FolderOf(container, program, files);
  plan.process.inherit_environment = false;
  for (const auto& [name, value] : variables) plan.process.environment.push_back(fmt::format("{}={}", name, value));
  plan.program = std::move(program);
  plan.ports = std::move(led.ports);
  plan.unled = UnledPorts(pod, container, plan.ports);
  plan.secrets = std::move(environment.secrets);
  for (std::string& value : ValuesToHide(node.options.environment)) plan.secrets.push_back(std::move(value));
  plan.alone = led.alone;
  return plan;
}

Result<ProcessOptions> PlanProbe(const ContainerPlan& plan, const std::vector<std::string>& command) {
  ProcessOptions process = plan.process;
  // Without an image's files a command of the Pod is one of this machine: it isn't the container's program again.
  process.argv = plan.program.root.empty() ? command : TRY(ArgumentsOf(plan.program, command, {}));
  if (process.argv.empty()) return Error{Code::kInvalidArgument, "exec.command is empty", {}};
  process.log_file = "";
  return process;
}

}  // namespace capi::local
