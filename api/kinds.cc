#include "api/kinds.h"

#include <tuple>

#include "base/strings.h"

namespace capi::api {

const ProviderKind& KindOf(ProviderType type) { return kProviderKinds[static_cast<size_t>(type)]; }

const ProviderKind* KindByName(std::string_view kind) {
  for (const ProviderKind& k : kProviderKinds) {
    if (k.kind == kind) return &k;
  }
  return nullptr;
}

kube::Resource ResourceOf(ProviderType type) {
  const ProviderKind& kind = KindOf(type);
  kube::Resource out;
  out.group = kGroup;
  out.version = kVersion;
  out.plural = kind.plural;
  out.kind = kind.kind;
  out.namespaced = true;
  return out;
}

std::string ManifestLabel(ProviderType type, std::string_view name) {
  return std::string(KindOf(type).label_prefix).append(name);
}

std::strong_ordering ProviderId::operator<=>(const ProviderId& other) const {
  return std::tie(type, name, ns) <=> std::tie(other.type, other.name, other.ns);
}

std::string ProviderId::ToString() const { return std::string(KindOf(type).kind) + "/" + name; }

std::string ProviderId::Key() const { return std::string(KindOf(type).kind) + "/" + ns + "/" + name; }

ProviderId ProviderId::FromKey(std::string_view key) {
  std::vector<std::string> parts = Split(key, '/');
  if (parts.size() != 3) return {};
  const ProviderKind* kind = KindByName(parts[0]);
  if (kind == nullptr) return {};
  return {kind->type, parts[1], parts[2]};
}

}  // namespace capi::api
