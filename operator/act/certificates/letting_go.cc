// What the operator gives up to keep: it becomes somebody else's as it is (behaviour.md I19).
#include <optional>
#include <utility>

#include "api/certificates/names.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/issue.h"
#include "operator/act/certificates/ca_bundles.h"
#include "operator/act/certificates/certifier.h"

namespace capi::ops {
namespace {

constexpr int kMostReads = 3;  // of a Secret that others write meanwhile

// All but cert-manager's, whose --enable-certificate-owner-ref makes the Certificate an owner; null where none is.
std::optional<Json> OtherOwners(const kube::Object& secret) {
  const Json* owners = Find(secret.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return std::nullopt;
  Json others = Json::array();
  for (const Json& owner : *owners) {
    if (!GetString(owner, {"apiVersion"}).starts_with("cert-manager.io/")) others.push_back(owner);
  }
  if (others.size() == owners->size()) return std::nullopt;
  return others;
}

}  // namespace

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

Result<bool> Certifier::IsKept(const Context& ctx, const kube::ObjectId& id) {
  auto live = client_.Get(ctx, kube::Builtin("Secret"), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return false;
  if (!live.ok()) return live.error().With(id.ToString());
  return live->has_annotation(api::kAnnotationCertificate) || live->has_annotation(api::kAnnotationCertificateState);
}

Result<bool> Certifier::IsOwned(const Context& ctx, const kube::ObjectId& id) {
  auto live = client_.Get(ctx, kube::Builtin("Secret"), id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return false;
  if (!live.ok()) return live.error().With(id.ToString());
  return OtherOwners(*live).has_value();
}

Status Certifier::Disown(const Context& ctx, const kube::ObjectId& id) {
  for (int reads = 1;; ++reads) {  // the garbage collector takes the same one off
    Status ended = TryDisown(ctx, id);
    if (ended.ok() || ended.code() != Code::kConflict || reads == kMostReads) return ended;
  }
}

Status Certifier::TryDisown(const Context& ctx, const kube::ObjectId& id) {
  const kube::Resource& secrets = kube::Builtin("Secret");
  auto live = client_.Get(ctx, secrets, id.ns, id.name, {.metadata_only = true});
  if (!live.ok() && live.code() == Code::kNotFound) return Ok();
  if (!live.ok()) return live.error().With(id.ToString());
  std::optional<Json> others = OtherOwners(*live);
  if (!others) return Ok();
  Json patch = Json::object();
  patch["metadata"]["ownerReferences"] = *std::move(others);
  patch["metadata"]["resourceVersion"] = live->resource_version();
  auto patched = client_.Patch(ctx, secrets, id.ns, id.name, kube::PatchType::kMerge, patch, AsCertifier());
  if (!patched.ok() && patched.code() == Code::kNotFound) return Ok();
  if (!patched.ok()) return patched.error().With(id.ToString());
  tracks_.Expect(id, patched->resource_version());
  return Ok();
}

}  // namespace capi::ops
