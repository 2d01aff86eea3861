#include "api/release.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "api/text.h"
#include "base/encoding.h"
#include "base/yaml/yaml.h"

namespace capi::api {
namespace {

constexpr std::string_view kMetadataApiVersion = "clusterctl.cluster.x-k8s.io/v1alpha3";
constexpr std::string_view kMetadataKind = "Metadata";

// behaviour.md C1, the golden rule: core contract, then what it accepts. Oldest first.
struct ContractRow {
  std::string_view core;
  std::array<std::string_view, 2> accepts;  // "" for none
};
constexpr ContractRow kContracts[] = {
    {"v1alpha3", {"v1alpha3", ""}},
    {"v1alpha4", {"v1alpha4", ""}},
    {"v1beta1", {"v1beta1", ""}},
    {"v1beta2", {"v1beta1", "v1beta2"}},
};

const ContractRow* FindContract(std::string_view contract) {
  for (const ContractRow& row : kContracts) {
    if (row.core == contract) return &row;
  }
  return nullptr;
}

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

Result<std::string> TextField(const Json& object, const char* key, std::string_view path) {
  auto found = object.find(key);
  if (found == object.end() || found->is_null()) return std::string();
  if (!found->is_string()) return Invalid(fmt::format("{}{}: must be a string", path, key));
  return found->get<std::string>();
}

// A number of a series; whole numbers written as floats count.
Result<std::int64_t> NumberField(const Json& object, const char* key, std::string_view path) {
  auto found = object.find(key);
  if (found == object.end() || found->is_null()) return 0;
  constexpr double kMax = std::numeric_limits<std::int32_t>::max();
  double number = found->is_number() ? found->get<double>() : std::nan("");
  if (!(std::abs(number) <= kMax) || number != std::floor(number)) {
    return Invalid(fmt::format("{}{}: must be a whole number", path, key));
  }
  return static_cast<std::int64_t>(number);
}

struct Decoded {
  std::string api_version, kind;
  size_t entries = 0;
  Metadata metadata;
};

// The first document, as the Go decoders read it.
Result<Decoded> Decode(std::string_view yaml) {
  Decoded out;
  auto documents = TRY(ParseYamlStream(yaml));
  if (documents.empty()) return out;
  const Json& root = documents.front().value;
  if (!root.is_object()) return Invalid("must be a mapping with apiVersion, kind and releaseSeries");
  out.api_version = TRY(TextField(root, "apiVersion", ""));
  out.kind = TRY(TextField(root, "kind", ""));
  auto list = root.find("releaseSeries");
  if (list == root.end() || list->is_null()) return out;
  if (!list->is_array()) return Invalid("releaseSeries: must be a list");
  out.entries = list->size();
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& entry = (*list)[i];
    std::string path = fmt::format("releaseSeries[{}]", i);
    if (!entry.is_object()) return Invalid(path + ": must be a mapping");
    path += '.';
    std::int64_t major = TRY(NumberField(entry, "major", path));
    std::int64_t minor = TRY(NumberField(entry, "minor", path));
    std::string contract = TRY(TextField(entry, "contract", path));
    if (major < 0 || minor < 0) continue;  // the Go types allow them; no version is ever in such a series
    out.metadata.series.push_back(
        {static_cast<std::uint64_t>(major), static_cast<std::uint64_t>(minor), std::move(contract)});
  }
  return out;
}

}  // namespace

Result<Metadata> Metadata::Parse(std::string_view yaml, std::string_view provider_name) {
  Decoded decoded =
      TRY_WITH(Decode(yaml), fmt::format("error decoding \"metadata.yaml\" for provider {}", GoQuote(provider_name)));
  if (decoded.api_version != kMetadataApiVersion) {
    return Invalid(fmt::format("invalid provider metadata: unexpected apiVersion {} for provider {} (expected {})",
                               GoQuote(decoded.api_version), provider_name, GoQuote(kMetadataApiVersion)));
  }
  if (!decoded.kind.empty() && decoded.kind != kMetadataKind) {
    return Invalid(fmt::format("invalid provider metadata: unexpected kind {} for provider {} (expected {})",
                               GoQuote(decoded.kind), provider_name, GoQuote(kMetadataKind)));
  }
  if (decoded.entries == 0) {
    return Invalid(fmt::format("invalid provider metadata: releaseSeries is empty in metadata.yaml for provider {}",
                               provider_name));
  }
  return std::move(decoded.metadata);
}

Result<Metadata> Metadata::ParseLenient(std::string_view yaml) {
  Decoded decoded = TRY(Decode(yaml));
  return std::move(decoded.metadata);
}

std::optional<std::string> Metadata::ContractOf(const Version& version) const {
  for (const ReleaseSeries& s : series) {
    if (s.major == version.major && s.minor == version.minor) return s.contract;
  }
  return std::nullopt;
}

const ReleaseSeries* Metadata::NewestWith(std::string_view contract) const {
  const ReleaseSeries* newest = nullptr;
  for (const ReleaseSeries& s : series) {
    if (s.contract != contract) continue;
    if (newest == nullptr || std::pair(s.major, s.minor) > std::pair(newest->major, newest->minor)) newest = &s;
  }
  return newest;
}

bool KnownContract(std::string_view contract) { return FindContract(contract) != nullptr; }

bool Accepts(std::string_view core_contract, std::string_view provider_contract) {
  const ContractRow* row = FindContract(core_contract);
  if (row == nullptr || provider_contract.empty()) return false;
  return std::find(row->accepts.begin(), row->accepts.end(), provider_contract) != row->accepts.end();
}

std::vector<std::string> AcceptedBy(std::string_view core_contract) {
  std::vector<std::string> out;
  for (const std::string& contract : KnownContracts()) {
    if (Accepts(core_contract, contract)) out.push_back(contract);
  }
  return out;
}

std::vector<std::string> KnownContracts() {
  std::vector<std::string> out;
  for (const ContractRow& row : kContracts) out.emplace_back(row.core);
  return out;
}

std::vector<std::string> SignatureKeys() {
  std::vector<std::string> keys = {std::string(kArtifactKey)};
  for (std::string_view file : {kMetadataKey, kComponentsKey}) {
    for (std::string_view suffix : kSignatureSuffixes) keys.push_back(std::string(file) + std::string(suffix));
  }
  return keys;
}

std::string Release::Digest() const { return "sha256:" + Sha256Hex(components); }

}  // namespace capi::api
