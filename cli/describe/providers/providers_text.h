// The tree of providers as a person, or a program, reads it. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "cli/describe/providers/providers_tree.h"

namespace capi::cli::describe {

// A value.
struct ProvidersTextOptions {
  bool wide = false;  // with the version that is asked for, newer ones, and since when
  bool colours = false;
  bool ill_alone = false;  // of the workloads those that aren't healthy
  size_t columns = 0;      // no line is wider, where words and names allow it; 0: as wide as it gets
  WallTime now;
};

std::string ProvidersText(const ProvidersTree& tree, const ProvidersTextOptions& options);
// As kubectl takes them: "coreprovider.operator.cluster.x-k8s.io/cluster-api".
std::vector<std::string> ProvidersNames(const ProvidersTree& tree);
Json ProvidersJson(const ProvidersTree& tree);

}  // namespace capi::cli::describe
