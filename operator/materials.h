// The pieces of an installation that are functions of their arguments: inputs of a render, its result as manifests, and
// the inventory that is announced for it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fetch/repository.h"
#include "kube/apply/apply.h"
#include "operator/decide.h"
#include "operator/installer.h"
#include "operator/settings.h"

namespace capi::ops {

using Secret = std::map<std::string, std::string>;  // decoded

// What an installation gathers on its way.
struct Installer::Material {
  std::unique_ptr<fetch::Repository> repository;
  std::optional<StoredRelease> stored;
  bool fetched = false;  // from the network in this pass
  api::Release release;
  std::string digest, contract;
  std::vector<kube::Manifest> manifests;
  std::vector<std::string> warnings;
  kube::Inventory inventory;
  std::optional<kube::Inventory> found;  // rebuilt from labels, for a provider that has lost its status (U11)
};

// Values stay in memory for the render and nowhere else (I7).
Result<Secret> ReadSecret(const Context& ctx, kube::Client& client, const api::ObjectRef& ref);

struct RenderInputs {
  Secret variables;
  std::string additional_manifests;
  templating::ImageOverrides images;
  templating::ScopeLookup cluster_scoped;  // asks the API server for kinds it hasn't met yet
};
// What it returns uses `ctx` and `client`.
Result<RenderInputs> ReadRenderInputs(const Context& ctx, kube::Client& client, const Observation& o);

struct Rendered {
  std::optional<Hold> hold;
  std::vector<kube::Manifest> manifests;
  std::vector<std::string> warnings;
  std::map<std::string, std::string> namespace_labels;  // Pod Security levels that the release's Namespace asks for
};
Rendered RenderManifests(const Observation& o, const api::Release& release, RenderInputs inputs,
                         const Settings& settings);

// What of the labels that the release's Namespace asks for the provider's own lacks (I8); "" for nothing.
std::string MissingNamespaceLabels(const kube::Object& ns, const std::map<std::string, std::string>& wanted);

// The condition for a failed render: reason by step, and for missing variables the place to put them (I5).
Hold RenderHold(const Observation& o, const templating::RenderError& error);
Hold MissingKindsHold(const std::vector<std::string>& kinds);

// Old and new: new entries without a hash, entries that the release no longer has marked stale. CRDs and Namespaces are
// never pruned (U4): they leave the inventory's care only with the provider. What is in a `rebuilt` inventory and not
// in the release stays until the next change of input (U11).
kube::Inventory MergeInventory(const kube::Inventory& old, const std::vector<kube::Manifest>& manifests,
                               bool rebuilt = false);

// Why a live object isn't this provider's to delete; "" where it is (U4).
std::function<std::string(const kube::Object&)> KeepsOthers(const api::ProviderId& id);

}  // namespace capi::ops
