#include "operator/ui/viewers.h"

#include <algorithm>

#include "base/encoding.h"
#include "operator/report/secret_values.h"

namespace capi::ops::ui {
namespace {

constexpr std::string_view kBearer = "Bearer ";

View Refused(int status, std::string text) { return {status, std::move(text) + "\n", nullptr, nullptr}; }

View SendAToken() { return Refused(401, "send a bearer token that may get providers"); }

Json RightToGet(api::ProviderType type, const std::string& ns) {
  Json attributes = {{"verb", "get"}, {"group", api::kGroup}, {"resource", api::KindOf(type).plural}};
  if (!ns.empty()) attributes["namespace"] = ns;
  return {{"resourceAttributes", attributes}};
}

View RefusedFor(int status) {
  if (status == 401) {
    return Refused(401, "the API server doesn't know this token, or it has expired: send another one");
  }
  return Refused(403,
                 "this token may get no provider that there is: its holder needs the right to get coreproviders and "
                 "the others of operator.cluster.x-k8s.io, in all namespaces or in one that has some");
}

}  // namespace

View Viewers::ViewOf(RightsPtr rights) {
  return {0, "", [rights](const api::ProviderId& id) { return rights->Has(id); },
          [rights](const api::ProviderId& id) { return rights->Lacks(id); }};
}

Viewers::RightsPtr Viewers::RightsOf(const std::string& digest) {
  MutexLock lock(mu_);
  const MonoTime now = clock_.Monotonic();
  const RightsPtr* found = known_.Find(digest, now);
  return found == nullptr || (*found)->until <= now ? nullptr : *found;
}

std::optional<View> Viewers::Known(const std::string& digest, const std::vector<api::ProviderId>& all) {
  if (RightsPtr rights = RightsOf(digest)) {
    const bool lacks = std::any_of(all.begin(), all.end(), [&](const auto& id) { return rights->Lacks(id); });
    return lacks ? std::nullopt : std::optional(ViewOf(std::move(rights)));
  }
  MutexLock lock(mu_);
  const int* status = refused_.Find(digest, clock_.Monotonic());
  return status == nullptr ? std::nullopt : std::optional(RefusedFor(*status));
}

View Viewers::Of(const std::stop_token& stop, const std::string& authorization,
                 const std::vector<api::ProviderId>& all) {
  if (!authorization.starts_with(kBearer)) return SendAToken();
  const std::string token = authorization.substr(kBearer.size()), digest = Sha256Hex(token);
  if (auto known = Known(digest, all)) return *std::move(known);
  ReviewTurns::Turn turn = turns_.Take(stop);
  if (auto known = Known(digest, all)) return *std::move(known);  // somebody else with it had a turn meanwhile
  if (turn != nullptr) return Ask(stop, token, digest, all);
  if (RightsPtr rights = RightsOf(digest)) return ViewOf(std::move(rights));
  return Refused(503, "too many ask with unknown tokens, or the API server is slow: try again");
}

View Viewers::Keep(const std::string& digest, RightsPtr rights) {
  if (rights->none()) return Refuse(digest, 403);
  MutexLock lock(mu_);
  known_.Put(digest, rights, clock_.Monotonic());
  return ViewOf(std::move(rights));
}

// Also what is refused isn't asked about again and again.
View Viewers::Refuse(const std::string& digest, int status) {
  MutexLock lock(mu_);
  refused_.Put(digest, status, clock_.Monotonic());
  return RefusedFor(status);
}

View Viewers::Failed(const std::stop_token& stop, const Error& error, const std::string& token) {
  constexpr const char* kMessage = "can't ask the API server who may see the page";
  auto is_news = [this] {
    MutexLock lock(mu_);
    const MonoTime now = clock_.Monotonic();
    if (logged_.Find(kMessage, now) != nullptr) return false;
    logged_.Put(kMessage, true, now);
    return true;
  };
  if (!stop.stop_requested() && is_news()) {  // an end isn't a failure
    SecretValues values;                      // a server may repeat what it refuses
    values.Add(token);
    log_.Error(kMessage, {{"code", CodeName(error.code)}, {"error", values.Hide(error.message)}});
  }
  return Refused(500, "the API server can't say now who may see the page");
}

View Viewers::Ask(const std::stop_token& stop, const std::string& token, const std::string& digest,
                  const std::vector<api::ProviderId>& all) {
  const Context ctx = Context{}.WithStop(stop).WithTimeout(kLongestReview);
  if (RightsPtr known = RightsOf(digest)) {
    auto more = Review(ctx, *known, all);
    if (more.ok()) return Keep(digest, *std::move(more));
    Failed(stop, more.error(), token);
    return {0, "", ViewOf(std::move(known)).sees, nullptr};  // and isn't sent to ask again
  }
  const MonoTime until = clock_.Monotonic() + kCounts;
  auto user = HolderOf(ctx, client_, token);
  if (!user.ok()) return Failed(stop, user.error(), token);
  if (!*user) return Refuse(digest, 401);
  Rights rights;
  rights.user = **std::move(user);
  rights.until = until;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    auto may = access_.Allowed(ctx, rights.user, RightToGet(kind.type, ""));
    if (!may.ok()) return Failed(stop, may.error(), token);
    if (*may) rights.everywhere.insert(kind.type);
  }
  auto all_of_it = Review(ctx, std::move(rights), all);
  return all_of_it.ok() ? Keep(digest, *std::move(all_of_it)) : Failed(stop, all_of_it.error(), token);
}

Result<Viewers::RightsPtr> Viewers::Review(const Context& ctx, Rights rights, const std::vector<api::ProviderId>& all) {
  for (const api::ProviderId& id : all) {
    if (!rights.Lacks(id)) continue;
    rights.asked.emplace(id.type, id.ns);
    if (TRY(access_.Allowed(ctx, rights.user, RightToGet(id.type, id.ns)))) rights.in.emplace(id.type, id.ns);
  }
  return RightsPtr(std::make_shared<const Rights>(std::move(rights)));
}

}  // namespace capi::ops::ui
