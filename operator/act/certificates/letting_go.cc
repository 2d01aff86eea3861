// What the operator gives up to keep: it becomes somebody else's as it is (behaviour.md I19).
#include "api/certificates/names.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/issue.h"
#include "operator/act/certificates/ca_bundles.h"
#include "operator/act/certificates/certifier.h"

namespace capi::ops {

Status Certifier::Leave(const Context& ctx, const kube::ObjectId& id) {
  Json patch = Json::object();
  for (std::string_view name : {api::kAnnotationCertificate, api::kAnnotationCertificateState}) {
    patch["metadata"]["annotations"][std::string(name)] = nullptr;
  }
  // Never served, and nobody's to keep: whoever takes over makes one of his own.
  for (const char* name : {certificates::data_key::kNext, certificates::data_key::kNextKey}) {
    patch["data"][name] = nullptr;
  }
  auto left =
      client_.Patch(ctx, kube::Builtin("Secret"), id.ns, id.name, kube::PatchType::kMerge, patch, AsCertifier());
  if (!left.ok() && left.code() == Code::kNotFound) return Ok();
  if (!left.ok()) return left.error().With(id.ToString());
  tracks_.Expect(id, left->resource_version());
  MutexLock lock(mu_);
  injections_.erase(id);
  return Ok();
}

// By a patch, and not by an apply of less, which would empty them.
Status Certifier::LeaveBundles(const Context& ctx, const kube::ObjectId& id) {
  Json patch = Json::object();
  patch["metadata"]["annotations"][std::string(api::kAnnotationCaBundle)] = nullptr;
  auto left = client_.Patch(ctx, kube::Builtin(id.kind), "", id.name, kube::PatchType::kMerge, patch, AsCertifier());
  if (!left.ok() && left.code() == Code::kNotFound) return Ok();
  if (!left.ok()) return left.error().With(id.ToString());
  tracks_.Expect(id, left->resource_version());
  return Ok();
}

// cert-manager's --enable-certificate-owner-ref makes the Certificate its owner.
Result<bool> Certifier::Disown(const Context& ctx, const kube::ObjectId& id) {
  const kube::Resource& secrets = kube::Builtin("Secret");
  auto live = client_.Get(ctx, secrets, id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return false;
  if (!live.ok()) return live.error().With(id.ToString());
  const Json* owners = Find(live->json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  Json others = Json::array();
  for (const Json& owner : *owners) {
    if (!GetString(owner, {"apiVersion"}).starts_with("cert-manager.io/")) others.push_back(owner);
  }
  if (others.size() == owners->size()) return false;
  Json patch = Json::object();
  patch["metadata"]["ownerReferences"] = std::move(others);
  patch["metadata"]["resourceVersion"] = live->resource_version();
  auto patched = client_.Patch(ctx, secrets, id.ns, id.name, kube::PatchType::kMerge, patch, AsCertifier());
  if (!patched.ok()) return patched.error().With(id.ToString());
  tracks_.Expect(id, patched->resource_version());
  return true;
}

}  // namespace capi::ops
