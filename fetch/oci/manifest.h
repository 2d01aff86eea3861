// What an artifact holds, by its manifest, and which of it are a provider's files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/version.h"
#include "base/result.h"

namespace capi::fetch {

// A file of an artifact. A value.
struct OciFile {
  std::string title;   // annotation org.opencontainers.image.title
  std::string digest;  // as named, not checked
  std::int64_t size = -1;
};

// The files of a manifest: the layers of an image manifest, or the blobs of an artifact manifest, that have a title.
// Media types don't matter. Only what is asked for is kept, as it is read (F2). kUnsupported for an index,
// kInvalidArgument for what is no manifest, or has more than a thousand files.
Result<std::vector<OciFile>> ReadOciManifest(std::string_view text);

// Titles that a file of a provider's version may have, the preferred first. `file` is "metadata.yaml" or the components
// file; any other is called by its own name.
std::vector<std::string> TitlesOf(api::ProviderType type, std::string_view name, const api::Version& version,
                                  std::string_view file);
// The file with the first of these titles that any has. kNotFound names all of them; kInvalidArgument where two files
// have the same title.
Result<OciFile> ChooseFile(const std::vector<OciFile>& files, const std::vector<std::string>& titles);

// Of an artifact that may be of several providers or versions: where titles have a provider and a version in them,
// those of this one alone count; where none has, all do (T9).
std::vector<OciFile> FilesOfVersion(std::vector<OciFile> files, api::ProviderType type, std::string_view name,
                                    const api::Version& version);

// What a title says that has a provider and a version in it: "<anything>-<version>-components.yaml", or the same of the
// metadata. A value.
struct FullTitle {
  std::string provider;  // "infrastructure-aws"
  api::Version version;  // with or without its "v" there (I12)
  std::string file;      // "metadata.yaml" or "components.yaml"
};
// nullopt for any other.
std::optional<FullTitle> ReadFullTitle(std::string_view title);
bool IsFullTitle(std::string_view title);
// "infrastructure-components.yaml"
std::string TypedComponents(api::ProviderType type);
// The versions that titles name for a provider: "infrastructure-custom-v0.0.1-components.yaml".
std::vector<api::Version> VersionsInTitles(const std::vector<OciFile>& files, api::ProviderType type,
                                           std::string_view name);

}  // namespace capi::fetch
