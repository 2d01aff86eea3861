#include "cli/local_clusters/manifests.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/encoding.h"
#include "base/strings.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/lookup.h"
#include "cli/generate/cluster_classes.h"
#include "cli/generate/workload_source.h"
#include "cli/local_clusters/manifest_folder.h"
#include "cli/local_clusters/parts.h"

namespace capi::cli::local_clusters {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// Digits that no template has by chance.
std::string RandomMark() {
  std::string out;
  for (unsigned char byte : RandomBytes(16)) out += fmt::format("{:03}", byte);
  return out;
}

CredentialRules RulesOf(const ManifestsOptions& options, const std::map<std::string, std::string>& flags) {
  CredentialRules out;
  out.yes = {options.credentials.begin(), options.credentials.end()};
  out.no = {options.no_credentials.begin(), options.no_credentials.end()};
  for (const auto& [name, value] : flags) out.plain.insert(name);
  out.plain.insert("KUBERNETES_VERSION");
  return out;
}

Status Check(const ManifestsOptions& options) {
  if (options.generate.names.size() != 1 || options.generate.names[0].empty())
    return Invalid("please specify a cluster name");
  if (options.folder.empty()) return Invalid("please specify a folder for the files with -o");
  if (options.generate.from.empty() && options.generate.infrastructure.empty())
    return Invalid(
        "please specify a template: --from (a file, a URL, or - for standard input), or --infrastructure "
        "NAME:VERSION for a provider's");
  return CheckSources(options.generate);
}

// A credential that was named and isn't marked would lie in the files with its value.
Status CheckRules(const CredentialRules& rules) {
  for (const std::string& name : rules.yes) {
    if (rules.no.contains(name))
      return Invalid(fmt::format("--credential and --no-credential both name {}: name it with one of them", name));
    if (rules.plain.contains(name))
      return Invalid(fmt::format("--credential {}: it is in the files with its value always, and no credential", name));
  }
  for (const std::string& name : rules.no) {
    if (rules.plain.contains(name))
      return Invalid(fmt::format("--no-credential {}: other flags give its value, and it is none in any case", name));
  }
  return Ok();
}

// `known`: the variables of all texts.
Status CheckNames(const CredentialRules& rules, const std::set<std::string>& known) {
  auto check = [&](const std::set<std::string>& names, std::string_view flag) -> Status {
    for (const std::string& name : names) {
      if (!known.contains(name))
        return Invalid(fmt::format("{} {}: the template has no such variable. It has {}", flag, name,
                                   known.empty() ? "none" : Join(std::vector(known.begin(), known.end()), ", ")));
    }
    return Ok();
  };
  TRY(check(rules.yes, "--credential"));
  return check(rules.no, "--no-credential");
}

// What the cluster needs before all else: a namespace, unless the template brings it.
void AddNamespace(std::vector<kube::Object>& objects, const std::string& ns) {
  auto is_it = [&](const kube::Object& one) { return PartOf(one, false) == Part::kNamespace && one.name() == ns; };
  if (std::any_of(objects.begin(), objects.end(), is_it)) return;
  objects.insert(objects.begin(),
                 kube::Object(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", ns}}}}));
}

void TellCredentials(const std::vector<kube::Object>& objects, const std::set<std::string>& defaulted, Notes& notes,
                     World& world) {
  for (const std::string& name : defaulted)
    notes.Warn(fmt::format(
        "{} isn't set: the template's default for it is in the files, whatever is set later. To have another "
        "value, set it and write the files anew, or edit them",
        name));
  std::set<std::string> names;
  for (const kube::Object& one : objects) {
    for (std::string& name : ReferencesOf(one)) names.insert(std::move(name));
  }
  if (names.empty()) return;
  world.err << fmt::format("Credentials aren't in the files. `local apply` takes them from the environment: {}\n",
                           Join(std::vector<std::string>(names.begin(), names.end()), ", "));
}

}  // namespace

Status Manifests(const Context& ctx, const GlobalOptions& global, const ManifestsOptions& options, World& world) {
  TRY(Check(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  GenerateClusterOptions generate = options.generate;
  if (generate.target_namespace.empty()) generate.target_namespace = "default";
  const std::string& ns = generate.target_namespace;
  auto flags = TRY(VariablesOf(generate, config));
  const CredentialRules rules = RulesOf(options, flags);
  TRY(CheckRules(rules));
  Lookup lookup(config, flags);
  MaybeCluster no_cluster = MaybeCluster::None();
  WorkloadTemplate found = TRY(FindTemplate(ctx, config, generate, no_cluster, world, notes));
  const std::string mark = RandomMark();
  std::set<std::string> defaulted, known;
  auto render = [&](const std::string& text, const std::string& what) -> Result<std::vector<kube::Object>> {
    auto objects = RenderWithReferences(text, lookup.function(), rules, ns, mark, &defaulted);
    if (lookup.error()) return *lookup.error();
    known.merge(VariablesIn(text));
    return TRY_WITH(std::move(objects), what);
  };
  std::vector<kube::Object> objects = TRY(render(found.text, found.source));
  if (found.release) {
    for (const ClassText& one : TRY(MissingClasses(ctx, config, *found.release, objects, ns, no_cluster, notes))) {
      for (kube::Object& object : TRY(render(one.text, one.file))) objects.push_back(std::move(object));
    }
  }
  TRY(CheckNames(rules, known));
  for (const std::string& surprise : config.Surprises()) notes.Warn(surprise);
  if (!std::any_of(objects.begin(), objects.end(), IsCluster))
    return Invalid(fmt::format("{} has no Cluster", found.source));
  AddNamespace(objects, ns);
  std::vector<std::string> files;
  {
    Interrupt interrupt;  // Ctrl-C would leave some of them
    files = TRY(WriteManifests(options.folder, objects));
  }
  for (const std::string& file : files) world.out << fmt::format("{}/{}\n", options.folder, file);
  TellCredentials(objects, defaulted, notes, world);
  return Ok();
}

}  // namespace capi::cli::local_clusters
