#include "api/validate/validate.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/reasons.h"
#include "api/release.h"
#include "api/release_choice.h"
#include "api/text.h"
#include "api/validate/folder_url.h"
#include "api/validate/git_reference.h"
#include "api/validate/oci_reference.h"
#include "api/validate/validate_patches.h"
#include "api/validate/validate_workload.h"
#include "base/http/url.h"
#include "base/strings.h"
#include "kube/meta/label_selector.h"

namespace capi::api {
namespace {

using Kind = FieldError::Kind;
using Errors = std::vector<FieldError>;

constexpr std::string_view kCoreName = "cluster-api";

void CheckVersion(const Provider& p, Errors& out) {
  if (p.spec.version.empty()) return;
  if (auto version = Version::Parse(p.spec.version); !version.ok()) {
    out.push_back(
        {Kind::kInvalid, "spec.version", p.spec.version, version.error().message, reason::kIncorrectVersionFormat});
  }
}

void CheckCoreName(const Provider& p, Errors& out) {
  if (p.id.type != ProviderType::kCore || p.id.name == kCoreName) return;
  out.push_back({Kind::kInvalid, "metadata.name", p.id.name,
                 fmt::format("Incorrect CoreProvider name: {}. It should be {}", p.id.name, kCoreName),
                 reason::kIncorrectCoreProviderNameReason});
}

void CheckReference(const ObjectRef& ref, const std::string& path, Errors& out) {
  if (ref.name.empty()) {
    out.push_back({Kind::kRequired, path + ".name", "", "name of the object", reason::kInvalidSpec});
  } else if (!IsDns1123Subdomain(ref.name)) {
    out.push_back(
        {Kind::kInvalid, path + ".name", ref.name, "must be a lower-case DNS-1123 subdomain", reason::kInvalidSpec});
  }
  if (!ref.ns.empty() && !IsDns1123Label(ref.ns)) {
    out.push_back(
        {Kind::kInvalid, path + ".namespace", ref.ns, "must be a lower-case DNS-1123 label", reason::kInvalidSpec});
  }
}

void CheckReference(const std::optional<ObjectRef>& ref, const std::string& path, Errors& out) {
  if (ref) CheckReference(*ref, path, out);
}

int CountSources(const FetchConfig& fetch) {
  return !fetch.oci.empty() + !fetch.url.empty() + fetch.selector.has_value() + fetch.git.has_value();
}

// I2, I5: exactly one source. A provider that a registry knows may do without.
void CheckSources(const Provider& p, bool known, Errors& out) {
  const FetchConfig none;
  const FetchConfig& fetch = p.spec.fetch_config ? *p.spec.fetch_config : none;
  int sources = CountSources(fetch);
  if (sources == 0 && !known) {
    out.push_back({Kind::kRequired, "spec.fetchConfig", "",
                   "Either Selector, OCI URL or provider URL must be provided for a not predefined provider",
                   reason::kFetchConfigValidationError});
  }
  if (sources < 2) return;
  bool as_known = sources == 2 && fetch.selector && !fetch.url.empty();
  out.push_back({Kind::kInvalid, "spec.fetchConfig", "",
                 as_known ? "Only one of Selector and URL must be provided, not both"
                          : "Must specify one and only one of {oci, url, selector, git}",
                 reason::kFetchConfigValidationError});
}

// T14. Who asks for another method isn't left without one.
void CheckVerify(const FetchConfig& fetch, const std::string& path, Errors& out) {
  if (!fetch.verify) return;
  if (fetch.verify->provider != "cosign") {
    out.push_back({Kind::kUnsupported, path + ".provider", fetch.verify->provider, "supported values: \"cosign\"",
                   reason::kInvalidSpec});
  }
  CheckReference(fetch.verify->secret_ref, path + ".secretRef", out);
}

// What would seem to open a source (T2).
void CheckUnsupported(const FetchConfig& fetch, const std::string& path, Errors& out) {
  if (fetch.secret_ref && fetch.oci.empty()) {
    out.push_back(
        {Kind::kForbidden, path + "secretRef", "",
         "is for oci alone; put a token for GitHub (key github-token) or GitLab (key gitlab-access-token) into the "
         "Secret of spec.configSecret, and name that of a git repository with git.secretRef",
         reason::kInvalidSpec});
  }
}

// "https://{host}/api/v4/projects/{project}/packages/generic/{package}/{version}/{file}".
bool IsOnGitLab(std::string_view url) {
  constexpr std::string_view kScheme = "https://";
  if (!url.starts_with(kScheme)) return false;
  std::vector<std::string> path = Split(url.substr(kScheme.size()), '/');
  if (path.size() != 10 || path[0].find('@') != std::string::npos) return false;
  return path[1] == "api" && path[2] == "v4" && path[3] == "projects" && path[5] == "packages" &&
         path[6] == "generic" &&
         std::none_of(path.begin(), path.end(), [](const std::string& part) { return part.empty() || part == ".."; });
}

// Whatever else is named there, a file or another host, nobody reads.
void CheckUrl(const FetchConfig& fetch, const std::string& path, Errors& out) {
  constexpr std::string_view kGitHub = "https://github.com/";
  if (fetch.url.empty() || CountSources(fetch) > 1 || fetch.url.starts_with(kGitHub)) return;
  auto folder = ParseHttpFolderUrl(fetch.url);
  if (IsOnGitLab(fetch.url) || folder.ok()) return;
  out.push_back(
      {Kind::kInvalid, path, http::PrintableUrl(fetch.url),
       "only releases on GitHub and GitLab, and in folders on servers, are supported: write "
       "https://github.com/{owner}/{repository}/releases/{latest|version-tag}/{components.yaml} or "
       "https://{host}/api/v4/projects/{project}/packages/generic/{package}/{latest|version}/{components.yaml} or "
       "https://{host}/{path}/{latest|version}/{components.yaml}; no folder: " +
           folder.error().message,
       reason::kInvalidSpec});
}

void CheckOci(const FetchConfig& fetch, const std::string& path, Errors& out) {
  if (fetch.oci.empty() || CountSources(fetch) > 1) return;
  if (auto reference = ParseOciReference(fetch.oci); !reference.ok()) {
    const bool shown = fetch.oci.find_first_of("@?") == fetch.oci.npos;
    out.push_back({Kind::kInvalid, path, shown ? fetch.oci : "", reference.error().message, reason::kInvalidSpec});
  }
}

// T15.
void CheckGit(const FetchConfig& fetch, const std::string& path, Errors& out) {
  if (!fetch.git || CountSources(fetch) > 1) return;
  std::string field;
  auto reference = ParseGitReference(*fetch.git, &field);
  if (!reference.ok()) {
    // What isn't understood may have a password in it: it isn't shown.
    out.push_back({Kind::kInvalid, path + "." + field, "", reference.error().message, reason::kInvalidSpec});
  } else if (reference->scheme == GitReference::Scheme::kSsh && !fetch.git->secret_ref) {
    out.push_back({Kind::kRequired, path + ".secretRef", "",
                   "a Secret with the keys identity and known_hosts, for a repository over ssh", reason::kInvalidSpec});
  }
  CheckReference(fetch.git->secret_ref, path + ".secretRef", out);
}

void CheckFetchConfig(const Provider& p, bool known, Errors& out) {
  CheckSources(p, known, out);
  if (!p.spec.fetch_config) return;
  const FetchConfig& fetch = *p.spec.fetch_config;
  const std::string path = "spec.fetchConfig.";
  if (fetch.selector) {
    if (auto selector = kube::LabelSelector::FromJson(*fetch.selector); !selector.ok()) {
      out.push_back(
          {Kind::kInvalid, path + "selector", "", selector.error().message, reason::kFetchConfigValidationError});
    }
  }
  if (!fetch.digest.empty() && !IsSha256Digest(fetch.digest)) {
    out.push_back({Kind::kInvalid, path + "digest", fetch.digest,
                   "must be sha256: and 64 lower-case hexadecimal digits", reason::kInvalidSpec});
  }
  CheckUrl(fetch, path + "url", out);
  CheckOci(fetch, path + "oci", out);
  CheckGit(fetch, path + "git", out);
  if (!fetch.oci.empty()) CheckReference(fetch.secret_ref, path + "secretRef", out);
  CheckVerify(fetch, path + "verify", out);
  CheckUnsupported(fetch, path, out);
}

void CheckServiceAccount(const std::string& name, Errors& out) {
  if (name.empty() || IsDns1123Subdomain(name)) return;
  out.push_back({Kind::kInvalid, "spec.serviceAccountName", name, "must be a lower-case DNS-1123 subdomain",
                 reason::kInvalidSpec});
}

void CheckRollout(const Provider& p, Errors& out) {
  if (p.spec.rollout.timeout > Millis(0)) return;
  out.push_back({Kind::kInvalid, "spec.rollout.timeout", "", "must be greater than 0", reason::kInvalidSpec});
}

// U13: what names one release alone has no newer one.
void CheckUpgradePolicy(const Provider& p, Errors& out) {
  if (p.spec.upgrade_policy.type == UpgradeType::kNone || !NamesOneRelease(p.spec)) return;
  const std::string_view pins =
      p.spec.fetch_config->digest.empty() ? "spec.fetchConfig.oci, with its tag or digest," : "spec.fetchConfig.digest";
  out.push_back({Kind::kForbidden, "spec.upgradePolicy.type", "",
                 fmt::format("{} names one release alone: leave one of the two out", pins), reason::kInvalidSpec});
}

}  // namespace

std::string FieldError::ToString() const { return path + ": " + Body(); }

std::string FieldError::Body() const {
  std::string_view kind_text;
  switch (kind) {
    case Kind::kInvalid: kind_text = "Invalid value"; break;
    case Kind::kRequired: kind_text = "Required value"; break;
    case Kind::kForbidden: kind_text = "Forbidden"; break;
    case Kind::kUnsupported: kind_text = "Unsupported value"; break;
    case Kind::kDuplicate: return fmt::format("Duplicate value: {}", value);
  }
  std::string out = fmt::format("{}: ", kind_text);
  if (!value.empty()) out += GoQuote(value) + ": ";
  return out + detail;
}

std::vector<FieldError> Validate(const Provider& p, bool known) {
  Errors out;
  CheckVersion(p, out);
  CheckCoreName(p, out);
  CheckFetchConfig(p, known, out);
  CheckReference(p.spec.config_secret, "spec.configSecret", out);
  CheckReference(p.spec.additional_manifests, "spec.additionalManifests", out);
  CheckServiceAccount(p.spec.service_account, out);
  CheckManager(p.spec.manager, "spec.manager", out);
  CheckDeployment(p.spec.deployment, "spec.deployment", out);
  for (const auto& [name, customisation] : p.spec.additional_deployments) {
    std::string path = fmt::format("spec.additionalDeployments[{}]", name);
    CheckManager(customisation.manager, path + ".manager", out);
    CheckDeployment(customisation.deployment, path + ".deployment", out);
  }
  CheckPatches(p.spec, out);
  CheckRollout(p, out);
  CheckUpgradePolicy(p, out);
  return out;
}

std::vector<ForeignReference> ForeignReferences(const Provider& p) {
  std::vector<ForeignReference> out;
  auto look = [&](const std::optional<ObjectRef>& ref, std::string_view path, const char* kind = "Secret") {
    if (!ref || ref->ns.empty() || ref->ns == p.id.ns) return;
    out.push_back({fmt::format("spec.{}.namespace", path), ref->ns, kind, ref->name});
  };
  look(p.spec.config_secret, "configSecret");
  look(p.spec.additional_manifests, "additionalManifests", "ConfigMap");
  if (!p.spec.fetch_config) return out;
  const FetchConfig& fetch = *p.spec.fetch_config;
  look(fetch.secret_ref, "fetchConfig.secretRef");
  if (fetch.git) look(fetch.git->secret_ref, "fetchConfig.git.secretRef");
  if (fetch.verify) look(fetch.verify->secret_ref, "fetchConfig.verify.secretRef");
  return out;
}

std::vector<FieldError> ValidateUpdate(const Provider& old, const Provider& p) {
  if (!old.spec.manager || !p.spec.manager) return {};
  if (!old.spec.manager->debug || !p.spec.manager->debug || *old.spec.manager == *p.spec.manager) return {};
  return {{Kind::kForbidden, "spec.manager", "", "can't change while debug is true; set debug to false first",
           reason::kInvalidSpec}};
}

}  // namespace capi::api
