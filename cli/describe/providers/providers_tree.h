// The providers of a management cluster, who looks after them, how they are, and who waits for whom. Pure.
#pragma once

#include <string>
#include <vector>

#include "advice/explain.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_objects.h"

namespace capi::cli::describe {

// A Deployment, DaemonSet or StatefulSet. A value.
struct Workload {
  std::string kind, ns, name;
  std::string label;    // of which provider: "infrastructure-aws"
  std::string version;  // the tag of its image
  bool healthy = false;
  std::string message;  // why it isn't
};

// What was read of a cluster. A value.
struct ProvidersInput {
  std::vector<Workload> operators, workloads;
  std::vector<ProviderObject> objects;
  std::vector<InstalledProvider> inventory;  // clusterctl's, in which the operator writes its own, too
  std::string ns;                            // "" for all
  // Whether they could be read at all.
  bool workloads_known = true, operators_known = true, inventory_known = true;
};

// A value.
struct ProviderLine {
  api::ProviderId id;
  bool of_operator = false;           // else clusterctl's inventory alone knows it
  std::string version, wanted;        // installed; and what is asked for, where that is another
  std::string contract;               // "" where nobody says
  std::string contract_to_come = {};  // where that is another
  std::string ready;                  // "True", "False", "Unknown"
  std::string reason, message, since;
  // Of one that isn't ready, as `clusterctl why` says it: what the reason means, the next step, where the book has
  // more.
  std::string meaning = {}, action = {}, see = {};
  std::vector<advice::Aside> also = {};         // what holds beside the cause
  std::vector<api::AvailableUpgrade> upgrades;  // newer versions that its status knows, ascending
  std::vector<std::string> waits_for;           // providers: "CoreProvider capi-system/cluster-api"
  std::vector<std::string> holds_up;            // the other way round
  std::string root = {};                        // the provider whose cause is this one's; "" for none, and for itself
  std::vector<Workload> workloads;
};

// A value.
struct ProvidersTree {
  std::vector<Workload> operators;
  std::vector<ProviderLine> providers;  // by type, name and namespace
  std::string ns;                       // where they were looked for; "" for everywhere
  bool operators_known = true, inventory_known = true;
};

// A workload of an operator or a provider, by its JSON.
Workload ReadWorkload(const kube::Object& object);

ProvidersTree BuildProvidersTree(const ProvidersInput& input);

}  // namespace capi::cli::describe
