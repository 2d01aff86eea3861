#include "local/node/container_plan.h"

#include <fmt/core.h>
#include <sys/stat.h>

#include <algorithm>

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

Status CheckProbes(const Json& container) {
  for (const char* field : {"startupProbe", "readinessProbe", "livenessProbe"}) TRY(ProbeOf(container, field));
  if (const Json* hooks = Find(container, {"lifecycle"}); hooks != nullptr && !hooks->empty()) {
    return Error{Code::kUnsupported, "lifecycle isn't carried out on a local plane", {}};
  }
  return Ok();
}

}  // namespace

Result<ContainerPlan> PlanContainer(const Context& ctx, NodeParts& node, PodFiles& files, const kube::Object& pod,
                                    const Json& container, Program program) {
  TRY(CheckProbes(container));
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
  plan.secrets = std::move(environment.secrets);
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
