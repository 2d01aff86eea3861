#include "local/node/container_plan.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "local/node/probes.h"
#include "local/node/services/listeners.h"
#include "local/programs/executable.h"

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
// Of an image they name files of its own, which aren't there on this machine.
constexpr std::array kOfImagesFiles = {"SSL_CERT_FILE", "SSL_CERT_DIR"};
constexpr std::array kOpen = {"PATH", "NO_PROXY", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR", "CAPI_LOCAL_PLANE"};

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

// What this machine says of proxies and certificates, and what the user names, counts more than what an image says.
Variables Below(const NodeParts& node, const PodFiles& files, const Program& program) {
  Variables variables;
  for (const auto& [name, value] : program.environment) {
    if (std::find(kOfImagesFiles.begin(), kOfImagesFiles.end(), name) == kOfImagesFiles.end()) variables[name] = value;
  }
  auto path = variables.find("PATH");
  const std::string of_image = path == variables.end() ? "" : path->second;
  for (const std::string& entry : node.options.environment) Put(variables, entry);
  if (!of_image.empty()) {
    const bool has = std::any_of(node.options.environment.begin(), node.options.environment.end(),
                                 [](const std::string& entry) { return entry.starts_with("PATH="); });
    variables["PATH"] = PathOf(of_image, program.root, has ? variables["PATH"] : "");
  }
  variables["HOME"] = files.home();
  variables["TMPDIR"] = files.tmp();
  if (files.HasToken()) variables["KUBECONFIG"] = files.kubeconfig();
  return variables;
}

// Of the variables that the container itself has: paths, and URLs of other containers.
std::set<std::string> LeadVariables(Variables& variables, const Variables& below,
                                    const std::map<std::string, std::string>& mounts,
                                    const std::map<int, int>& others) {
  std::set<std::string> named;
  for (auto& [name, value] : variables) {
    auto was = below.find(name);
    if (was != below.end() && was->second == value) continue;
    value = LedPath(value, mounts, named).value_or(LedUrl(value, others));
  }
  for (const KnownMount& known : kKnownMounts) {
    auto mount = mounts.find(known.path);
    if (mount == mounts.end() || variables.contains(known.variable)) continue;
    variables[known.variable] = mount->second + known.file;
    named.insert(mount->first);
  }
  return named;
}

// A log tells them as the process has them, in variables and words.
void AddAsLed(std::vector<std::string>& secrets, const std::map<int, int>& others) {
  for (size_t i = 0, all = secrets.size(); i < all; ++i) {
    std::string led = LedUrl(secrets[i], others);
    if (led != secrets[i]) secrets.push_back(std::move(led));
  }
}

bool IsFolder(const std::string& path) {
  struct stat there {};
  return stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode);
}

// Its words are looked for there, too. A program without an image's files has no folder of these.
Status SetWorkingFolder(const Json& container, Program& program) {
  const std::string own = GetString(container, {"workingDir"});
  if (own.empty() || program.root.empty()) return Ok();
  program.working_folder = PathBelow(program.root, own);
  if (IsFolder(program.working_folder)) return Ok();
  return Error{Code::kUnsupported, fmt::format("workingDir: the image has no folder {}", own), {}};
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

// Like execvp, in the process's own PATH.
Result<std::string> ProgramInPath(const std::string& word, const std::vector<std::string>& environment) {
  if (word.find('/') != word.npos) return word;
  for (const std::string& entry : environment) {
    if (!entry.starts_with("PATH=")) continue;
    for (const std::string& folder : Split(entry.substr(5), ':')) {
      std::string path = fmt::format("{}/{}", folder, word);
      if (folder.starts_with('/') && !IsFolder(path) && access(path.c_str(), X_OK) == 0) return path;
    }
  }
  return Error{Code::kNotFound, fmt::format("exec.command: {} isn't in PATH", word), {}};
}

Error Unsupported(const std::string& field) {
  return {Code::kUnsupported, field + " isn't carried out on a local plane", {}};
}

bool IsNamed(const Json& value, const char* field) {
  const Json* found = Find(value, {field});
  return found != nullptr && !found->empty();
}

Status CheckMounts(const Json& container) {
  const Json* mounts = Find(container, {"volumeMounts"});
  if (mounts == nullptr || !mounts->is_array()) return Ok();
  for (const Json& mount : *mounts) {
    if (IsNamed(mount, "subPathExpr"))
      return Unsupported(fmt::format("volumeMounts[name={}].subPathExpr", GetString(mount, {"name"})));
  }
  return Ok();
}

}  // namespace

Status CheckPod(const kube::Object& pod) {
  const Json* spec = Find(pod.json(), {"spec"});
  if (spec == nullptr) return Ok();
  for (const char* field : {"readinessGates", "activeDeadlineSeconds"}) {
    if (IsNamed(*spec, field)) return Unsupported(std::string("spec.") + field);
  }
  const std::string policy = GetString(*spec, {"restartPolicy"}, "Always");
  return policy == "Always" ? Ok() : Status(Unsupported("spec.restartPolicy: " + policy));
}

