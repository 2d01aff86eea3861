#include "cli/generate/generate_cluster.h"

#include <fmt/format.h>

#include <charconv>
#include <set>

#include "api/text.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/frame/lookup.h"
#include "cli/frame/output.h"
#include "cli/frame/table.h"
#include "cli/generate/cluster_classes.h"
#include "cli/generate/workload_source.h"

namespace capi::cli {
namespace {

// What Kubernetes says of names that are none.
constexpr std::string_view kNoSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kNoLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// A count that is a flag, else a variable, else `otherwise`; as `name` and `words` call it.
struct Count {
  const char* name;
  const char* words;
  std::optional<int> flag;
  int otherwise, least;
};

Result<int> ValueOf(const Count& count, const Config& config) {
  int value = count.flag.value_or(count.otherwise);
  auto set = count.flag ? std::nullopt : TRY(config.Get(count.name));
  if (set) {
    auto read = std::from_chars(set->data(), set->data() + set->size(), value);
    if (read.ec != std::errc() || read.ptr != set->data() + set->size())
      return Invalid(fmt::format("invalid value for {} set", count.name));
  }
  if (value >= count.least) return value;
  return Invalid(fmt::format("invalid {}. Please use a number greater than or equal to {}", count.words, count.least));
}

// The namespace for the objects; "" only where the variables are to be listed and no cluster says it.
Result<std::string> NamespaceOf(const GenerateClusterOptions& options, MaybeCluster& cluster) {
  if (!options.target_namespace.empty()) return options.target_namespace;
  auto found = cluster.Get();
  if (found.ok()) return (*found)->ns();
  if (options.list_variables) return std::string();
  return found.error().With(
      "management cluster not available. Cannot auto-discover target namespace. Please specify a target namespace");
}

Status Print(const std::vector<kube::Object>& objects, const GenerateClusterOptions& options, World& world) {
  std::string yaml;
  for (const kube::Object& object : objects) {
    if (!yaml.empty()) yaml += "---\n";
    yaml += ToYaml(object.json());
  }
  if (!options.write_to.empty() && options.write_to != "-") return WriteOutputFile(options.write_to, yaml);
  world.out << yaml;
  return Ok();
}

// The variables that the template and the ClusterClasses have; of one that both have the template's default counts.
Result<templating::VariableDefaults> AllDefaults(const WorkloadTemplate& found, const std::vector<ClassText>& classes) {
  auto defaults = TRY_WITH(templating::DefaultsOf(found.text), found.source);
  for (const ClassText& one : classes) defaults.merge(TRY_WITH(templating::DefaultsOf(one.text), one.file));
  return defaults;
}

// The objects of the ClusterClasses that are missing, and of the template.
Result<std::vector<kube::Object>> Render(const Context& ctx, const Config& config, const WorkloadTemplate& found,
                                         Lookup& lookup, const std::string& ns, MaybeCluster& cluster, Notes& notes) {
  auto render = [&](const std::string& text, const std::string& what) -> Result<std::vector<kube::Object>> {
    auto objects = templating::RenderTemplate(text, lookup.function(), ns);
    if (lookup.error()) return *lookup.error();
    if (objects.ok() || objects.error().message.starts_with("value for variables")) return objects;
    return objects.error().With(what);
  };
  std::vector<kube::Object> objects = TRY(render(found.text, found.source));
  if (!found.release) return objects;
  std::vector<kube::Object> all;
  for (const ClassText& one : TRY(MissingClasses(ctx, config, *found.release, objects, ns, cluster, notes))) {
    std::vector<kube::Object> brought = TRY(render(one.text, one.file));
    TRY(CheckAreNew(ctx, brought, cluster));
    for (kube::Object& object : brought) all.push_back(std::move(object));
  }
  for (kube::Object& object : objects) all.push_back(std::move(object));
  return all;
}

// The template's ClusterClasses are known once it is rendered, here without the values that are yet to be set. Where it
// can't be rendered so, its variables are listed without those of its classes.
Result<std::vector<ClassText>> ClassesOf(const Context& ctx, const Config& config, const WorkloadTemplate& found,
                                         Lookup& lookup, const std::string& ns, MaybeCluster& cluster, Notes& notes) {
  if (!found.release) return std::vector<ClassText>();
  auto defaults = TRY_WITH(templating::DefaultsOf(found.text), found.source);
  templating::Variables values = lookup.function();
  auto value_of = [&](const std::string& name) -> std::optional<std::string> {
    auto value = values(name);
    auto has_default = defaults.find(name);
    if (value || has_default == defaults.end() || has_default->second) return value;
    return std::string(kUnknownValue);
  };
  auto objects = templating::RenderTemplate(found.text, value_of, ns);
  if (!objects.ok()) return std::vector<ClassText>();
  return MissingClasses(ctx, config, *found.release, *objects, ns, cluster, notes);
}

}  // namespace

Result<std::map<std::string, std::string>> VariablesOf(const GenerateClusterOptions& options, const Config& config) {
  const std::string& name = options.names.front();
  if (!IsDns1123Subdomain(name)) return Invalid(fmt::format("invalid cluster name: {}", kNoSubdomain));
  if (!IsDns1123Label(options.target_namespace)) return Invalid(fmt::format("invalid target-namespace: {}", kNoLabel));
  std::map<std::string, std::string> out = {{"CLUSTER_NAME", name}, {"NAMESPACE", options.target_namespace}};
  std::string version = options.kubernetes_version;
  if (version.empty()) version = TRY(config.Get("KUBERNETES_VERSION")).value_or("");
  if (!version.empty()) {
    if (!api::Version::Parse(version).ok())
      return Invalid("invalid KubernetesVersion. Please use a semantic version number");
    out["KUBERNETES_VERSION"] = version;
  }
  const Count counts[] = {
      {"CONTROL_PLANE_MACHINE_COUNT", "ControlPlaneMachineCount", options.control_plane_machines, 1, 1},
      {"WORKER_MACHINE_COUNT", "WorkerMachineCount", options.worker_machines, 0, 0},
  };
  for (const Count& count : counts) out[count.name] = std::to_string(TRY(ValueOf(count, config)));
  return out;
}

std::string ListVariables(templating::VariableDefaults defaults, const GenerateClusterOptions& options,
                          const std::string& ns) {
  std::map<std::string, std::string> known = {
      {"CLUSTER_NAME", options.names.front()},
      {"NAMESPACE", ns.empty() ? "current Namespace in the KubeConfig file" : ns},
      {"CONTROL_PLANE_MACHINE_COUNT", std::to_string(options.control_plane_machines.value_or(1))},
      {"WORKER_MACHINE_COUNT", std::to_string(options.worker_machines.value_or(0))},
  };
  if (!options.kubernetes_version.empty()) known["KUBERNETES_VERSION"] = options.kubernetes_version;
  std::string required;
  std::vector<std::vector<std::string>> optional;
  for (const auto& [name, value] : defaults) {
    auto own = known.find(name);
    if (own == known.end() && !value) {
      required += fmt::format("  - {}\n", name);
      continue;
    }
    std::string shown = own != known.end() ? own->second : *value;
    if (own == known.end() && !shown.empty() && !shown.starts_with('"')) shown = api::GoQuote(shown);
    optional.push_back({"  - " + name, fmt::format("(defaults to {})", shown)});
  }
  std::string out;
  if (!required.empty()) out += "Required Variables:\n" + required;
  if (!optional.empty()) out += "\nOptional Variables:\n" + FormatTable(optional, 2);
  return out + "\n";
}

Status GenerateCluster(const Context& ctx, const GlobalOptions& global, const GenerateClusterOptions& given,
                       World& world) {
  if (given.names.size() != 1 || given.names[0].empty()) return Invalid("please specify a cluster name");
  TRY(CheckSources(given));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  MaybeCluster cluster(given.cluster, world.getenv);
  GenerateClusterOptions options = given;
  options.target_namespace = TRY(NamespaceOf(given, cluster));
  std::map<std::string, std::string> flags;
  if (!options.target_namespace.empty()) flags = TRY(VariablesOf(options, config));
  Lookup lookup(config, flags);
  WorkloadTemplate found = TRY(FindTemplate(ctx, config, options, cluster, world, notes));
  if (options.list_variables) {
    auto classes = TRY(ClassesOf(ctx, config, found, lookup, options.target_namespace, cluster, notes));
    world.out << ListVariables(TRY(AllDefaults(found, classes)), options, given.target_namespace);
    return Ok();
  }
  auto objects = Render(ctx, config, found, lookup, options.target_namespace, cluster, notes);
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);
  return Print(TRY(std::move(objects)), options, world);
}

}  // namespace capi::cli
