// What can be said of declared providers with their releases at hand. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/release.h"
#include "cli/declare/declared_objects.h"
#include "cli/declare/lint_object.h"

namespace capi::cli {

// A declared provider and its release, where that was found. A value.
struct ReleasedProvider {
  DeclaredProvider declared;
  std::optional<api::Release> release;
  std::string contract;  // "" where it isn't known
};

// That there is one object for each provider.
void LintDuplicates(const std::vector<ReleasedProvider>& providers, std::vector<Finding>& out);
// That each contract is one that the core of the same files takes (C1).
void LintContracts(const std::vector<ReleasedProvider>& providers, std::vector<Finding>& out);
// That the release needs no variable that nobody gives it, and takes what the object says: patches, overrides and
// additional manifests. Values of variables are never looked at, only whether they are there.
void LintRelease(const ReleasedProvider& provider, const DeclaredObjects& objects, std::vector<Finding>& out);

}  // namespace capi::cli