std::set<int> PortsNamedByOthers(const kube::Object& pod, const Json& container, const std::set<int>& ports) {
  std::set<int> named;
  const Json* all = Find(pod.json(), {"spec", "containers"});
  if (all == nullptr || !all->is_array()) return named;
  for (const Json& other : *all) {
    if (GetString(other, {"name"}) == GetString(container, {"name"})) continue;
    for (int port : PortsNamedInUrls(other)) {
      if (ports.contains(port)) named.insert(port);
    }
  }
  return named;
}

Status CheckContainer(const NodeOptions& options, const Json& container) {
  for (const char* field : {"startupProbe", "readinessProbe", "livenessProbe"}) TRY(ProbeOf(container, field));
  for (const char* field : {"lifecycle", "volumeDevices", "restartPolicyRules"}) {
    if (IsNamed(container, field)) return Unsupported(field);
  }
  if (GetString(container, {"restartPolicy"}) == "Always") return Unsupported("restartPolicy: Always (a sidecar)");
  TRY(CheckMounts(container));
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

Result<ContainerPlan> PlanContainer(const Context& ctx, NodeParts& node, PodFiles& files, const PodPorts& shared,
                                    const kube::Object& pod, const Json& container, Program program) {
  const std::string name = GetString(container, {"name"});
  const Variables below = Below(node, files, program);
  auto environment = TRY(EnvironmentOf(pod, container, below, files.Source(ctx)));
  Variables& variables = environment.variables;
  TRY(SetWorkingFolder(container, program));
  auto mounts = MountsOf(pod, container, files.volumes());
  auto argv = TRY(ArgumentsOf(program, Words(container, "command", variables), Words(container, "args", variables)));
  std::set<std::string> named = LeadVariables(variables, below, mounts, shared.OfOthers(name));

  ContainerPlan plan;
  std::vector<int> ports = PortsOf(container);
  ArgumentOptions options{.ports = std::set<int>(ports.begin(), ports.end()), .mounts = mounts, .ns = pod.ns()};
  options.flags = TRY(node.help.Of(ctx, argv[0], files.tmp(), node.options.environment));
  options.others = shared.OfOthers(name);
  Status free;
  options.port_of = [&](int port) {
    if (auto led = shared.Of(name, port)) return *led;
    if (!PortsNamedByOthers(pod, container, {port}).empty()) return port;
    const auto found = FreePort();
    if (!found.ok()) free = found.error();
    return found.ok() ? *found : 0;
  };
  if (files.HasToken() && variables["KUBECONFIG"] == files.kubeconfig()) options.kubeconfig = files.kubeconfig();
  Arguments led = ArgumentsOnLoopback(std::vector<std::string>(argv.begin() + 1, argv.end()), options);
  TRY(free);
  named.insert(led.named.begin(), led.named.end());
  std::string unled = UnledMount(pod, container, named);
  if (!unled.empty()) return Error{Code::kUnsupported, unled, {}};

  plan.process.argv = {argv[0]};
  plan.process.argv.insert(plan.process.argv.end(), led.values.begin(), led.values.end());
  plan.process.log_file = files.Log(name);
  plan.process.folder = program.working_folder.empty() ? files.home() : program.working_folder;
  plan.process.inherit_environment = false;
  for (const auto& [key, value] : variables) plan.process.environment.push_back(fmt::format("{}={}", key, value));
  plan.program = std::move(program);
  plan.mounts = std::move(mounts);
  plan.ports = std::move(led.ports);
  plan.unled = UnledPorts(pod, container, plan.ports);
  std::erase_if(plan.ports, [&](const std::pair<const int, int>& port) {
    if (port.first == port.second || shared.Of(name, port.first)) plan.unled.insert(port.second);
    return port.first == port.second;
  });
  plan.secrets = std::move(environment.secrets);
  AddAsLed(plan.secrets, options.others);
  for (std::string& value : ValuesToHide(node.options.environment)) plan.secrets.push_back(std::move(value));
  plan.alone = led.alone;
  return plan;
}

Result<ProcessOptions> PlanProbe(const ContainerPlan& plan, const std::vector<std::string>& command) {
  ProcessOptions process = plan.process;
  if (command.empty()) return Error{Code::kInvalidArgument, "exec.command is empty", {}};
  std::set<std::string> ignored;
  std::vector<std::string> words = {command[0]};
  for (size_t i = 1; i < command.size(); ++i)
    words.push_back(LedPath(command[i], plan.mounts, ignored).value_or(command[i]));
  if (const auto led = LedPath(words[0], plan.mounts, ignored)) {
    words[0] = *led;
  } else if (!plan.program.root.empty()) {
    words = TRY(ArgumentsOf(plan.program, words, {}));
  } else {
    // Without an image's files a command of the Pod is one of this machine: it isn't the container's program again.
    words[0] = TRY(ProgramInPath(words[0], process.environment));
  }
  process.argv = std::move(words);
  process.log_file = "";
  return process;
}

}  // namespace capi::local
