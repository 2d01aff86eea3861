// Everything one pass knows about one provider, read from caches before anything is decided.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/release.h"
#include "api/stored_release.h"
#include "api/types.h"
#include "api/validate/validate.h"
#include "kube/apply/inventory.h"
#include "kube/meta/health.h"
#include "kube/meta/kind.h"
#include "lifecycle/plan/crd_state.h"
#include "operator/decide/drift.h"

namespace capi::ops {

using ProviderPtr = std::shared_ptr<const api::Provider>;

// A Secret or ConfigMap that the spec refers to, without its content.
struct Referenced {
  api::ObjectRef ref;
  bool exists = false;
  std::string stamp;  // uid and resourceVersion; "" where it doesn't exist
};

using api::StoredRelease;

// What another tool installed, and this operator has not taken over yet (behaviour.md A1).
struct FormerInstall {
  std::string tool;     // "clusterctl"
  std::string ns;       // of its components
  std::string version;  // the installed one
};

struct Workload {
  kube::ObjectId id;
  bool exists = false;
  kube::Health health;
  std::string scaled_by;              // who else sets its replicas: an autoscaler, `kubectl scale`; "" for nobody
  bool awaited = false;               // the watch hasn't shown our last write yet: the rest is old
  std::int64_t replicas = 1;          // spec.replicas
  std::optional<std::string> former;  // annotation original-replicas: a pause scaled it to zero (P1)
  bool idle = false;                  // spec.replicas is 0, and its status tells of no pod
  bool at_zero = false;               // the same, and the status is of what was written last: no pod of it is left
  std::int64_t available = 0;         // pods that serve, as its status says
  std::int64_t terminating = 0;       // pods on their way out, where the server counts them; for a minute at most (U2)
  std::string pods;                   // label selector of its pods, while it isn't healthy
};

using lifecycle::CrdState;
using lifecycle::MigrationProgress;

inline bool IsWorkload(const kube::ObjectId& id) {
  return (id.group == "apps" && (id.kind == "Deployment" || id.kind == "DaemonSet" || id.kind == "StatefulSet")) ||
         (id.group == "batch" && id.kind == "Job");
}

// A Secret whose certificate the operator keeps, and an object with CA bundles of such a certificate (I19). Values.
struct CertificateSeen {
  kube::ObjectId id;
  CertificateState state;
  int held = 0;  // as CertificateMarks have it, and `next` and `came` too
  bool next = false;
};
struct BundleSeen {
  kube::ObjectId id;
  std::string ca_from;  // NAMESPACE/CERTIFICATE
  std::string mark;
  int held = 0;
  bool came = false;
};

// Why certificates weren't kept when that was last tried, and when it is tried again. A value.
struct CertificateTrouble {
  std::optional<Error> error;
  Millis wait{0};          // from now
  bool of_keeping = true;  // of a renewal or a mend, and not of a hand-over
};

// What a provider's objects look like, from the watches.
struct Fleet {
  std::vector<Workload> workloads;            // of the inventory
  std::vector<std::string> pending_crds;      // names of CRDs of the inventory that aren't Established
  std::vector<Drift> drifts;                  // what isn't as it was applied, of all kinds (D1)
  bool blind = false;                         // the watch of some kind has no state yet: drift of it can't be told
  std::optional<Millis> awaited;              // some of it is older than our last write: for so long at most, from now
  std::vector<CrdState> unmigrated;           // CRDs whose storedVersions has more than the version that is stored (U3)
  std::vector<CertificateSeen> certificates;  // I19
  std::vector<BundleSeen> bundles;
  bool ready() const {
    for (const auto& w : workloads) {
      if (!w.health.ok()) return false;
    }
    return pending_crds.empty();
  }
  // And no old pod is left.
  bool rolled_out() const {
    for (const auto& w : workloads) {
      if (w.terminating > 0) return false;
    }
    return ready();
  }
};

// A fight over a field or an object that goes on (D2; observe/fights.h). A value.
struct Fight {
  kube::ObjectId id;
  std::string what;      // as Describe says it
  size_t restored = 0;   // times since it began
  bool waiting = false;  // changed now, and not restored before `next`
  Millis next{0};        // from now: to the next restoration, or to the end of the fight
};

// What a look for newer versions came to (U12; act/update_checks.h). A value.
struct UpdatesFound {
  std::string source;  // UpdateCheck::source, then
  WallTime time;
  // Without what they need. One whose metadata can't be read has no contract, and `needs` says why not.
  std::vector<api::AvailableUpgrade> newer;
  std::optional<Error> error;
};

// A value. Complete: Decide reads nothing else.
struct Observation {
  api::Provider provider;                // its spec.version is the one that is to run (api::VersionToRun)
  std::string declared_version;          // spec.version as it is written
  bool chosen = false;                   // by spec.upgradePolicy in this pass: nothing of it has begun yet (U13)
  std::optional<Error> spec_error;       // the spec can't be read
  std::string spec_digest;               // of the spec but its version, its policy, whether it is paused
  kube::Inventory inventory;             // of status
  std::optional<Error> inventory_error;  // the status can't be read
  std::vector<ProviderPtr> siblings;     // all other providers, of all kinds; a spec that doesn't parse is left empty
  std::vector<std::string> unlisted;     // kinds of providers that can't be listed: siblings of them aren't known
  std::set<api::ProviderId> unjudged;    // siblings that say no contract, though workloads of theirs exist (U11, A2)
  ProviderPtr core;                      // the oldest core provider, also when it is this one; null for none
  bool core_crds_established = false;
  std::optional<Referenced> config_secret, additional_manifests;  // but for refused ones
  std::optional<Referenced> source_secret;  // of spec.fetchConfig.secretRef; the same. What is applied isn't made of it
  std::optional<Referenced> keys_secret;    // of spec.fetchConfig.verify; the same. What it says is an input (T14)
  bool verification_required = false;       // every provider has to have a digest or verify
  std::optional<Referenced> service_account;              // T8
  bool service_account_required = false;                  // nothing is done in the operator's own name
  std::vector<api::ForeignReference> refused_references;  // to other namespaces, without leave (T1): nobody looks there
  std::vector<StoredRelease> releases;  // that the spec's selector finds, or that were fetched for this provider
  bool known_provider = false;          // the registry (built-in or the operator's file) has its name
  std::optional<FormerInstall> former;  // unset once it is taken over
  std::string lost_version;             // that runs, by our entry, where the status is lost (U11); "" for none
  Fleet fleet;
  std::vector<Fight> fights;  // D2
  std::string rendered;       // InputsDigest of the render that is at hand; "" for none
  // Of a provider that is deleted: objects of workload clusters that need it (X2), kUsersNamed and one more at most.
  std::vector<std::string> users;
  std::optional<Error> users_error;  // they can't be found out
  bool inventory_lost = false;       // something was applied, but what isn't known any more (U11)
  bool left_behind = false;          // CRDs or workloads with the provider's labels and our entry exist (U11)
  bool namespace_going = false;      // the provider's Namespace is being deleted (X5)
  std::string environment;           // digest of the operator's own inputs: variables, file, renderer version
  Millis check_updates{0};           // time between two looks for newer versions (U12); 0: no source is asked for them
  std::string source;                // where releases come from: URL, reference or folder; "" for ConfigMaps
  std::optional<UpdatesFound> updates;  // the last one since the start
  bool builtin_certificates = false;    // the operator makes the certificates that releases ask for, not cert-manager
  std::optional<Millis> cert_manager_until;  // cert-manager isn't available, and is waited for for so long (I19)
  CertificateTrouble certificate_trouble;
  WallTime now;
};

}  // namespace capi::ops
