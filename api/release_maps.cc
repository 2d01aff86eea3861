#include "api/release_maps.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::api {
namespace {

constexpr size_t kPlainLimit = 1u << 20;    // of all texts together, as the peer counts
constexpr size_t kPartLimit = 700u * 1024;  // of bytes in one ConfigMap; base64 and metadata fit below etcd's 1.5 MiB
constexpr size_t kDigestLength = 12;        // characters, of hexadecimal digits

Json NewConfigMap(const ProviderId& id, const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}, {"namespace", id.ns}}}};
}

}  // namespace

std::string ReleaseName(ProviderType type, std::string_view name, const Version& version) {
  return fmt::format("{}-{}-{}", KindOf(type).type_name, name, ReplaceAll(version.ToString(), "+", "-"));
}

std::map<std::string, std::string> ReleaseSelector(const ProviderId& id) {
  return {{std::string(kLabelReleaseType), std::string(KindOf(id.type).type_name)},
          {std::string(kLabelReleaseName), id.name}};
}

std::string ReleaseVersionLabel(const std::string& version) { return ReplaceAll(version, "+", "_"); }

std::string ReleasePartName(std::string_view name, std::string_view digest, size_t number) {
  return digest.empty() ? fmt::format("{}-part-{}", name, number) : fmt::format("{}-{}-part-{}", name, digest, number);
}

std::string ReleasePartsDigest(std::string_view packed) { return Sha256Hex(packed).substr(0, kDigestLength); }

bool IsReleasePartsDigest(std::string_view text) {
  return text.empty() ||
         (text.size() == kDigestLength && text.find_first_not_of("0123456789abcdef") == std::string_view::npos);
}

std::vector<kube::Object> PackRelease(const ProviderId& id, const Release& release,
                                      const std::map<std::string, std::string>& labels) {
  std::string name = ReleaseName(id.type, id.name, release.version);
  Json first = NewConfigMap(id, name);
  first["metadata"]["labels"] = labels;
  first["metadata"]["annotations"] = {{std::string(kLabelReleaseSource), release.source}};
  first["data"]["metadata"] = release.metadata;
  size_t size = release.metadata.size() + release.components.size();
  for (const auto& [key, text] : release.signatures) {
    first["data"][key] = text;
    size += text.size();
  }
  std::vector<kube::Object> out;
  if (size <= kPlainLimit) {
    first["data"]["components"] = release.components;
    out.emplace_back(std::move(first));
    return out;
  }
  std::string packed = Gzip(release.components);
  size_t parts = (packed.size() + kPartLimit - 1) / kPartLimit;
  first["metadata"]["annotations"][std::string(kAnnotationCompressed)] = "true";
  const std::string digest = ReleasePartsDigest(packed);
  if (parts > 1) {
    first["metadata"]["annotations"][std::string(kAnnotationParts)] = std::to_string(parts);
    first["metadata"]["annotations"][std::string(kAnnotationPartsDigest)] = digest;
  }
  first["binaryData"]["components"] = Base64Encode(std::string_view(packed).substr(0, kPartLimit));
  out.emplace_back(std::move(first));
  for (size_t i = 2; i <= parts; ++i) {
    Json part = NewConfigMap(id, ReleasePartName(name, digest, i));
    part["metadata"]["labels"] = {{std::string(kLabelPartOf), name}};
    part["binaryData"]["components"] = Base64Encode(std::string_view(packed).substr((i - 1) * kPartLimit, kPartLimit));
    out.emplace_back(std::move(part));
  }
  return out;
}

}  // namespace capi::api
