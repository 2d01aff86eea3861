// A control plane made ready for the operator, and the few things that tests do to it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/testing/release_folder.h"
#include "api/types.h"
#include "kube/client/client.h"
#include "kube/testing/control_plane.h"

namespace capi::e2e {

// A cluster stores releases of the set by their folders.
using api::GetRelease;
using api::ReleaseFolder;

// A provider of a test, and the Deployment that shows how it fares. A value.
struct Managed {
  api::ProviderType type;
  std::string ns, name, deployment;
  std::string Label() const { return api::ManifestLabel(type, name); }
};

// What a test expects of a provider.
struct Seen {
  bool exists = false;
  api::Provider provider;
  std::string Status(std::string_view condition) const;  // "True", or "" where there is none
  std::string Reason(std::string_view condition) const;
  std::string Message(std::string_view condition) const;
  std::string Describe() const;  // all conditions, for a failed test's output
};

// The time of the next try that a message reports (F5), in whole seconds; an error where it reports none.
Result<WallTime> NextTryIn(const std::string& message);
// Whether a try at `tried` is the one that was reported: in time, or late by what a busy machine takes and the part of
// a second that the report lacks.
bool IsTimeOf(WallTime reported, WallTime tried);

// Thread-compatible.
class Cluster {
 public:
  // Our CRDs are applied to it, and cert-manager's.
  explicit Cluster(kube::ControlPlane& plane, bool cert_manager = true);

  kube::Client& client() { return *client_; }
  kube::ControlPlane& plane() { return plane_; }
  Context ctx() const { return Context{}.WithTimeout(Seconds(60)); }

  void CreateNamespace(const std::string& ns);
  void DeleteNamespace(const std::string& ns);
  // As existing tools store a release: labels, keys, gzip above 1 MiB. `labels` replace the usual ones.
  void StoreRelease(const std::string& ns, const ReleaseFolder& release, std::map<std::string, std::string> labels = {},
                    std::string name = "");
  void StoreConfigMap(const std::string& ns, const std::string& name, std::map<std::string, std::string> labels,
                      std::map<std::string, std::string> data);
  void StoreSecret(const std::string& ns, const std::string& name, const std::map<std::string, std::string>& values);
  // Creates or replaces the spec.
  void ApplyProvider(api::ProviderType type, const std::string& ns, const std::string& name, Json spec,
                     std::map<std::string, std::string> annotations = {});
  void PatchProvider(api::ProviderType type, const std::string& ns, const std::string& name, const Json& merge_patch);
  void DeleteProvider(api::ProviderType type, const std::string& ns, const std::string& name);
  Seen See(api::ProviderType type, const std::string& ns, const std::string& name);

  // Wait and report what was seen when it doesn't happen: by kube::Eventually, or as WaitBy says.
  bool AwaitReady(api::ProviderType type, const std::string& ns, const std::string& name, Millis timeout = Seconds(60));
  bool AwaitReason(api::ProviderType type, const std::string& ns, const std::string& name, std::string_view condition,
                   std::string_view reason, Millis timeout = Seconds(30));
  bool AwaitGone(api::ProviderType type, const std::string& ns, const std::string& name, Millis timeout = Seconds(60));
  using Wait = std::function<bool(const std::function<bool()>& done, Millis timeout)>;
  void WaitBy(Wait wait) { wait_ = std::move(wait); }

  // Installs a core release in namespace capi-system from a ConfigMap and waits until it is ready.
  bool InstallCore(const std::string& version);
  // Deletes every provider and what CRDs of providers there are, and waits until they are gone: a running operator is
  // needed.
  void DeleteAllProviders();
  // Removes all CRDs of a provider by its label, so that another version can come; of all providers where it is "".
  void DeleteCrds(const std::string& label);

  // False where the object or its kind isn't there. A server that doesn't say is asked again, and fails the test.
  bool Exists(const kube::ObjectId& id, const std::string& version = "");
  kube::Object Get(const char* kind, const std::string& ns, const std::string& name);

 private:
  std::optional<kube::Object> IfThere(const kube::Resource& resource, const std::string& ns, const std::string& name);

  kube::ControlPlane& plane_;
  std::unique_ptr<kube::Client> client_;
  Wait wait_ = [](const std::function<bool()>& done, Millis timeout) { return kube::Eventually(done, timeout); };
};

// Spec of a provider whose release StoreRelease stored with its usual labels.
Json SelectorSpec(const ReleaseFolder& release);

}  // namespace capi::e2e
