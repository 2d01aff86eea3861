// The certificate of the webhooks: every replica serves what the Secret holds; the leader keeps the Secret as it has to
// be (serving_certificate.h) and tells API servers whom to trust (injection.h). behaviour.md T7.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "base/http/certificate.h"
#include "base/mutex.h"
#include "kube/runtime/events.h"
#include "kube/runtime/manager.h"
#include "kube/runtime/metrics.h"
#include "operator/webhooks/serving_certificate.h"

namespace capi::ops {

inline constexpr const char* kCertificateSecret = "capi-operator-webhook-cert";
// Of what is injected, and of nothing else.
inline constexpr const char* kInjector = "capi-operator-ca-injector";

// A new certificate for the server. kInvalidArgument for one that can't be used.
using ServeCertificate = std::function<Status(const http::Certificate&)>;

// An object's data, decoded; what is no base64 is left out.
SecretData DataOf(const kube::Object& secret);

// When one and the same object may be written: ten times at once, and once in fifteen seconds after that, so that a
// fight with somebody who takes back what we write is none of requests; after a failure, not before a time that
// doubles with each further one, from a second to two minutes (behaviour.md F5). Thread-compatible.
class WritePace {
 public:
  // When the next try may begin. To ask changes nothing.
  MonoTime Next(MonoTime now) const;
  void Tried(MonoTime now);
  void Failed(MonoTime now);  // after Tried
  void Succeeded();

 private:
  MonoTime full_at_;  // when ten may come at once again
  int failures_ = 0;  // in a row
  MonoTime retry_at_;
};

// Thread-safe.
class WebhookCertificates {
 public:
  // `ns`: of the Secret, the operator's own namespace. `hosts`: as CertificateInputs has them.
  WebhookCertificates(kube::Client& client, std::string ns, std::vector<std::string> hosts, ServeCertificate serve,
                      kube::Metrics& metrics, kube::EventRecorder& events, Logger log);

  // Its watches, by name: the Secret, the CRDs of providers, the two webhook configurations; and, with the lead, Keep.
  void AddTo(kube::Manager& manager);

 private:
  // Blocks: keeps the Secret and what is injected until the context stops. With the lead alone.
  Status Keep(const Context& ctx);
  // What was written, until the watch shows it: not to be written twice.
  struct Written {
    std::string over;  // the resourceVersion that it was decided on
    std::string what;
    MonoTime at;
  };
  // Of the Secret, or of one that is told whom to trust: each has its own, and so holds up no other.
  struct Writes {
    WritePace pace;
    std::optional<Written> last;
    // Nothing where it may be written now, else when to look again.
    std::optional<MonoTime> Wait(MonoTime now, const std::string& over, const std::string& what) const;
  };
  // One that is to be told whom to trust.
  struct Target {
    const kube::Resource& resource;
    kube::ObjectPtr object;
    kube::Object injection;
    Writes& writes;
  };
  // What there is to do now. All these return when to look again, unless an event comes before.
  MonoTime Pass(const Context& ctx);
  MonoTime Write(const Context& ctx, const kube::ObjectPtr& secret, const SecretData& data, const CertificatePlan& plan,
                 const CertificateInputs& inputs, Writes& writes);
  MonoTime InjectInto(const Context& ctx, const Target& target, const std::string& bundle);
  MonoTime Later(const Context& ctx) const;

  // And notes whether the bundle is everywhere. `again`: when to look at what can't be seen yet.
  std::vector<Target> TargetsWithout(const Context& ctx, const std::string& bundle, MonoTime& again);
  CertificateInputs Inputs(const Context& ctx, const std::string& bundle) const;
  Status Store(const Context& ctx, const kube::ObjectPtr& secret, const SecretData& data);
  void NoteInjected(bool everywhere, const std::string& bundle, WallTime now);
  void SayRefusals(const Context& ctx);
  void SayOtherInjector(const Context& ctx, const std::string& kind, const kube::Object& target);
  kube::Object About(const kube::ObjectPtr& secret) const;

  void OnSecret(const kube::ObjectPtr& is);
  void Wake();

  kube::Client& client_;
  const std::string ns_;
  const std::vector<std::string> hosts_;
  const ServeCertificate serve_;
  kube::Metrics& metrics_;
  kube::EventRecorder& events_;
  const Logger log_;
  std::vector<std::unique_ptr<kube::Informer>> informers_;  // of the Secret first, then of what is injected into

  http::Certificate served_;  // of the thread of the Secret's informer

  // Of Keep's thread. Each of `writes_`, and no other, of the one that writes its object meanwhile.
  std::string said_;                      // of refusals
  std::set<std::string> left_out_;        // kinds and names of what names another injector
  std::map<std::string, Writes> writes_;  // by kind and name
  std::string injected_;                  // the bundle that is everywhere, since:
  std::optional<WallTime> injected_since_;

  Mutex mu_;
  std::condition_variable_any changed_;
  bool woken_ CAPI_GUARDED_BY(mu_) = false;
};

}  // namespace capi::ops
