#include "cli/declare/lint_release.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/strings.h"
#include "templating/render.h"

namespace capi::cli {
namespace {

// In the place of values that nobody looks at.
constexpr std::string_view kAnyValue = "value";

// The operator has these of its environment (--environment-variables), as it is started without that flag.
bool MayBeTheOperators(std::string_view variable) {
  return variable.starts_with("EXP_") || variable == "CLUSTER_TOPOLOGY";
}

class ReleaseLint {
 public:
  ReleaseLint(const ReleasedProvider& provider, const DeclaredObjects& objects, std::vector<Finding>& out)
      : declared_(provider.declared), release_(*provider.release), objects_(objects), out_(out) {}

  void Run() {
    const auto& secret = declared_.provider.spec.config_secret;
    if (secret) keys_ = objects_.SecretKeys(secret->ns, secret->name);
    additional_ = AdditionalManifests();
    templating::RenderResult result = Render(false);
    std::vector<std::string> missing = result.error ? result.error->missing : std::vector<std::string>();
    std::erase_if(missing, MayBeTheOperators);
    if (!missing.empty()) Missing(missing);
    if (result.error && !result.error->missing.empty()) result = Render(true);
    if (result.error) return Refused(result.error->error.message);
    for (const std::string& warning : result.output->warnings)
      out_.push_back(declared_.At(PathIn(warning), "no-effect", warning));
  }

 private:
  // With `all`, every variable has a value, so that the rest can be looked at.
  templating::RenderResult Render(bool all) const {
    const api::Provider& provider = declared_.provider;
    templating::RenderInput input;
    input.type = provider.id.type;
    input.name = provider.id.name;
    input.release = &release_;
    input.spec = &provider.spec;
    input.target_namespace = provider.id.ns;
    input.additional_manifests = additional_;
    input.check_types = false;  // the values aren't the real ones
    input.variables = [&, all](const std::string& name) -> std::optional<std::string> {
      bool given = all || (keys_ != nullptr && keys_->contains(name));
      return given ? std::optional<std::string>(kAnyValue) : std::nullopt;
    };
    return templating::Render(input);
  }

  std::string AdditionalManifests() {
    const auto& ref = declared_.provider.spec.additional_manifests;
    if (!ref) return "";
    const kube::Object* map = objects_.ConfigMap(ref->ns, ref->name);
    if (map == nullptr) {
      Finding finding = declared_.At("spec.additionalManifests", "not-checked",
                                     fmt::format("ConfigMap {}/{} isn't in these files", ref->ns, ref->name));
      finding.level = Level::kNote;
      out_.push_back(std::move(finding));
      return "";
    }
    const Json* text = Find(map->json(), {"data", "manifests"});
    if (text != nullptr && text->is_string()) return text->get<std::string>();
    out_.push_back(declared_.At(
        "spec.additionalManifests", "invalid",
        fmt::format("spec.additionalManifests: ConfigMap {}/{} has no key manifests under data", ref->ns, ref->name)));
    return "";
  }

  void Missing(const std::vector<std::string>& names) {
    const auto& secret = declared_.provider.spec.config_secret;
    const std::string of = fmt::format("{} {} needs", declared_.provider.id.name, release_.version.ToString());
    const std::string list = Join(names, ", ");
    if (!secret) {
      out_.push_back(declared_.At("spec", "missing-variable",
                                  fmt::format("{} [{}]: put {} into a Secret and name it in spec.configSecret", of,
                                              list, names.size() == 1 ? "it" : "them")));
    } else if (keys_ == nullptr) {
      out_.push_back(declared_.At(
          "spec.configSecret", "secret-elsewhere",
          fmt::format("{} [{}] in Secret {}/{}, which isn't in these files", of, list, secret->ns, secret->name)));
    } else {
      out_.push_back(
          declared_.At("spec.configSecret", "missing-variable",
                       fmt::format("{} [{}], which Secret {}/{} hasn't", of, list, secret->ns, secret->name)));
    }
  }

  void Refused(const std::string& message) {
    out_.push_back(declared_.At(PathIn(message), "release", fmt::format("{}: {}", release_.source, message)));
  }

  static std::string PathIn(std::string_view message) {
    std::string_view path = message.substr(0, message.find(": "));
    return path.starts_with("spec.") && path.find(' ') == path.npos ? std::string(path) : "spec.version";
  }

  const DeclaredProvider& declared_;
  const api::Release& release_;
  const DeclaredObjects& objects_;
  std::vector<Finding>& out_;
  const std::set<std::string>* keys_ = nullptr;
  std::string additional_;
};

std::string Where(const DeclaredProvider& declared) {
  return fmt::format("{}:{}", declared.document.file(), declared.document.PlaceOf({}).line);
}

}  // namespace

void LintDuplicates(const std::vector<ReleasedProvider>& providers, std::vector<Finding>& out) {
  std::map<std::pair<api::ProviderType, std::string>, const DeclaredProvider*> first;
  for (const ReleasedProvider& one : providers) {
    const api::ProviderId& id = one.declared.provider.id;
    auto [before, is_new] = first.emplace(std::pair(id.type, id.name), &one.declared);
    if (is_new) continue;
    out.push_back(one.declared.At("metadata.name", "duplicate-provider",
                                  fmt::format("{} is declared in {} already, and there can be one of them in a cluster",
                                              id.ToString(), Where(*before->second))));
  }
}

void LintContracts(const std::vector<ReleasedProvider>& providers, std::vector<Finding>& out) {
  auto core = std::find_if(providers.begin(), providers.end(), [](const ReleasedProvider& one) {
    return one.declared.provider.id.type == api::ProviderType::kCore && !one.contract.empty();
  });
  if (core == providers.end()) return;
  for (const ReleasedProvider& one : providers) {
    if (one.contract.empty() || api::Accepts(core->contract, one.contract)) continue;
    const api::ProviderId& id = one.declared.provider.id;
    if (id.type == api::ProviderType::kCore && !api::KnownContract(one.contract)) {
      out.push_back(one.declared.At("spec.version", "contract",
                                    fmt::format("{} has contract {}, which this program doesn't know",
                                                one.release->version.ToString(), one.contract)));
      continue;
    }
    out.push_back(
        one.declared.At("spec.version", "contract",
                        fmt::format("{} {} has contract {}, and the core provider {} of {} takes {}", id.name,
                                    one.release->version.ToString(), one.contract, core->release->version.ToString(),
                                    Where(core->declared), Join(api::AcceptedBy(core->contract), " and "))));
  }
}

void LintRelease(const ReleasedProvider& provider, const DeclaredObjects& objects, std::vector<Finding>& out) {
  if (provider.release) ReleaseLint(provider, objects, out).Run();
}

}  // namespace capi::cli
