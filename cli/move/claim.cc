#include "cli/move/claim.h"

#include <fmt/format.h>

#include <utility>

#include "base/encoding.h"
#include "base/strings.h"
#include "cli/move/work.h"

namespace capi::cli::move {
namespace {

constexpr size_t kBytesOfRun = 12;

const kube::Resource& Resource() { return kube::Builtin("ConfigMap"); }

}  // namespace

Claim::Claim(kube::Client& source, kube::Client& target, const Ends& ends, std::string ns)
    : ends_(ends), ns_(std::move(ns)), run_(Base64Encode(RandomBytes(kBytesOfRun))), clusters_{&source, &target} {
  if (ends_.to < ends_.from) std::swap(clusters_[0], clusters_[1]);
}

Status Claim::Write(const Context& ctx, kube::Client& cluster) {
  const Json data = {{"from", ends_.from}, {"to", ends_.to}, {"run", run_}};
  auto written = cluster.Patch(ctx, Resource(), ns_, kClaimName, kube::PatchType::kMerge, {{"data", data}});
  if (written.ok() || written.code() != Code::kNotFound) return written.ok() ? Ok() : Status(written.error());
  kube::Object claim(Json{{"apiVersion", "v1"},
                          {"kind", "ConfigMap"},
                          {"metadata", {{"name", kClaimName}, {"namespace", ns_}}},
                          {"data", data}});
  auto made = cluster.Create(ctx, Resource(), claim);
  if (made.ok()) return Ok();
  // Another run was quicker: it is to be taken over then.
  if (made.code() == Code::kAlreadyExists) return Error{Code::kConflict, made.error().message, {}};
  return made.error();
}

Status Claim::Take(const Context& ctx) {
  for (size_t at = 0; at < clusters_.size(); ++at) {
    Status written = Retried(ctx, [&] { return Write(ctx, *clusters_[at]); });
    taken_[at] = written.ok();
    if (written.ok()) continue;
    Error error = written.error().With("failed to mark the namespace as being moved");
    if (error.code != Code::kPermissionDenied && error.code != Code::kNotFound) return error;
    (error.code == Code::kPermissionDenied ? denied_ : lacks_) = std::move(error);
  }
  return Ok();
}

Claim::Holder Claim::HolderOf(const kube::Object& claim) const {
  auto data = [&](const char* key) { return GetString(claim.json(), {"data", key}); };
  if (data("run") == run_) return Holder::kThisRun;
  return IsOf({{data("from"), data("to")}}, ends_) ? Holder::kSamePair : Holder::kOthers;
}

// Where both are taken one of the same pair has lost in the second cluster, or will: it has to have taken the first one
// later.
bool Claim::Decides(size_t at) const { return at == 0 || !taken_[0]; }

Status Claim::CheckAt(const Context& ctx, size_t at) {
  auto claim = clusters_[at]->Get(ctx, Resource(), ns_, kClaimName);
  if (!claim.ok() && claim.code() != Code::kNotFound) return claim.error();
  const Holder holder = claim.ok() ? HolderOf(*claim) : Holder::kNone;
  if (holder == Holder::kThisRun || (!Decides(at) && holder != Holder::kOthers)) return Ok();
  if (holder == Holder::kNone) ended_ = true;
  lost_ = true;
  return Lost();
}

Error Claim::Lost() const {
  return {Code::kFailedPrecondition,
          fmt::format("another move of the namespace {} was begun meanwhile, and {}, move them again", ns_,
                      ended_ ? "has ended in this one's place. If Clusters are paused"
                             : "goes on in this one's place. Wait for its end. If Clusters are paused then"),
          {}};
}

Status Claim::Check(const Context& ctx) {
  for (size_t at = 0; at < clusters_.size(); ++at)
    if (taken_[at]) TRY(Retried(ctx, [&] { return CheckAt(ctx, at); }));
  return Ok();
}

Status Claim::ReleaseAt(const Context& ctx, size_t at) {
  auto claim = clusters_[at]->Get(ctx, Resource(), ns_, kClaimName);
  if (!claim.ok()) return claim.code() == Code::kNotFound ? Ok() : Status(claim.error());
  const Holder holder = HolderOf(*claim);
  if (holder != Holder::kThisRun && (lost_ || Decides(at) || holder == Holder::kOthers)) return Ok();
  Status gone = clusters_[at]->Delete(ctx, Resource(), ns_, kClaimName,
                                      {.uid = claim->uid(), .resource_version = claim->resource_version()});
  return gone.ok() || gone.code() != Code::kNotFound ? gone : Ok();
}

// The one that decides goes last. Who has lost leaves nothing of its own: whoever took over may not write there.
Status Claim::Release(const Context& ctx) {
  Status held = Check(ctx);
  if (!held.ok() && !lost_) return held;
  Status out = Ok();
  for (size_t at : {1, 0}) {
    Status released = taken_[at] ? Retried(ctx, [&] { return ReleaseAt(ctx, at); }) : Ok();
    if (!released.ok()) out = released;
  }
  return out;
}

}  // namespace capi::cli::move
