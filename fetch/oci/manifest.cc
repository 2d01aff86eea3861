#include "fetch/oci/manifest.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "fetch/download.h"
#include "fetch/json_list.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kTitle = "org.opencontainers.image.title";
constexpr std::string_view kMetadata = "metadata.yaml", kComponents = "components.yaml";
constexpr size_t kMostOfTitle = 80;  // characters that are shown
constexpr size_t kMostFiles = 1'000;
constexpr size_t kMostKeptOfTitle = 300;  // a longer one is none that could be right

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// What a person can be shown.
bool IsPlain(std::string_view title) {
  return std::all_of(title.begin(), title.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; });
}

std::string_view TypeName(api::ProviderType type) { return api::KindOf(type).type_name; }

}  // namespace

Result<std::vector<OciFile>> ReadOciManifest(std::string_view text) {
  std::vector<OciFile> files;
  ListShape shape{.member = "layers", .names = {"annotations", kTitle, "digest", "size"}, .within = true};
  auto take = [&](const Json& layer) {
    OciFile file{GetString(layer, {"annotations", kTitle}).substr(0, kMostKeptOfTitle),
                 GetString(layer, {"digest"}).substr(0, kMostOfDigest), GetInt(layer, {"size"}, -1)};
    if (!file.title.empty() && files.size() <= kMostFiles) files.push_back(std::move(file));
  };
  Listed found = TRY(ReadList(text, shape, take));
  if (found == Listed::kNothing) {
    shape.member = "blobs";
    found = TRY(ReadList(text, shape, take));
  }
  if (found == Listed::kNothing) {
    shape.member = "manifests";
    if (TRY(ReadList(text, shape, [](const Json&) {})) != Listed::kNothing)
      return Error{Code::kUnsupported, "it is an index of several artifacts: name one of them by its digest", {}};
  }
  if (found != Listed::kList) return Invalid("it is no manifest of an artifact");
  if (files.size() > kMostFiles) return Invalid(fmt::format("it has more than {} files", kMostFiles));
  return files;
}

Result<OciFile> ChooseFile(const std::vector<OciFile>& files, const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    auto has_it = [&](const OciFile& file) { return file.title == title; };
    auto found = std::find_if(files.begin(), files.end(), has_it);
    if (found == files.end()) continue;
    auto other = std::find_if(found + 1, files.end(), has_it);
    if (other == files.end()) return *found;
    return Invalid(fmt::format("the artifact has two files with the title {}", title));
  }
  std::vector<std::string> there;
  for (const OciFile& file : files) {
    if (IsPlain(file.title)) there.push_back(Shorten(file.title, kMostOfTitle));
  }
  return Error{Code::kNotFound,
               fmt::format("the artifact has no file with the title {}; it has {}", Join(titles, " or "),
                           there.empty() ? "none with a title" : JoinNames(there, 10)),
               {}};
}

std::optional<FullTitle> ReadFullTitle(std::string_view title) {
  for (std::string_view file : {kMetadata, kComponents}) {
    if (!title.ends_with(file) || title.size() <= file.size()) continue;
    std::string_view rest = title.substr(0, title.size() - file.size());
    if (!rest.ends_with('-')) continue;
    rest.remove_suffix(1);
    for (size_t at = rest.find('-'); at != rest.npos; at = rest.find('-', at + 1)) {
      auto version = api::Version::Parse(rest.substr(at + 1));
      if (version.ok()) return FullTitle{std::string(rest.substr(0, at)), *std::move(version), std::string(file)};
    }
  }
  return std::nullopt;
}

bool IsFullTitle(std::string_view title) { return ReadFullTitle(title).has_value(); }

std::string TypedComponents(api::ProviderType type) { return fmt::format("{}-{}", TypeName(type), kComponents); }

std::vector<std::string> TitlesOf(api::ProviderType type, std::string_view name, const api::Version& version,
                                  std::string_view file) {
  const std::string with_v = version.ToString();
  auto full = [&](std::string_view text, std::string_view of) {
    return fmt::format("{}-{}-{}-{}", TypeName(type), name, text, of);
  };
  auto both = [&](std::string_view of) {  // a version may be written without its "v" (I12)
    return std::vector<std::string>{full(with_v, of), full(std::string_view(with_v).substr(1), of)};
  };
  std::vector<std::string> titles;
  if (file == kMetadata) {
    titles = both(kMetadata);
  } else if (file == TypedComponents(type)) {
    titles = both(kComponents);
  }
  titles.emplace_back(file);
  if (file == TypedComponents(type)) titles.emplace_back(kComponents);
  return titles;
}

std::vector<OciFile> FilesOfVersion(std::vector<OciFile> files, api::ProviderType type, std::string_view name,
                                    const api::Version& version) {
  auto is_full = [](const OciFile& file) { return IsFullTitle(file.title); };
  if (std::none_of(files.begin(), files.end(), is_full)) return files;
  std::vector<std::string> wanted;
  for (const std::string& file : {std::string(kMetadata), TypedComponents(type)}) {
    for (std::string& title : TitlesOf(type, name, version, file)) {
      if (IsFullTitle(title)) wanted.push_back(std::move(title));
    }
  }
  std::erase_if(
      files, [&](const OciFile& file) { return std::find(wanted.begin(), wanted.end(), file.title) == wanted.end(); });
  return files;
}

std::vector<api::Version> VersionsInTitles(const std::vector<OciFile>& files, api::ProviderType type,
                                           std::string_view name) {
  const std::string before = fmt::format("{}-{}-", TypeName(type), name), after = fmt::format("-{}", kComponents);
  std::vector<api::Version> versions;
  for (const OciFile& file : files) {
    std::string_view title = file.title;
    if (title.size() <= before.size() + after.size() || !title.starts_with(before) || !title.ends_with(after)) continue;
    title.remove_prefix(before.size());
    title.remove_suffix(after.size());
    if (auto version = api::Version::Parse(title); version.ok()) versions.push_back(*std::move(version));
  }
  return versions;
}

}  // namespace capi::fetch
