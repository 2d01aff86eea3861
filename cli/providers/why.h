// `clusterctl why`: what holds a provider back, and what to do about it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/frame/provider_objects.h"
#include "cli/frame/world.h"

namespace capi::cli {

// The flags. A value.
struct WhyOptions {
  ClusterOptions cluster;
  std::vector<std::string> names;  // exactly one
  std::string ns;                  // "" for all
  std::string output = "table";
};

// What a condition says besides the cause. A value.
struct Aside {
  std::string type, reason, message;
};

// A value.
struct Explanation {
  bool ready = false;
  std::string reason, since, message;  // of the condition Ready; `reason` is "" before the operator has looked
  std::string meaning, action;         // of the reason, where it is one of ours
  std::vector<Aside> also;             // what holds beside the cause: drift, warnings, a pause
};

// behaviour.md L9. By the status alone; nothing is asked.
Explanation Explain(const api::Provider& provider);

Status Why(const Context& ctx, const GlobalOptions& global, const WhyOptions& options, World& world);

}  // namespace capi::cli
