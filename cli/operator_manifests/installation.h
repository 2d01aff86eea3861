// The operator in a cluster: whether it is there, and what brings it there and takes it away again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/version.h"
#include "base/context.h"
#include "kube/client/client.h"
#include "kube/meta/object.h"

namespace capi::cli {

// An operator that is there, by its Deployment. A value.
struct InstalledOperator {
  std::string ns, image;
  std::optional<api::Version> version;  // of the label, else of the image's tag; none where neither tells
  bool by_helm = false;                 // Helm would undo what others change
  bool by_clusterctl = false;
  std::string name;        // of the Deployment
  bool available = false;  // a replica of it is
};

// By the label of its Deployment, in whichever namespace; nothing for none. kFailedPrecondition where there are two,
// and for cluster-api-operator, whose kinds have the same names: both say what to do.
Result<std::optional<InstalledOperator>> FindOperator(const Context& ctx, kube::Client& client);
// Of its Deployments, and those with cluster-api-operator's label. Pure.
Result<std::optional<InstalledOperator>> OperatorOf(const std::vector<kube::Object>& ours,
                                                    const std::vector<kube::Object>& peers);

// Of this program.
api::Version OwnVersion();

// Whether this program works with that operator: of the same minor version, or of an unknown one. kFailedPrecondition
// with the command that mends it. Pure.
Status CheckSkew(const InstalledOperator& there, const api::Version& own);

// Whether clusterctl was interrupted while it installed that operator, or something of it is gone: what comes last
// isn't of its version yet or, where that is the one of this program, an object is missing.
Result<bool> IsHalfInstalled(const Context& ctx, kube::Client& client, const InstalledOperator& there);

// Who applies the operator's objects: the manager that `kubectl apply --server-side` has, so that both may be used in
// turn, and what one leaves out goes.
inline constexpr std::string_view kOperatorFieldManager = "kubectl";

// Applies the objects in stages, kinds first. It can be repeated.
Status ApplyOperator(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& objects);

// Waits until the operator of that namespace is rolled out. kDeadlineExceeded says what its Deployment and its pods say
// of it.
Status AwaitOperator(const Context& ctx, kube::Client& client, const std::string& ns);

// What clusterctl has installed of the operator that is not among `objects`: what an older version had.
Result<std::vector<kube::ObjectId>> OperatorLeftovers(const Context& ctx, kube::Client& client,
                                                      const std::vector<kube::Object>& objects);

// Removes these. What is gone already counts as removed.
Status RemoveObjects(const Context& ctx, kube::Client& client, const std::vector<kube::ObjectId>& ids);

// What goes with the operator. A value.
struct OperatorRemoval {
  bool kinds = true;  // its kinds, with all objects of these that are left
  bool ns = true;     // its namespace
};

// What RemoveOperator removes, in its order: all that has the operator's label in `ns` or in no namespace, its kinds,
// its Deployment, its namespace.
Result<std::vector<kube::ObjectId>> OperatorObjectsThere(const Context& ctx, kube::Client& client,
                                                         const std::string& ns, const OperatorRemoval& also = {});

// Removes the operator that is in `ns`, whichever way it came there. Its Deployment, by which FindOperator knows it,
// goes to zero replicas early and away last, so that a run that is broken off is completed by the next one.
Status RemoveOperator(const Context& ctx, kube::Client& client, const std::string& ns,
                      const OperatorRemoval& also = {});

}  // namespace capi::cli
