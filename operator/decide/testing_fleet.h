// Observations in a few words, for tests.
#pragma once

#include <string>

#include "operator/decide/decide.h"

namespace capi::ops::testing {

inline api::Provider NewProvider(api::ProviderType type, const std::string& name,
                                 const std::string& created = "2026-01-01T00:00:00Z") {
  api::Provider provider;
  provider.id = {type, name + "-system", name};
  provider.uid = "uid-" + name + "-" + created;
  provider.generation = 1;
  provider.has_finalizer = true;
  provider.created = created;
  provider.spec.version = "v1.12.0";
  return provider;
}

inline api::Provider NewCore() {
  api::Provider core = NewProvider(api::ProviderType::kCore, "cluster-api");
  core.status.contract = "v1beta2";
  return core;
}

// An infrastructure provider "aws" beside an established core, with its release in the cluster and nothing applied.
inline Observation Observed() {
  Observation o;
  o.provider = NewProvider(api::ProviderType::kInfrastructure, "aws");
  o.core = std::make_shared<api::Provider>(NewCore());
  o.siblings = {o.core};
  o.core_crds_established = true;
  o.known_provider = true;
  o.spec_digest = "spec";
  o.releases = {{"aws-system", "infrastructure-aws-v1.12.0", "v1.12.0", *api::Version::Parse("v1.12.0"), "uid/1"}};
  o.now = WallTime(Seconds(1'800'000'000));
  return o;
}

inline kube::ObjectId DeploymentId() { return {"apps", "Deployment", "aws-system", "capa-controller-manager"}; }

inline Workload NewWorkload(kube::HealthState state, std::string message = "") {
  return {.id = DeploymentId(), .exists = true, .health = {state, std::move(message)}, .scaled_by = "", .available = 1};
}

inline std::string StepName(const Step& step) { return std::string(NameOf(step)); }

}  // namespace capi::ops::testing
