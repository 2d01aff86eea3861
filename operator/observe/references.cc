#include "operator/observe/references.h"

#include "api/reference_record.h"

namespace capi::ops {

Result<std::vector<api::ForeignReference>> RefusedReferences(const Context& ctx, const api::Provider& provider,
                                                             const Settings& settings, const ReferenceKey& key) {
  using References = std::vector<api::ForeignReference>;
  if (settings.allow_cross_namespace_references) return References();
  References references = api::ForeignReferences(provider);
  if (references.empty() || !key) return references;
  auto record = provider.annotations.find(std::string(api::kAnnotationAllowedReferences));
  if (record == provider.annotations.end()) return references;
  const std::string secret = TRY(key(ctx));
  if (api::RecordCovers(record->second, secret, provider.id, references)) references.clear();
  return references;
}

}  // namespace capi::ops
