// What Install judges on its way to the first write, stage by stage: each rule a pure function of the Observation and
// of what is known of the release by then, under its name in docs/behaviour.md.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/release.h"
#include "operator/decide/crd_stages.h"
#include "operator/decide/hold.h"
#include "operator/decide/missing_rights.h"
#include "operator/decide/observation.h"

namespace capi::ops {

// Whether who installs it may read all objects of its render (T8), as the API server has said in this pass.
enum class Sight { kUnasked, kUnknown, kGiven };

// A release that is to be applied, as far as it is known. A value.
struct Candidate {
  api::Version version;
  std::string source, digest;              // kComponents: of its components
  std::string wanted_digest;               // "" for any
  std::optional<Error> metadata_error;     // kMetadata: of its metadata.yaml
  api::Metadata metadata = {};             // kRelease
  std::string contract = "";               // kContract: of that version
  std::vector<kube::ObjectId> objects;     // kObjects: of its render
  std::vector<std::string> missing_kinds;  // kKinds: of these, those that the cluster doesn't have
  LackingRights lacking;                   // kRights
  std::vector<LostVersion> lost_versions;  // kStoredVersions
  bool rollback = false;                   // it goes back to this release (U5)
  Sight sight = Sight::kUnasked;
};

// T2: whether its components are those that are asked for, or that were applied before where it goes back to them (U5).
Status CheckDigest(const Candidate& candidate);

struct InstallRule {
  enum class Stage { kComponents, kMetadata, kRelease, kContract, kObjects, kKinds, kRights, kStoredVersions };
  std::string_view name;  // "C3.pause": the rule of docs/behaviour.md
  Stage stage;
  std::optional<Hold> (*check)(const Observation&, const Candidate&);
};
std::span<const InstallRule> InstallRules();

// The first rule of that stage that holds the candidate back; nullopt: the next stage may come.
std::optional<Hold> CheckInstall(InstallRule::Stage stage, const Observation& o, const Candidate& candidate);

}  // namespace capi::ops
