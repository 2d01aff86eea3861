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
  for (kube::Client* cluster : clusters_)
    TRY_WITH(Retried(ctx, [&] { return Write(ctx, *cluster); }), "failed to mark the namespace as being moved");
  taken_ = true;
  return Ok();
}

Status Claim::Check(const Context& ctx) {
  if (!taken_) return Ok();
  for (kube::Client* cluster : clusters_) {
    TRY(Retried(ctx, [&]() -> Status {
      auto claim = cluster->Get(ctx, Resource(), ns_, kClaimName);
      if (claim.ok() && GetString(claim->json(), {"data", "run"}) == run_) return Ok();
      if (!claim.ok() && claim.code() != Code::kNotFound) return claim.error();
      return Error{Code::kFailedPrecondition,
                   fmt::format("another move of the namespace {} was begun meanwhile, and goes on in this one's place. "
                               "Wait for its end",
                               ns_),
                   {}};
    }));
  }
  return Ok();
}

Status Claim::Release(const Context& ctx) {
  for (kube::Client* cluster : clusters_) {
    TRY(Retried(ctx, [&]() -> Status {
      auto claim = cluster->Get(ctx, Resource(), ns_, kClaimName);
      if (!claim.ok()) return claim.code() == Code::kNotFound ? Ok() : Status(claim.error());
      Record of{{GetString(claim->json(), {"data", "from"}), GetString(claim->json(), {"data", "to"})}};
      if (!IsOf(of, ends_)) return Ok();
      Status gone = cluster->Delete(ctx, Resource(), ns_, kClaimName,
                                    {.uid = claim->uid(), .resource_version = claim->resource_version()});
      return gone.ok() || gone.code() != Code::kNotFound ? gone : Ok();
    }));
  }
  return Ok();
}

}  // namespace capi::cli::move
