#include "api/release_choice.h"

#include "api/release_maps.h"
#include "api/validate/oci_reference.h"

namespace capi::api {

const StoredRelease* ReleaseThatCounts(const std::vector<StoredRelease>& found, const Provider& provider,
                                       std::string_view version, bool of_any_source) {
  const StoredRelease* first = nullptr;
  for (const StoredRelease& release : found) {
    if (!of_any_source && !IsOfItsSource(release, provider)) continue;
    if (!SameVersion(release.version ? release.version->ToString() : release.version_text, version)) continue;
    const ProviderId& id = provider.id;
    if (release.version && release.name == ReleaseName(id.type, id.name, *release.version)) return &release;
    if (first == nullptr || release.name < first->name) first = &release;
  }
  return first;
}

bool NamesOneRelease(const ProviderSpec& spec) {
  if (!spec.fetch_config) return false;
  if (!spec.fetch_config->digest.empty()) return true;
  if (spec.fetch_config->oci.empty()) return false;
  auto oci = ParseOciReference(spec.fetch_config->oci);
  return oci.ok() && !(oci->tag.empty() && oci->digest.empty());
}

}  // namespace capi::api
