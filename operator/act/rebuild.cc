#include "operator/act/rebuild.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "api/certificates/names.h"
#include "base/run_all.h"
#include "base/strings.h"
#include "kube/apply/apply.h"
#include "kube/meta/kind.h"
#include "lifecycle/certificates/issue.h"
#include "operator/observe/in_use.h"

namespace capi::ops {
namespace {

constexpr size_t kParallel = 4;

bool CanBeListed(const kube::Resource& resource) {
  bool lists =
      resource.verbs.empty() || std::find(resource.verbs.begin(), resource.verbs.end(), "list") != resource.verbs.end();
  return lists && resource.kind != "Event" && resource.plural.find('/') == std::string::npos;
}

// One version of each kind, the preferred one: they come first.
std::vector<kube::Resource> Kinds(std::vector<kube::Resource> all) {
  std::set<kube::GroupKind> seen;
  std::vector<kube::Resource> kinds;
  for (kube::Resource& resource : all) {
    if (CanBeListed(resource) && seen.insert({resource.group, resource.kind}).second)
      kinds.push_back(std::move(resource));
  }
  return kinds;
}

bool MayBeLeftOut(const Error& error) {
  return error.code == Code::kUnsupported || error.code == Code::kPermissionDenied;
}

// An object with our labels, in little: it was applied by us. What it was applied with is most of it.
struct Item {
  std::string ns, name, fields;
};

// What one kind has.
struct Found {
  std::string version;  // that it was read at
  std::vector<Item> items;
  std::string unread;
};

// A Secret that the operator has let go has our labels and fields still, and stays when the provider goes (I19).
bool IsLetGo(const kube::Object& live) {
  return kube::Is(live, "", "Secret") && live.has_annotation(certificates::kCertificateNameAnnotation) &&
         !live.has_annotation(api::kAnnotationCertificate);
}

void Take(const kube::Object& object, std::vector<Item>& items) {
  std::string fields = kube::FieldsHash(object, api::kFieldManager);
  if (fields.empty() || IsLetGo(object)) return;  // without: somebody else's with our labels
  items.push_back({object.ns(), object.name(), std::move(fields)});
}

// Served by another server than this one, as far as can be told.
bool IsAggregated(const Context& ctx, kube::Client& client, const kube::Resource& kind) {
  auto service = client.Get(ctx, kube::Builtin("APIService"), "", kind.version + "." + kind.group);
  const Json* server = service.ok() ? Find(service->json(), {"spec", "service"}) : nullptr;
  return server != nullptr && server->is_object();
}

bool NeedsWebhook(const kube::Object& crd) {
  return GetString(crd.json(), {"spec", "conversion", "strategy"}) == "Webhook";
}

// Of a kind without a CRD whose list was answered with 404: whether it has gone since discovery listed it.
Result<Found> NoneWhereItHasGone(const Context& ctx, kube::Client& client, const kube::Resource& kind, Found unread) {
  auto still = client.mapper().ForAnew(ctx, {kind.group, kind.kind});
  TRY(ctx.Check());
  if (!still.ok() && still.code() == Code::kNotFound) return Found{};
  return unread;
}

// What could not be listed, at another version. A 404 says that this path isn't served, never that there are no
// objects: of several API servers each hears of a CRD by itself.
Result<Found> ListOtherwise(const Context& ctx, kube::Client& client, const kube::Resource& kind,
                            const std::string& selector, const Error& error) {
  TRY(ctx.Check());
  const std::string name = kind.plural + "." + kind.group;
  Found unread{kind.version, {}, fmt::format("{} ({})", name, error.message)};
  const auto crd = lifecycle::ReadCrd(client, ctx, name);
  const bool not_served = error.code == Code::kNotFound;
  if (!crd.ok()) return (not_served ? crd.error() : error).With(name);
  if (!*crd) {
    if (IsAggregated(ctx, client, kind)) return unread;
    return not_served ? NoneWhereItHasGone(ctx, client, kind, std::move(unread)) : error.With(name);
  }
  if (!not_served && !NeedsWebhook(**crd)) return error.With(name);
  Found found;
  auto read = lifecycle::SeeReadable(
      client, ctx, **crd, {.label_selector = selector, .max_bytes = kube::kMaxHeldBytes}, "",
      [&](const kube::Resource& resource) {
        found = Found{resource.version, {}, ""};
      },
      [&](const kube::Object& object) { return Take(object, found.items), true; });
  TRY(ctx.Check());
  if (!read.ok()) return unread;
  return *read ? std::move(found) : Found{};
}

Result<Found> ListKind(const Context& ctx, kube::Client& client, const kube::Resource& kind,
                       const std::string& selector) {
  Found found{kind.version, {}, ""};
  const kube::ListOptions options{
      .label_selector = selector, .metadata_only = true, .may_change = true, .max_bytes = kube::kMaxHeldBytes};
  Status listed = client.ForEach(
      ctx, kind, "", options, [&] { found.items.clear(); },
      [&](const kube::Object& object) -> Result<bool> { return Take(object, found.items), true; });
  if (listed.ok()) return found;
  if (MayBeLeftOut(listed.error())) return Found{};
  return ListOtherwise(ctx, client, kind, selector, listed.error());
}

// Of all kinds, a few at a time.
std::vector<Result<Found>> ListAll(const Context& ctx, kube::Client& client, const std::vector<kube::Resource>& kinds,
                                   const std::string& selector) {
  std::vector<Result<Found>> answers(kinds.size(), Found{});
  std::vector<std::function<void()>> tasks;
  for (size_t i = 0; i < kinds.size(); ++i) {
    tasks.push_back([&, i] { answers[i] = ListKind(ctx, client, kinds[i], selector); });
  }
  RunAll(kParallel, tasks);
  return answers;
}

}  // namespace

Result<Rebuilt> RebuildInventory(const Context& ctx, kube::Client& client, const Observation& o) {
  const api::ProviderId& id = o.provider.id;
  std::vector<kube::Inventory> others;
  for (const auto& sibling : o.siblings) {
    others.push_back(TRY_WITH(kube::Inventory::Parse(sibling->status.inventory), sibling->id.ToString()));
  }
  client.mapper().Invalidate();  // what came since it last looked counts, too
  std::set<std::string> away;
  auto all = TRY(client.mapper().All(ctx, &away));
  for (const auto& kind : all) away.erase(kind.group);  // of kinds that are known each tells by itself
  auto kinds = Kinds(std::move(all));
  std::string selector =
      fmt::format("{}={},{}", api::kLabelProvider, api::ManifestLabel(id.type, id.name), api::kLabelClusterctl);
  auto answers = ListAll(ctx, client, kinds, selector);
  Rebuilt rebuilt;
  for (const auto& group : away) rebuilt.unread.push_back(group + " (its server doesn't answer)");
  for (size_t i = 0; i < kinds.size(); ++i) {
    Found found = TRY(std::move(answers[i]));
    if (!found.unread.empty()) rebuilt.unread.push_back(std::move(found.unread));
    for (const Item& item : found.items) {
      kube::ObjectId at{kinds[i].group, kinds[i].kind, item.ns, item.name};
      if (std::any_of(others.begin(), others.end(), [&](const auto& other) { return other.Contains(at); })) continue;
      rebuilt.inventory.Put(at, {found.version, "", item.fields, false});
    }
  }
  ctx.log.Info("rebuilt the inventory from labels",
               {{"objects", rebuilt.inventory.size()}, {"kinds_unread", rebuilt.unread.size()}});
  return rebuilt;
}

}  // namespace capi::ops
