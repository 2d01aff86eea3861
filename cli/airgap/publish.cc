#include "cli/airgap/publish.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "api/release.h"
#include "api/text.h"
#include "base/files.h"
#include "base/strings.h"
#include "cli/airgap/collect.h"
#include "cli/airgap/registry.h"
#include "cli/frame/structured.h"
#include "fetch/oci/manifest.h"
#include "fetch/text.h"

namespace capi::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetadataFile = "metadata.yaml";
constexpr size_t kMostFiles = 100;

using Files = std::map<std::string, std::string>;  // by title

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool IsMetadata(std::string_view title) {
  return title == kMetadataFile || (title.ends_with("-metadata.yaml") && fetch::IsFullTitle(title));
}

bool IsComponents(std::string_view title) {
  const bool typed = std::any_of(api::kProviderKinds.begin(), api::kProviderKinds.end(),
                                 [&](const api::ProviderKind& kind) { return kind.components_file == title; });
  return typed || title == "components.yaml" || (title.ends_with("-components.yaml") && fetch::IsFullTitle(title));
}

Status AddFile(const std::string& path, Files& files) {
  const std::string title = fs::path(path).filename();
  const bool plain =
      !title.empty() && std::all_of(title.begin(), title.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (!plain)
    return Invalid(fmt::format("{}: its name has characters that no file of a release has", api::GoQuote(path)));
  std::error_code failed;
  if (!fs::is_regular_file(path, failed)) return Error{Code::kNotFound, path + ": there is no such file", {}};
  if (files.size() == kMostFiles) return Invalid(fmt::format("these are more than {} files", kMostFiles));
  if (!files.emplace(title, TRY(ReadFile(path, api::kMaxReleaseBytes))).second)
    return Invalid(fmt::format("there are two files with the name {}", title));
  return Ok();
}

// A folder may hold anything beside a release: that stays where it is.
Status AddFolder(const std::string& folder, Files& files) {
  for (const std::string& name : TRY(ListDir(folder))) {
    if (IsMetadata(name) || IsComponents(name)) TRY(AddFile(folder + "/" + name, files));
  }
  return Ok();
}

// What both files of a release have in common, with the "v" that each may have or not (I12):
// "infrastructure-aws-v2.0.0";
// "" where the titles don't say it.
std::string ReleaseIn(const std::optional<fetch::FullTitle>& full) {
  return full ? fmt::format("{}-{}", full->provider, full->version.ToString()) : "";
}

Status CheckMetadata(const std::string& title, const std::string& text, const std::optional<api::Version>& version) {
  auto read = TRY_WITH(api::Metadata::Parse(text, title), title);
  if (!version || read.ContractOf(*version)) return Ok();
  return Invalid(fmt::format("{} names no release series of {}", title, version->ToString()));
}

// Each has another beside it.
Status CheckPairs(const std::map<std::string, std::string>& some, const std::map<std::string, std::string>& others,
                  std::string_view file) {
  for (const auto& [release, title] : some) {
    if (!release.empty() && !others.contains(release))
      return Invalid(fmt::format("there is no {}-{} beside {}", release, file, title));
  }
  return Ok();
}

Error NoRelease(const Files& files) {
  std::vector<std::string> names;
  for (const auto& [title, text] : files) names.push_back(title);
  return Invalid(
      fmt::format("there is no release: a metadata.yaml and a components file, like infrastructure-components.yaml, "
                  "are needed, and there {} {}",
                  names.size() == 1 ? "is" : "are", names.empty() ? "none" : JoinNames(names, 10)));
}

// What whoever reads the artifact would refuse.
Status CheckFiles(const Files& files, const std::optional<api::Version>& tagged) {
  std::map<std::string, std::string> metadata, components;  // titles by release
  for (const auto& [title, text] : files) {
    const auto full = fetch::ReadFullTitle(title);
    if (tagged && full && !api::SameVersion(full->version.ToString(), tagged->ToString()))
      return Invalid(fmt::format("{} is of another version than {}, as the tag says", title, tagged->ToString()));
    const bool describes = IsMetadata(title);
    if (!describes && !IsComponents(title)) continue;
    (describes ? metadata : components).emplace(ReleaseIn(full), title);
    TRY(fetch::CheckText(text, title));
    const auto named = full ? std::optional(full->version) : std::nullopt;
    if (describes) TRY(CheckMetadata(title, text, tagged ? tagged : named));
  }
  if (metadata.empty() || components.empty()) return NoRelease(files);
  TRY(CheckPairs(metadata, components, "components.yaml"));
  TRY(CheckPairs(components, metadata, kMetadataFile));
  return metadata.contains("") == components.contains("") ? Ok() : Status(NoRelease(files));
}

Result<std::optional<ProviderChoice>> ChoiceOf(const PublishOptions& options) {
  auto choices = TRY(ChooseProviders(options.providers, false));
  if (choices.size() > 1) return Invalid("name one provider: an artifact is of one");
  if (choices.empty()) return std::optional<ProviderChoice>();
  if (!options.folder.empty()) return Invalid("name a provider, or a folder with --dir: not both");
  return std::optional(choices.front());
}

Result<api::OciReference> ReferenceOf(const PublishOptions& options) {
  if (options.artifact_url.empty())
    return Invalid("name where to publish it: --artifact-url oci://registry.example.com/providers/aws:v2.11.1");
  auto reference = TRY_WITH(api::ParseOciReference(options.artifact_url), "--artifact-url");
  if (!reference.digest.empty()) return Invalid("--artifact-url: a digest is what comes of it: name a tag");
  return reference;
}

std::optional<api::Version> VersionOfTag(const std::string& tag) {
  auto version = api::Version::Parse(ReplaceAll(tag, "_", "+"));
  return version.ok() ? std::optional(*version) : std::nullopt;
}

Result<Publication> Prepare(const Context& ctx, const Config& config, const PublishOptions& options, Notes& notes) {
  Publication out{.reference = TRY(ReferenceOf(options)), .artifact = {}};
  const auto choice = TRY(ChoiceOf(options));
  Files files;
  if (choice) {
    ProviderRelease found = TRY(CollectOne(ctx, config, *choice, {}, notes));
    files[std::string(kMetadataFile)] = found.release.metadata;
    files[std::string(api::KindOf(choice->type).components_file)] = found.release.components;
    if (out.reference.tag.empty()) out.reference.tag = TagOf(found.release.version.ToString());
    const auto tagged = VersionOfTag(out.reference.tag);
    if (tagged && !api::SameVersion(tagged->ToString(), found.release.version.ToString()))
      return Invalid(fmt::format("--artifact-url: the tag says {}, and the release is {}", out.reference.tag,
                                 found.release.version.ToString()));
  } else if (!options.folder.empty() || options.files.empty()) {
    TRY_WITH(AddFolder(options.folder.empty() ? "." : options.folder, files), "--dir");
  }
  for (const std::string& path : options.files) TRY_WITH(AddFile(path, files), "--file");
  if (out.reference.tag.empty())
    return Invalid("--artifact-url: name a tag, the release's version: " + out.reference.ToString() + ":v1.2.3");
  TRY(CheckFiles(files, VersionOfTag(out.reference.tag)));
  out.artifact = fetch::PackArtifact(fetch::kReleaseArtifact, files);
  return out;
}

}  // namespace

Status Publish(const Context& ctx, const GlobalOptions& global, const PublishOptions& options, World& world) {
  const OutputFormat format = TRY(ParseOutputFormat(options.output));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::vector<Publication> one = {TRY(Prepare(ctx, config, options, notes))};
  const fetch::OciOptions registry = RegistryOptionsOf(config);
  TRY(LookAtAll(ctx, registry, options.force, one, notes));
  TRY(WriteAll(ctx, registry, options.force, one, notes));
  const std::string named = one.front().Named();
  if (one.front().there) notes.Say(0, "It is there already, as it is", {{"artifact", named}});
  Answer answer{.table = named + "\n", .names = {named}};
  answer.facts = {{"reference", one.front().reference.ToString()},
                  {"digest", fetch::OciDigest(one.front().artifact.manifest)},
                  {"written", !one.front().there}};
  world.out << Format(format, answer);
  return Ok();
}

}  // namespace capi::cli
