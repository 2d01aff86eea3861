#include "cli/describe/cluster_reader.h"

#include <fmt/format.h>

#include "api/plural.h"
#include "base/strings.h"
#include "cli/describe/contract_version.h"

namespace capi::cli::describe {
namespace {

constexpr char kVersion[] = "v1beta2";
// So many objects of a kind are asked for one by one; then all of the cluster's at once.
constexpr int kFew = 3;

kube::Resource Own(const char* plural, const char* kind) {
  return {.group = "cluster.x-k8s.io", .version = kVersion, .plural = plural, .kind = kind};
}

std::string Name(const Reference& reference) { return fmt::format("{}/{}", reference.kind, reference.name); }

// Others' names become parts of a request.
Status CheckName(const std::string& name) {
  if (IsDns1123Subdomain(name)) return Ok();
  return Error{Code::kNotFound, fmt::format("\"{}\" is no name of an object", name), {}};
}

}  // namespace

ClusterReader::ClusterReader(Context ctx, kube::Client& client, std::string ns, std::string name, ConditionStyle style)
    : ctx_(std::move(ctx)), client_(client), ns_(std::move(ns)), name_(std::move(name)), style_(style) {}

Status ClusterReader::ListByLabel(const kube::Resource& resource, const std::function<void()>& begin,
                                  const OnObject& on_object) {
  const kube::ListOptions options{
      .label_selector = "cluster.x-k8s.io/cluster-name=" + name_, .managed_fields = false, .may_change = true};
  return client_.ForEach(ctx_, resource, ns_, options, begin, [&](const kube::Object& object) -> Result<bool> {
    on_object(object);
    return true;
  });
}

Result<std::vector<MachineObject>> ClusterReader::ListMachines(const char* plural, const char* kind) {
  std::vector<MachineObject> out;
  bool machine = std::string_view(kind) == "Machine";
  Status listed = ListByLabel(
      Own(plural, kind), [&] { out.clear(); },
      [&](const kube::Object& object) {
        out.push_back(machine ? ReadMachine(object, style_) : ReadMachineMaker(object, style_));
      });
  if (!listed.ok()) return listed.error().With(fmt::format("failed to list {} in namespace {}", plural, ns_));
  return out;
}

Status ClusterReader::ReadResourceSets(ClusterParts& parts) {
  const kube::Resource bindings = {.group = "addons.cluster.x-k8s.io",
                                   .version = kVersion,
                                   .plural = "clusterresourcesetbindings",
                                   .kind = "ClusterResourceSetBinding"};
  auto binding = client_.Get(ctx_, bindings, ns_, name_);
  if (binding.ok()) {
    parts.resource_sets = BoundResourceSets(*binding);
  } else if (binding.code() == Code::kPermissionDenied) {
    Miss({bindings.group, bindings.kind, name_}, binding.error());
  } else if (binding.code() != Code::kNotFound) {
    return binding.error();
  }
  return Ok();
}

Result<ClusterParts> ClusterReader::Read(bool resource_sets) {
  TRY(CheckName(ns_));
  TRY(CheckName(name_));
  kube::Object cluster = TRY(client_.Get(ctx_, Own("clusters", "Cluster"), ns_, name_));
  ClusterParts out;
  out.cluster = ReadCluster(cluster, style_);
  out.machines = TRY(ListMachines("machines", "Machine"));
  out.deployments = TRY(ListMachines("machinedeployments", "MachineDeployment"));
  if (!out.deployments.empty()) out.sets = TRY(ListMachines("machinesets", "MachineSet"));
  out.pools = TRY(ListMachines("machinepools", "MachinePool"));
  if (resource_sets) TRY(ReadResourceSets(out));
  return out;
}

void ClusterReader::Miss(const Reference& reference, const Error& error) {
  missing_.push_back(fmt::format("{} is left out: {}", Name(reference), error.message));
  if (error.code != Code::kNotFound && error.code != Code::kPermissionDenied && status_.ok()) status_ = error;
}

Status ClusterReader::FindKind(const Reference& reference, Kind& kind) {
  std::string crd_name = api::Plural(reference.kind) + "." + reference.group;
  TRY(CheckName(crd_name));
  auto crd = TRY(client_.Get(ctx_, kube::Builtin("CustomResourceDefinition"), "", crd_name, {.metadata_only = true}));
  auto version = ContractVersionOf(crd);
  if (!version) {
    return Error{Code::kNotFound,
                 fmt::format("CustomResourceDefinition {} has no label that says which of its versions are of the "
                             "contract v1beta2 or v1beta1",
                             crd_name),
                 {}};
  }
  kind.contract = version->contract;
  kind.resource = kube::Resource{.group = reference.group,
                                 .version = version->version,
                                 .plural = crd_name.substr(0, crd_name.find('.')),
                                 .kind = reference.kind};
  return Ok();
}

ClusterReader::Kind& ClusterReader::KindOf(const Reference& reference) {
  auto [found, added] = kinds_.try_emplace({reference.group, reference.kind});
  if (!added) return found->second;
  if (Status status = FindKind(reference, found->second); !status.ok()) Miss(reference, status.error());
  return found->second;
}

std::optional<kube::Object> ClusterReader::GetOne(const Reference& reference, const Kind& kind) {
  Status name = CheckName(reference.name);
  auto object = name.ok() ? client_.Get(ctx_, *kind.resource, ns_, reference.name) : name.error();
  if (object.ok()) return *std::move(object);
  Miss(reference, object.error());
  return std::nullopt;
}

const ClusterObject* ClusterReader::Get(const Reference& reference) {
  Kind& kind = KindOf(reference);
  if (!kind.resource || !status_.ok()) return nullptr;
  auto known = kind.objects.find(reference.name);
  if (known == kind.objects.end() && ++kind.asked == kFew + 1) {
    // What lacks the label, or a right to list, is asked for one by one all the same.
    Status listed = ListByLabel(
        *kind.resource, [] {},
        [&](const kube::Object& object) { kind.objects.emplace(object.name(), ReadExternal(object, style_)); });
    if (!listed.ok() && listed.error().code != Code::kPermissionDenied) Miss(reference, listed.error());
    known = kind.objects.find(reference.name);
  }
  if (known == kind.objects.end()) {
    std::optional<ClusterObject> read;
    if (auto object = GetOne(reference, kind)) read = ReadExternal(*object, style_);
    known = kind.objects.emplace(reference.name, std::move(read)).first;
  }
  return known->second ? &*known->second : nullptr;
}

const ControlPlane* ClusterReader::GetControlPlane(const Reference& reference) {
  Kind& kind = KindOf(reference);
  if (!kind.resource || !status_.ok()) return nullptr;
  auto object = GetOne(reference, kind);
  if (!object) return nullptr;
  control_plane_ =
      ControlPlane{ReadControlPlane(*object, style_, kind.contract), ControlPlaneTemplate(*object, kind.contract)};
  return &*control_plane_;
}

}  // namespace capi::cli::describe
