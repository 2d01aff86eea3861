#include "operator/ui/viewers.h"

#include "base/encoding.h"
#include "operator/report/secret_values.h"

namespace capi::ops::ui {
namespace {

constexpr std::string_view kBearer = "Bearer ";

View Refused(int status, std::string text) { return {status, std::move(text) + "\n", nullptr}; }

View SendAToken() { return Refused(401, "send a bearer token that may get providers"); }

Json RightToGet(api::ProviderType type, const std::string& ns) {
  Json attributes = {{"verb", "get"}, {"group", api::kGroup}, {"resource", api::KindOf(type).plural}};
  if (!ns.empty()) attributes["namespace"] = ns;
  return {{"resourceAttributes", attributes}};
}

}  // namespace

View Viewers::ViewOf(RightsPtr rights) {
  if (rights->none()) {
    return Refused(403,
                   "this token may get no provider: its holder needs the right to get coreproviders and the others "
                   "of operator.cluster.x-k8s.io");
  }
  return {0, "", [rights = std::move(rights)](const api::ProviderId& id) { return rights->Has(id); }};
}

Viewers::RightsPtr Viewers::Known(const std::string& digest) {
  MutexLock lock(mu_);
  const RightsPtr* found = known_.Find(digest, clock_.Monotonic());
  return found == nullptr ? nullptr : *found;
}

View Viewers::Of(const std::stop_token& stop, const std::string& authorization,
                 const std::vector<api::ProviderId>& all) {
  if (!authorization.starts_with(kBearer)) return SendAToken();
  const std::string token = authorization.substr(kBearer.size()), digest = Sha256Hex(token);
  if (RightsPtr rights = Known(digest)) return ViewOf(std::move(rights));
  ReviewTurns::Turn turn = turns_.Take(stop);
  if (RightsPtr rights = Known(digest)) return ViewOf(std::move(rights));  // somebody else with it had a turn meanwhile
  if (turn == nullptr) return Refused(503, "too many ask with unknown tokens, or the API server is slow: try again");
  return Ask(stop, token, digest, all);
}

View Viewers::Ask(const std::stop_token& stop, const std::string& token, const std::string& digest,
                  const std::vector<api::ProviderId>& all) {
  const Context ctx = Context{}.WithStop(stop).WithTimeout(kLongestReview);
  auto failed = [&](const Error& error) {
    SecretValues values;  // a server may repeat what it refuses
    values.Add(token);
    log_.Error("can't ask the API server who may see the page",
               {{"code", CodeName(error.code)}, {"error", values.Hide(error.message)}});
    return Refused(500, "the API server can't say now who may see the page");
  };
  auto user = HolderOf(ctx, client_, token);
  if (!user.ok()) return failed(user.error());
  if (!*user) return Refused(401, "the API server doesn't know this token, or it has expired: send another one");
  auto rights = Review(ctx, **user, all);
  if (!rights.ok()) return failed(rights.error());
  {
    MutexLock lock(mu_);
    if (!(*rights)->none()) known_.Put(digest, *rights, clock_.Monotonic());
  }
  return ViewOf(*std::move(rights));
}

Result<Viewers::RightsPtr> Viewers::Review(const Context& ctx, const Json& user,
                                           const std::vector<api::ProviderId>& all) {
  Rights rights;
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    if (TRY(access_.Allowed(ctx, user, RightToGet(kind.type, "")))) rights.everywhere.insert(kind.type);
  }
  std::set<std::pair<api::ProviderType, std::string>> asked;
  for (const api::ProviderId& id : all) {
    if (rights.everywhere.contains(id.type) || asked.contains({id.type, id.ns})) continue;
    if (asked.size() >= kMostQuestions) break;
    asked.emplace(id.type, id.ns);
    if (TRY(access_.Allowed(ctx, user, RightToGet(id.type, id.ns)))) rights.in.emplace(id.type, id.ns);
  }
  return RightsPtr(std::make_shared<const Rights>(std::move(rights)));
}

}  // namespace capi::ops::ui
