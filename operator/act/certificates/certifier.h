// Keeps the certificates that the operator makes in cert-manager's place (behaviour.md I19): their Secrets, and whoever
// has to trust them.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "kube/apply/apply.h"
#include "kube/client/client.h"
#include "operator/act/certificates/certificate_secret.h"
#include "operator/decide/observation.h"
#include "operator/observe/settings.h"
#include "operator/observe/tracks.h"

namespace capi::ops {

// Thread-safe; one provider is kept by one thread at a time. What it is given outlives it. Everything is written in the
// context's name, with a field manager of its own: the rest of these objects is the release's.
class Certifier {
 public:
  Certifier(kube::Client& client, Tracks& tracks) : client_(client), tracks_(tracks) {}

  // What was written, in words for events. An error names the object.
  struct Kept {
    std::vector<std::string> what;
    Status ended = Ok();
    kube::ObjectId failed;  // where it didn't end well
    int writes = 0;
    bool waits = false;  // for what may be there any moment: the next try is no later each time
    bool hands_over = false;

    // The first that failed is told. Nothing else waits for it.
    void Add(const kube::ObjectId& id, Status status) {
      if (!ended.ok() || status.ok()) return;
      failed = id;
      ended = std::move(status);
    }
  };

  // Before `manifests` are applied: the Secrets of certificates among them are there, with a certificate as it is asked
  // for. `inventory` is the provider's: what of it has to trust a new CA trusts it first.
  Kept Prepare(const Context& ctx, const std::vector<kube::Manifest>& manifests, const kube::Inventory& inventory);
  // After they were applied: those of them with CA bundles trust the provider's certificates.
  Kept Trust(const Context& ctx, const std::vector<kube::Manifest>& manifests, const kube::Inventory& inventory);
  // What is due (DueCertificates), from what lies in the cluster alone.
  Kept Keep(const Context& ctx, const Observation& o, const std::vector<kube::ObjectId>& due);
  // The Secret is the operator's to keep no more. Its values stay.
  Status Leave(const Context& ctx, const kube::ObjectId& secret);

  // The CA bundles of what has one are the operator's to keep no more. They stay.
  Status LeaveBundles(const Context& ctx, const kube::ObjectId& target);
  // Whether the Secret says that it is the operator's to keep. False where there is none.
  Result<bool> IsKept(const Context& ctx, const kube::ObjectId& secret);
  // Whether something of cert-manager owns the Secret, which goes with it. False where there is no Secret.
  Result<bool> IsOwned(const Context& ctx, const kube::ObjectId& secret);
  // Nothing of cert-manager owns the Secret any more. After its Certificate was deleted: before that cert-manager,
  // where it runs, makes that its owner once more.
  Status Disown(const Context& ctx, const kube::ObjectId& secret);

  // How a Keep, or a hand-over, of that provider ended: what failed is tried again ever later, after ten seconds to
  // half an hour, and so is what has to be done again and again, since somebody else undoes it.
  void Ended(const Context& ctx, const std::string& provider, const Kept& kept);
  // What it told since the last time: of those, and of what was written around an apply.
  void Tell(const std::string& provider, const std::vector<std::string>& what);
  std::vector<std::string> TakeNews(const std::string& provider);
  CertificateTrouble TroubleOf(Clock& clock, const std::string& provider);
  void Forget(const std::string& provider);

 private:
  struct Known;  // the provider's Secrets of certificates, and what trusts them
  struct Record {
    std::optional<Error> error;
    bool of_keeping = true;  // CertificateTrouble
    int failures = 0;
    MonoTime next;
    std::deque<MonoTime> tries;  // of the last minute
    std::vector<std::string> news;
  };
  struct Injection {
    std::string provider;
    std::string bundle;  // hash
    WallTime since;
  };

  Status Read(const Context& ctx, const kube::ObjectId& id, Known& known);
  Status ReadIssuers(const Context& ctx, const std::vector<kube::ObjectId>& wanted, Known& known);
  // Of what watches don't show now.
  void ReadUnseen(const Context& ctx, const Observation& o, Known& known, Kept& kept);
  Status ReadTargets(const Context& ctx, Known& known);
  Status KeepSecret(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept);
  Status TryDisown(const Context& ctx, const kube::ObjectId& secret);
  Status StaysGone(const Context& ctx, const kube::ObjectId& id);  // kConflict where it is there again
  Status MakeSecret(const Context& ctx, const kube::ObjectId& id, Known& known, Kept& kept);
  Status Inject(const Context& ctx, const kube::ObjectId& target, const Known& known, Kept& kept);
  Status InjectAll(const Context& ctx, const kube::ObjectId& secret, Known& known, Kept& kept);
  // Whether the CA bundle of each Secret is in everything that is to trust it, and since when.
  void NoteInjections(const Context& ctx, const std::string& provider, const Known& known);
  std::optional<WallTime> InjectedSince(const kube::ObjectId& secret, const std::string& bundle);

  kube::Client& client_;
  Tracks& tracks_;
  Mutex mu_;
  std::map<std::string, Record> records_ CAPI_GUARDED_BY(mu_);
  std::map<kube::ObjectId, Injection> injections_ CAPI_GUARDED_BY(mu_);
};

// For whoever applies releases: null where cert-manager makes all certificates.
inline Certifier* CertifierFor(const Settings& settings, Certifier& certifier) {
  return settings.certificates == Certificates::kCertManager ? nullptr : &certifier;
}

}  // namespace capi::ops
