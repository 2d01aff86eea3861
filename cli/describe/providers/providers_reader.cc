#include "cli/describe/providers/providers_reader.h"

#include <fmt/format.h>

namespace capi::cli::describe {
namespace {

// Reads what is about providers; what a person has no right to read is told, and does without.
class Reader {
 public:
  Reader(const Context& ctx, ManagementCluster& cluster, const std::string& ns, Notes& notes)
      : ctx_(ctx), cluster_(cluster), ns_(ns), notes_(notes) {}

  Result<ProvidersInput> Read() {
    ProvidersInput out;
    TRY(ReadObjects(out));
    TRY(ReadInventory(out));
    out.ns = ns_;
    out.operators = TRY(List("Deployment", "", kOperatorLabel, &out.operators_known));
    for (const char* kind : {"Deployment", "DaemonSet", "StatefulSet"}) {
      auto some = TRY(List(kind, ns_, std::string(api::kLabelProvider), &out.workloads_known));
      out.workloads.insert(out.workloads.end(), some.begin(), some.end());
    }
    return out;
  }

 private:
  Status ReadObjects(ProvidersInput& out) {
    auto objects = AllProviders(ctx_, cluster_, ns_);
    if (objects.ok()) {
      out.objects = *std::move(objects);
    } else if (objects.code() != Code::kFailedPrecondition) {  // it has no operator's kinds
      return objects.error();
    }
    return Ok();
  }

  Status ReadInventory(ProvidersInput& out) {
    auto inventory = cluster_.Providers(ctx_);
    out.inventory_known = inventory.ok();
    if (!inventory.ok()) return Without(inventory.error(), "clusterctl's inventory");
    for (InstalledProvider& one : *inventory) {
      if (ns_.empty() || one.ns == ns_) out.inventory.push_back(std::move(one));
    }
    return Ok();
  }

  Result<std::vector<Workload>> List(const char* kind, const std::string& ns, const std::string& selector,
                                     bool* known) {
    std::vector<Workload> out;
    auto list = cluster_.client().List(ctx_, kube::Builtin(kind), ns, {.label_selector = selector});
    if (!list.ok()) {
      *known = false;
      TRY(Without(list.error(), fmt::format("{}s with the label {}", kind, selector)));
      return out;
    }
    for (const kube::Object& object : list->items) out.push_back(ReadWorkload(object));
    return out;
  }

  // Ok where it can be done without.
  Status Without(const Error& error, const std::string& what) {
    if (error.code != Code::kPermissionDenied) return error.With(fmt::format("failed to list {}", what));
    notes_.Warn(fmt::format("{} can't be read, and aren't told: {}", what, error.message));
    return Ok();
  }

  const Context& ctx_;
  ManagementCluster& cluster_;
  const std::string& ns_;
  Notes& notes_;
};

}  // namespace

Result<ProvidersInput> ReadProviders(const Context& ctx, ManagementCluster& cluster, const std::string& ns,
                                     Notes& notes) {
  return Reader(ctx, cluster, ns, notes).Read();
}

}  // namespace capi::cli::describe
