#include "templating/namespace.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "kube/meta/kind.h"
#include "templating/scope.h"

namespace capi::templating {
namespace {

constexpr std::string_view kInjectCaFrom = "cert-manager.io/inject-ca-from";

Error Refuse(std::string message) {
  return Error{
      Code::kInvalidArgument, "failed to set the TargetNamespace on the components: " + std::move(message), {}};
}

bool IsWebhookConfiguration(const kube::Object& object) {
  constexpr std::string_view kGroup = "admissionregistration.k8s.io";
  return Is(object, kGroup, "MutatingWebhookConfiguration") || Is(object, kGroup, "ValidatingWebhookConfiguration");
}

bool IsBinding(const kube::Object& object) {
  constexpr std::string_view kGroup = "rbac.authorization.k8s.io";
  return Is(object, kGroup, "ClusterRoleBinding") || Is(object, kGroup, "RoleBinding");
}

// Members of the list at `path` that are maps.
template <typename Each>
void ForEachMap(Json& object, JsonPath path, Each each) {
  Json* list = Find(object, path);
  if (list == nullptr || !list->is_array()) return;
  for (Json& item : *list) {
    if (item.is_object()) each(item);
  }
}

void FixService(Json& holder, JsonPath service, std::string_view target) {
  Json* found = Find(holder, service);
  if (found != nullptr && found->is_object()) (*found)["namespace"] = target;
}

void FixSubjects(Json& binding, std::string_view target) {
  ForEachMap(binding, {"subjects"}, [&](Json& subject) {
    if (!GetString(subject, {"namespace"}).empty()) subject["namespace"] = target;
  });
}

// "ns/name" -> "target/name"
Status FixInjection(kube::Object& object, std::string_view target) {
  Json* annotation = Find(object.json(), {"metadata", "annotations", kInjectCaFrom});
  if (annotation == nullptr || annotation->is_null()) return Ok();
  auto parts = annotation->is_string() ? Split(annotation->get<std::string>(), '/') : std::vector<std::string>();
  if (parts.size() != 2) {
    return Refuse(
        fmt::format("object {} {} does not have a correct value for {}", object.kind(), object.name(), kInjectCaFrom));
  }
  *annotation = fmt::format("{}/{}", target, parts[1]);
  return Ok();
}

Status FixWebhooks(kube::Object& object, std::string_view target) {
  TRY(FixInjection(object, target));
  std::string version = object.group_version().version;
  if (version != "v1" && version != "v1beta1") {
    return Refuse(fmt::format("failed to patch {} {}", version, object.kind()));
  }
  ForEachMap(object.json(), {"webhooks"}, [&](Json& webhook) {
    FixService(webhook, {"clientConfig", "service"}, target);
  });
  return Ok();
}

Status FixCrd(kube::Object& object, std::string_view target) {
  TRY(FixInjection(object, target));
  std::string version = object.group_version().version;
  if (version == "v1") {
    FixService(object.json(), {"spec", "conversion", "webhook", "clientConfig", "service"}, target);
  } else if (version == "v1beta1") {
    FixService(object.json(), {"spec", "conversion", "webhookClientConfig", "service"}, target);
  } else {
    return Refuse(fmt::format("failed to patch {} CustomResourceDefinition", version));
  }
  return Ok();
}

// The first ".<old>." of each name becomes ".<target>.". A Certificate without a namespace is left alone: "..", which
// clusterctl then looks for, is in no name.
void FixCertificate(Json& certificate, std::string_view old, std::string_view target) {
  Json* names = Find(certificate, {"spec", "dnsNames"});
  if (names == nullptr || !names->is_array() || old.empty()) return;
  std::string from = fmt::format(".{}.", old), to = fmt::format(".{}.", target);
  for (Json& name : *names) {
    if (!name.is_string()) continue;
    auto& text = name.get_ref<std::string&>();
    if (size_t at = text.find(from); at != std::string::npos) text.replace(at, from.size(), to);
  }
}

// A server behind the API server, reached as a webhook is. One that the API server answers itself has no service.
Status FixApiService(kube::Object& object, std::string_view target) {
  TRY(FixInjection(object, target));
  FixService(object.json(), {"spec", "service"}, target);
  return Ok();
}

Status FixObject(kube::Object& object, std::string_view target, const Scopes& scopes) {
  std::string old = object.ns();
  if (IsNamespace(object)) Ensure(object.json(), {"metadata", "name"}) = target;
  if (!scopes.IsClusterScoped(kube::GroupKind{object.group_version().group, object.kind()})) {
    object.set_ns(target);
  } else if (Json* metadata = Find(object.json(), {"metadata"})) {
    metadata->erase("namespace");
  }
  if (IsBinding(object)) FixSubjects(object.json(), target);
  if (IsWebhookConfiguration(object)) return FixWebhooks(object, target);
  if (IsCrd(object)) return FixCrd(object, target);
  if (Is(object, "apiregistration.k8s.io", "APIService")) return FixApiService(object, target);
  if (Is(object, "cert-manager.io", "Certificate")) FixCertificate(object.json(), old, target);
  return Ok();
}

}  // namespace

Result<std::string> OwnNamespace(const std::vector<kube::Object>& objects) {
  std::string out;
  for (const kube::Object& object : objects) {
    if (!IsNamespace(object)) continue;
    if (!out.empty()) {
      return Error{
          Code::kInvalidArgument,
          fmt::format("failed to detect default target namespace: Invalid manifest. There should be no more "
                      "than one resource with Kind Namespace in the provider components yaml: it has {} and {}",
                      out, object.name()),
          {}};
    }
    out = object.name();
  }
  return out;
}

Status FixNamespace(std::vector<kube::Object>& objects, std::string_view target, const ScopeLookup& lookup) {
  Scopes scopes(objects, lookup);
  for (kube::Object& object : objects) TRY(FixObject(object, target, scopes));
  return Ok();
}

}  // namespace capi::templating
