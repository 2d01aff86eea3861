// A release of a provider, its metadata, and the contracts.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "api/version.h"
#include "base/result.h"

namespace capi::api {

// The largest components file that is read, unpacked: twice the largest that a provider has published. What unpacks,
// fills in and parses a file of that size fits into 64 MiB beside the operator.
inline constexpr size_t kMaxReleaseBytes = 6u << 20;

struct ReleaseSeries {
  std::uint64_t major = 0, minor = 0;
  std::string contract;
};

// metadata.yaml of a release.
struct Metadata {
  std::vector<ReleaseSeries> series;

  // clusterctl.md 1.3. kInvalidArgument with its messages for a foreign apiVersion, kind, or an empty list.
  static Result<Metadata> Parse(std::string_view yaml, std::string_view provider_name);
  // As "latest" reads it: any apiVersion, unknown fields ignored.
  static Result<Metadata> ParseLenient(std::string_view yaml);

  // The contract of the first series with that major and minor; nullopt where there is none.
  std::optional<std::string> ContractOf(const Version& version) const;
  // The newest series with that contract.
  const ReleaseSeries* NewestWith(std::string_view contract) const;
};

// behaviour.md C1. Unknown contracts accept nothing.
bool KnownContract(std::string_view contract);
bool Accepts(std::string_view core_contract, std::string_view provider_contract);
std::vector<std::string> AcceptedBy(std::string_view core_contract);
std::vector<std::string> KnownContracts();  // oldest first

// What a release was signed with (behaviour.md T14): texts by the keys that a ConfigMap has them under. Of a file,
// named "metadata" or "components" here, that key and the suffix of the file beside it; of an artifact of a registry as
// a whole kArtifactKey (verify/artifact.h). A value.
struct Signatures : std::map<std::string, std::string> {
  using map::map;
  std::optional<Error> unread = {};  // what kept others from being read, where it may be over with the next try
};
inline constexpr std::string_view kMetadataKey = "metadata", kComponentsKey = "components";
inline constexpr std::string_view kSignatureSuffixes[] = {".sigstore.json", ".bundle", ".sig"};
inline constexpr std::string_view kArtifactKey = "artifact.json";
// All that there may be.
std::vector<std::string> SignatureKeys();

// A release as fetched.
struct Release {
  Version version;
  std::string metadata;    // text of metadata.yaml
  std::string components;  // text of the components file
  std::string source;  // for people: "github.com/kubernetes-sigs/cluster-api v1.12.0", "ConfigMap capi-system/v1.12.0"
  Signatures signatures = {};  // where they were asked for, or lie in the cluster
  std::string Digest() const;  // "sha256:<hex>" of components
};

// A provider that clusterctl knows by name.
struct KnownProvider {
  std::string_view name;
  ProviderType type;
  std::string_view repository;  // "kubernetes-sigs/cluster-api" on github.com
  std::string_view file;        // components file
  std::string Url() const;      // "https://github.com/.../releases/latest/<file>"
};
std::span<const KnownProvider> KnownProviders();  // ordered by type, then name
// Finds providers too that are no longer listed.
const KnownProvider* FindKnownProvider(ProviderType type, std::string_view name);

}  // namespace capi::api
