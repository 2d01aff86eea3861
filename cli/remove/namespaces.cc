#include "cli/remove/namespaces.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "api/release_maps.h"
#include "base/strings.h"
#include "kube/meta/kind.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {
namespace {

constexpr std::string_view kNote = "delete.operator.cluster.x-k8s.io/";  // before the provider's label
constexpr std::string_view kEntry = "entry";  // in the note, before the uid of clusterctl's entry
constexpr std::string_view kOperatorLabel = "app.kubernetes.io/name", kOperatorName = "capi-operator";
constexpr std::string_view kCertificate = "cert-manager.io/certificate-name";
constexpr std::string_view kIssuer = "cert-manager.io/issuer-name", kIssuerKind = "cert-manager.io/issuer-kind";
// Of a Secret that the server made for a ServiceAccount: that one is looked at.
constexpr std::string_view kServiceAccount = "kubernetes.io/service-account.name";
constexpr std::string_view kOperatorCertificate = "capi-operator-webhook-cert";  // it makes this Secret itself

constexpr std::array<std::string_view, 3> kOpenShiftMap = {"", "ConfigMap", "openshift-service-ca.crt"};
// Group, kind and name of what controllers make; "" for any name.
constexpr std::array<std::string_view, 3> kByControllers[] = {
    {"", "Event", ""},
    {"events.k8s.io", "Event", ""},
    {"", "Endpoints", ""},
    {"discovery.k8s.io", "EndpointSlice", ""},
    {"coordination.k8s.io", "Lease", ""},
    {"", "ServiceAccount", "default"},
    {"", "ConfigMap", "kube-root-ca.crt"},
    {"", "ConfigMap", "istio-ca-root-cert"},
    kOpenShiftMap,
};
// What those of OpenShift make, too: elsewhere these names are anybody's.
constexpr std::array<std::string_view, 3> kByOpenShift[] = {
    {"", "ServiceAccount", "builder"},
    {"", "ServiceAccount", "deployer"},
    {"rbac.authorization.k8s.io", "RoleBinding", "system:image-pullers"},
    {"rbac.authorization.k8s.io", "RoleBinding", "system:image-builders"},
    {"rbac.authorization.k8s.io", "RoleBinding", "system:deployers"},
};

bool IsAny(const kube::ObjectId& id, std::span<const std::array<std::string_view, 3>> names) {
  return std::any_of(names.begin(), names.end(), [&](const auto& one) {
    return kube::Is(id, one[0], one[1]) && (one[2].empty() || one[2] == id.name);
  });
}

bool IsIssuer(const kube::ObjectId& id) { return kube::Is(id, "cert-manager.io", "Issuer"); }

// Of a Secret that cert-manager made; without a name for a ClusterIssuer, which is everybody's.
kube::ObjectId IssuerOf(const kube::Object& secret) {
  const bool own = secret.annotation(kIssuerKind) == "Issuer";
  return {"cert-manager.io", "Issuer", secret.ns(), own ? secret.annotation(kIssuer) : ""};
}

// A provider, with what selects ConfigMaps with its release, each parsed once.
struct Owner {
  explicit Owner(const Target& its) : target(its), labels(api::ReleaseSelector(its.id)) {
    if (its.release_maps.is_null()) return;
    auto parsed = kube::LabelSelector::FromJson(its.release_maps);
    if (parsed.ok()) selector = *std::move(parsed);
  }
  const Target& target;
  std::map<std::string, std::string> labels;  // of a release for it (I6)
  kube::LabelSelector selector;               // of its spec; empty for none
  bool has_issuer = false;                    // one of its own is there
};

// A Secret that cert-manager made of a Certificate: while that one is there, it is looked at itself. cert-manager
// leaves the Secret when it goes: then the provider says whose it was, or its Issuer does, one of `issuers`, or what it
// had nobody knows any more, since an earlier run was removing it. A note of that may be older than what is installed,
// and says nothing where that speaks for itself.
bool IsOfCertificate(const kube::Object& object, const std::set<kube::ObjectId>& there,
                     const std::set<kube::ObjectId>& issuers, const std::vector<Owner>& providers) {
  if (!kube::Is(object.id(), "", "Secret")) return false;
  const kube::ObjectId certificate{"cert-manager.io", "Certificate", object.ns(), object.annotation(kCertificate)};
  if (certificate.name.empty()) return false;
  const kube::ObjectId issuer = IssuerOf(object);
  return there.contains(certificate) || issuers.contains(issuer) ||
         std::any_of(providers.begin(), providers.end(), [&](const Owner& owner) {
           const Target& target = owner.target;
           const bool unknown = target.noted && !target.has_inventory() && (target.left() || !owner.has_issuer);
           return unknown || target.inventory.Contains(certificate) || target.inventory.Contains(issuer);
         });
}

bool IsRelease(const kube::Object& map, const Owner& owner) {
  if (!kube::Is(map, "", "ConfigMap")) return false;
  const auto& wanted = owner.labels;
  if (std::all_of(wanted.begin(), wanted.end(), [&](const auto& one) { return map.label(one.first) == one.second; }))
    return true;
  const Json* labels = Find(map.json(), {"metadata", "labels"});
  return !owner.selector.empty() && owner.selector.Matches(labels == nullptr ? Json() : *labels);
}

bool IsOf(const kube::Object& object, const kube::ObjectId& id, const Owner& owner) {
  const Target& target = owner.target;
  if (id.group == api::kGroup) {
    return target.object && id.kind == api::KindOf(target.id.type).kind && id.name == target.id.name;
  }
  if (object.label(api::kLabelProvider) == api::ManifestLabel(target.id.type, target.id.name)) return true;
  return target.named.contains(id) || IsRelease(object, owner) || target.inventory.Contains(id);
}

bool IsOfOperator(const kube::Object& object, const kube::ObjectId& id) {
  return object.label(kOperatorLabel) == kOperatorName ||
         (kube::Is(id, "", "Secret") && id.name == kOperatorCertificate);
}

bool HasOwner(const kube::Object& object, const std::set<std::string>& uids) {
  const Json* owners = Find(object.json(), {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return false;
  return std::any_of(owners->begin(), owners->end(),
                     [&](const Json& owner) { return uids.contains(GetString(owner, {"uid"})); });
}

std::string NameOf(const kube::Object& stranger) {
  const kube::ObjectId id = stranger.id();
  const bool left = kube::Is(id, "", "Secret") && stranger.has_annotation(kCertificate);
  return id.ToString() + (left ? " (its Certificate is gone: delete it by hand where nobody needs it)" : "");
}

// What of its Namespace is its own by its spec alone: with its object nobody would know that.
std::string NoteOf(const Target& target) {
  std::string out = target.id.Key();
  for (const kube::ObjectId& id : target.named) {
    if (id.ns == target.id.ns) out += fmt::format(" {}/{}", id.kind, id.name);
  }
  if (!target.release_maps.is_null()) out += " " + ToJsonText(target.release_maps);
  if (target.entry) out += fmt::format(" {}/{}", kEntry, target.entry_uid);
  return out;
}

// What somebody else wrote there says nothing: an id without a name then.
NotedProvider ReadNote(const std::string& note, const std::string& ns) {
  NotedProvider out;
  const std::vector<std::string> words = Split(note, ' ');
  if (!words.empty()) out.id = api::ProviderId::FromKey(words[0]);
  if (out.id.ns != ns) return {};
  for (const std::string& word : words) {
    const std::vector<std::string> parts = Split(word, '/');
    if (parts.size() == 2 && (parts[0] == "Secret" || parts[0] == "ConfigMap"))
      out.named.insert({"", parts[0], ns, parts[1]});
    if (parts.size() == 2 && parts[0] == kEntry) out.entry_uid = parts[1];
    auto selector = ParseJson(word);
    if (selector.ok() && selector->is_object()) out.release_maps = *std::move(selector);
  }
  return out;
}

}  // namespace

bool IsOfKubernetes(const std::string& ns) { return ns == "default" || ns.starts_with("kube-"); }

std::vector<std::string> Strangers(const std::vector<kube::Object>& objects, const NamespaceOwners& owners,
                                   std::set<std::string>& known) {
  const bool openshift = std::any_of(objects.begin(), objects.end(), [](const kube::Object& object) {
    return IsAny(object.id(), {&kOpenShiftMap, 1});
  });
  std::vector<Owner> providers(owners.targets.begin(), owners.targets.end());
  auto is_of = [&](const auto& of_owner) { return std::any_of(providers.begin(), providers.end(), of_owner); };
  std::set<kube::ObjectId> there, issuers;  // all, and the providers' Issuers
  std::set<std::string> releases;           // whose further parts have their names alone
  for (const kube::Object& object : objects) {
    const kube::ObjectId id = object.id();
    there.insert(id);
    for (Owner& owner : providers) {
      if (!IsIssuer(id) || !IsOf(object, id, owner)) continue;
      owner.has_issuer = true;
      issuers.insert(id);
    }
    if (is_of([&](const Owner& owner) { return IsRelease(object, owner); })) releases.insert(object.name());
  }
  auto is_known = [&](const kube::Object& object) {
    const kube::ObjectId id = object.id();
    if (IsAny(id, kByControllers) || object.has_annotation(kServiceAccount)) return true;
    if (openshift && IsAny(id, kByOpenShift)) return true;
    if (owners.with_operator && IsOfOperator(object, id)) return true;
    if (IsOfCertificate(object, there, issuers, providers)) return true;
    if (kube::Is(id, "", "ConfigMap") && releases.contains(object.label(api::kLabelPartOf))) return true;
    return is_of([&](const Owner& owner) { return IsOf(object, id, owner); });
  };
  std::vector<const kube::Object*> rest;
  std::set<std::string> all;
  for (const kube::Object& object : objects) {
    all.insert(object.uid());
    is_known(object) ? void(known.insert(object.uid())) : rest.push_back(&object);
  }
  for (size_t before = rest.size() + 1; before != rest.size();) {
    before = rest.size();
    std::erase_if(rest, [&](const kube::Object* object) {
      const bool owned = known.contains(object->uid()) || HasOwner(*object, known);
      if (owned) known.insert(object->uid());
      return owned;
    });
  }
  std::vector<std::string> out;
  for (const kube::Object* object : rest) {
    if (!HasOwner(*object, all)) out.push_back(NameOf(*object));  // else its owner is named
  }
  std::sort(out.begin(), out.end());
  return out;
}

Status NoteDeletion(const Context& ctx, kube::Client& client, const Target& target, bool going) {
  const api::ProviderId& id = target.id;
  Json note = Json::object();
  note[std::string(kNote) + api::ManifestLabel(id.type, id.name)] = going ? Json(NoteOf(target)) : Json();
  auto written =
      client.Patch(ctx, kube::Builtin("Namespace"), "", id.ns, kube::PatchType::kMerge,
                   {{"metadata", {{"annotations", note}}}}, {.field_manager = "clusterctl", .metadata_only = true});
  if (written.ok() || written.code() == Code::kNotFound) return Ok();
  return written.error().With(fmt::format("failed to annotate Namespace {}", id.ns));
}

std::vector<NotedProvider> NotedDeletions(const std::vector<kube::Object>& namespaces) {
  std::vector<NotedProvider> out;
  for (const kube::Object& ns : namespaces) {
    const Json* annotations = Find(ns.json(), {"metadata", "annotations"});
    if (annotations == nullptr || !annotations->is_object()) continue;
    for (const auto& [name, value] : annotations->items()) {
      if (!name.starts_with(kNote) || !value.is_string()) continue;
      NotedProvider noted = ReadNote(value.get_ref<const std::string&>(), ns.name());
      if (!noted.id.name.empty()) out.push_back(std::move(noted));
    }
  }
  return out;
}

}  // namespace capi::cli
