// Which version of a provider's kind Cluster API reads, by the labels of its CustomResourceDefinition. Pure.
#pragma once

#include <optional>
#include <string>

#include "kube/meta/object.h"

namespace capi::cli::describe {

// A value.
struct ContractVersion {
  std::string contract;  // "v1beta2" or "v1beta1"
  std::string version;   // of the kind: the latest that abides by it
  bool operator==(const ContractVersion&) const = default;
};

// Of the label cluster.x-k8s.io/{contract}, which has versions with "_" between them; nullopt without one of a contract
// that this Cluster API reads.
std::optional<ContractVersion> ContractVersionOf(const kube::Object& crd);

}  // namespace capi::cli::describe
