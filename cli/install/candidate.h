// A provider that is to be installed: its release, where it goes, and the values that its template gets. All of it is
// known and checked before anything is written.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "cli/frame/config.h"
#include "cli/frame/management_cluster.h"
#include "cli/frame/provider_release.h"
#include "cli/install/choose.h"

namespace capi::cli {

// A value.
struct Candidate {
  ProviderRelease found;
  api::ProviderId id;                                   // in the namespace that it is installed in
  std::vector<std::string> variables;                   // that its template names
  std::vector<std::string> images;                      // with the overrides of the configuration
  std::map<std::string, std::string> namespace_labels;  // that the release wants for its namespace
  std::map<std::string, std::string> values;            // of variables, from environment and configuration file

  InstalledProvider AsInstalled() const { return {id.type, id.name, id.ns, found.release.version.ToString()}; }
  std::string label() const { return api::ManifestLabel(id.type, id.name); }
};

// Fetches the release and looks what it has, with its variables left in. `target_namespace` "": the release's own.
Result<Candidate> FetchCandidate(const Context& ctx, const Config& config, const ProviderChoice& choice,
                                 const std::string& target_namespace, Notes& notes);

// The same of a release that was found otherwise.
Result<Candidate> CandidateOf(const Config& config, ProviderRelease found, const std::string& target_namespace);

// What a Secret of the cluster has for a candidate already; nothing where there is none.
using StoredValues = std::function<Result<std::map<std::string, std::string>>(const Candidate&)>;

// Fills in the variables' values, renders each, and checks the names of kinds where `check_kinds`. kInvalidArgument
// names every variable that is missing, of all candidates.
Status FillIn(const Config& config, const StoredValues& stored, bool check_kinds, std::vector<Candidate>& candidates);

}  // namespace capi::cli
