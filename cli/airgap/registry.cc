#include "cli/airgap/registry.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "cli/frame/provider_release.h"

namespace capi::cli {

fetch::OciOptions RegistryOptionsOf(const Config& config) {
  fetch::OciOptions options = OciOptionsOf(config);
  std::map<std::string, std::string> named;
  for (const char* name : {"OCI_USERNAME", "OCI_PASSWORD", "OCI_ACCESS_TOKEN", "OCI_REFRESH_TOKEN"})
    named[name] = config.getenv()(name).value_or("");
  options.credentials = fetch::OciCredentialsIn(named);
  return options;
}

std::string TagOf(const std::string& version) { return ReplaceAll(version, "+", "_"); }

std::string Publication::Named() const {
  api::OciReference named = reference;
  named.digest = fetch::OciDigest(artifact.manifest);
  return named.ToString();
}

fetch::BeforeWait SayWaits(Notes& notes) {
  return [&notes](const Error& why, Millis wait) {
    const auto seconds = std::chrono::ceil<Seconds>(wait).count();
    notes.Say(0, "Asking the registry once more", {{"in", fmt::format("{}s", seconds)}, {"after", why.message}});
  };
}

Status LookAtAll(const Context& ctx, const fetch::OciOptions& options, bool force,
                 std::vector<Publication>& publications, Notes& notes) {
  for (Publication& one : publications) {
    const std::string there = TRY(fetch::OciPush(one.reference, options, SayWaits(notes)).Tagged(ctx));
    one.there = there == fetch::OciDigest(one.artifact.manifest);
    one.before = there;
    if (one.there || there.empty() || force) continue;
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} is there with another content ({}): take another tag, or --force, which has the tag "
                             "name this one",
                             one.reference.ToString(), there),
                 {}};
  }
  return Ok();
}

Status WriteAll(const Context& ctx, const fetch::OciOptions& options, bool force,
                const std::vector<Publication>& publications, Notes& notes) {
  for (const Publication& one : publications) {
    const auto before = force ? std::nullopt : std::optional(one.before);
    if (one.there) continue;
    fetch::OciPush push(one.reference, options, SayWaits(notes));
    TRY(push.Write(ctx, one.artifact, before));
  }
  return Ok();
}

}  // namespace capi::cli
