#include "operator/webhooks/certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/kinds.h"
#include "api/schema/webhooks.h"
#include "base/encoding.h"
#include "base/run_all.h"
#include "operator/report/secret_values.h"
#include "operator/webhooks/injection.h"

namespace capi::ops {
namespace {

constexpr int kTriesAtOnce = 10;
constexpr Seconds kBetweenTries{15};
// After a failure: doubled with each further one.
constexpr Seconds kFirstRetry{1}, kLongestRetry{120};
// A watch that doesn't show what was written: it is written once more.
constexpr Seconds kWatchIsLate{10};
// Time alone makes a certificate due.
constexpr std::chrono::minutes kLookAgain{10};

constexpr kube::MetricFamily kChanges{"capi_operator_webhook_certificate_changes_total",
                                      "Changes of the webhooks' certificate by the leader."};

const kube::Resource& Secrets() { return kube::Builtin("Secret"); }

// Schemas are most of a CRD.
void DropSchemas(kube::Object& object) {
  kube::DropManagedFields(object);
  if (Json* spec = Find(object.json(), {"spec"})) spec->erase("versions");
  object.json().erase("status");
}

kube::InformerOptions ByName(const std::string& ns, const std::string& name) {
  kube::InformerOptions options;
  options.ns = ns;
  options.field_selector = "metadata.name=" + name;
  options.transform = DropSchemas;
  return options;
}

http::Certificate ServingOf(const SecretData& data) {
  auto value = [&](const char* name) {
    auto found = data.find(name);
    return found == data.end() ? std::string() : found->second;
  };
  return {value(certificate_key::kServing), value(certificate_key::kServingKey)};
}

// A server, or a webhook of somebody's, may repeat what it refuses: private keys.
std::string WithoutValues(std::string message, const SecretData& was, const SecretData& is) {
  SecretValues values;
  for (const SecretData* data : {&was, &is}) {
    for (const auto& [name, value] : *data) values.Add(value);
  }
  return values.Hide(std::move(message));
}

}  // namespace

SecretData DataOf(const kube::Object& secret) {
  SecretData data;
  const Json* values = Find(secret.json(), {"data"});
  if (values == nullptr || !values->is_object()) return data;
  for (const auto& [name, value] : values->items()) {
    auto decoded = Base64Decode(value.is_string() ? value.get<std::string>() : "");
    if (decoded.ok()) data[name] = *std::move(decoded);
  }
  return data;
}

MonoTime WritePace::Next(MonoTime now) const {
  return std::max({now, retry_at_, full_at_ - kBetweenTries * (kTriesAtOnce - 1)});
}

void WritePace::Tried(MonoTime now) { full_at_ = std::max(now, full_at_) + kBetweenTries; }

void WritePace::Failed(MonoTime now) {
  Seconds wait = kFirstRetry;
  for (int i = 0; i < failures_ && wait < kLongestRetry; ++i) wait *= 2;
  ++failures_;
  retry_at_ = now + std::min(wait, kLongestRetry);
}

void WritePace::Succeeded() {
  failures_ = 0;
  retry_at_ = MonoTime();
}

std::optional<MonoTime> WebhookCertificates::Writes::Wait(MonoTime now, const std::string& over,
                                                          const std::string& what) const {
  const bool just = last && last->over == over && last->what == what && now < last->at + kWatchIsLate;
  const MonoTime at = just ? last->at + kWatchIsLate : pace.Next(now);
  if (at <= now) return std::nullopt;
  return at;
}

WebhookCertificates::WebhookCertificates(kube::Client& client, std::string ns, std::vector<std::string> hosts,
                                         ServeCertificate serve, kube::Metrics& metrics, kube::EventRecorder& events,
                                         Logger log)
    : client_(client),
      ns_(std::move(ns)),
      hosts_(std::move(hosts)),
      serve_(std::move(serve)),
      metrics_(metrics),
      events_(events),
      log_(std::move(log)) {
  auto watch = [this](const kube::Resource& resource, const std::string& in, const std::string& name,
                      kube::Informer::Handler handler) {
    informers_.push_back(std::make_unique<kube::Informer>(client_, resource, ByName(in, name), std::move(handler)));
  };
  watch(Secrets(), ns_, kCertificateSecret, [this](const kube::ObjectPtr&, const kube::ObjectPtr& is) {
    if (is) OnSecret(is);
    Wake();
  });
  auto wake = [this](const kube::ObjectPtr&, const kube::ObjectPtr&) { Wake(); };
  for (const api::ProviderKind& kind : api::kProviderKinds) {
    watch(kube::Builtin("CustomResourceDefinition"), "", fmt::format("{}.{}", kind.plural, api::kGroup), wake);
  }
  watch(kube::Builtin("ValidatingWebhookConfiguration"), "", std::string(api::kValidatingConfiguration), wake);
  watch(kube::Builtin("MutatingWebhookConfiguration"), "", std::string(api::kMutatingConfiguration), wake);
}

void WebhookCertificates::AddTo(kube::Manager& manager) {
  for (auto& informer : informers_) manager.Add(*informer);
  manager.Add(
      "webhook-certificates", [this](const Context& ctx) { return Keep(ctx); }, /*needs_lead=*/true);
}

void WebhookCertificates::Wake() {
  MutexLock lock(mu_);
  woken_ = true;
  changed_.notify_all();
}

void WebhookCertificates::OnSecret(const kube::ObjectPtr& is) {
  http::Certificate certificate = ServingOf(DataOf(*is));
  if (certificate.cert_pem == served_.cert_pem && certificate.key_pem == served_.key_pem) return;
  Status served = serve_(certificate);
  if (!served.ok()) {
    log_.Warn("the certificate of the webhooks can't be used: the former one is served on",
              {{"secret", ns_ + "/" + kCertificateSecret}, {"error", served.error().message}});
    return;
  }
  served_ = certificate;
  log_.Info("serving a certificate of the webhooks", {{"secret", ns_ + "/" + kCertificateSecret}});
}

Status WebhookCertificates::Keep(const Context& ctx) {
  while (!ctx.stop.stop_requested()) {
    {
      MutexLock lock(mu_);
      woken_ = false;
    }
    const MonoTime again = Pass(ctx);
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(changed_, mu_, ctx.stop, again, [this] {
      mu_.AssertHeld();
      return woken_;
    });
  }
  return Ok();
}

MonoTime WebhookCertificates::Pass(const Context& ctx) {
  SayRefusals(ctx);
  // One that has nothing to show yet wakes nobody when it is there.
  if (!informers_.front()->Synced()) return ctx.clock->Monotonic() + kWatchIsLate;
  kube::ObjectPtr secret = informers_.front()->Get(ns_, kCertificateSecret);
  std::optional<SecretData> data;
  if (secret) data = DataOf(*secret);
  const std::string bundle = data ? (*data)[certificate_key::kBundle] : "";
  // What the Secret holds is served until it holds something else, and is to be trusted, however long that takes.
  MonoTime again = MonoTime::max();
  std::vector<Target> targets;
  if (PlanCertificate(data, Inputs(ctx, bundle)).step != CertificateStep::kMakeAll) {
    targets = TargetsWithout(ctx, bundle, again);
  }
  const CertificateInputs inputs = Inputs(ctx, bundle);  // with what that has seen
  const CertificatePlan plan = PlanCertificate(data, inputs);
  // Side by side: an answer can take as long as the webhooks of others that the API server asks.
  std::vector<MonoTime> next(targets.size() + 1, Later(ctx));
  std::vector<std::function<void()>> writes;
  for (size_t i = 0; i < targets.size(); ++i) {
    writes.push_back([&, i] { next[i] = InjectInto(ctx, targets[i], bundle); });
  }
  if (plan.step != CertificateStep::kKeep) {
    Writes& own = writes_[kCertificateSecret];
    writes.push_back([&] { next.back() = Write(ctx, secret, data.value_or(SecretData()), plan, inputs, own); });
  }
  RunAll(writes.size(), writes);
  return std::min(again, *std::min_element(next.begin(), next.end()));
}

CertificateInputs WebhookCertificates::Inputs(const Context& ctx, const std::string& bundle) const {
  CertificateInputs inputs{hosts_, ctx.clock->Now(), {}};
  if (bundle == injected_) inputs.injected_since = injected_since_;
  return inputs;
}

// Somebody else's write in between is told by an event, and decided anew.
MonoTime WebhookCertificates::Write(const Context& ctx, const kube::ObjectPtr& secret, const SecretData& data,
                                    const CertificatePlan& plan, const CertificateInputs& inputs, Writes& writes) {
  const MonoTime now = ctx.clock->Monotonic();
  const std::string over = secret ? secret->resource_version() : "";
  if (auto wait = writes.Wait(now, over, "")) return *wait;
  writes.pace.Tried(now);
  const std::string name = ns_ + "/" + kCertificateSecret, step(StepName(plan.step));
  auto made = MakeCertificate(plan.step, data, inputs);
  Status stored = made.ok() ? Store(ctx, secret, *made) : Status(made.error());
  if (!stored.ok() && (stored.code() == Code::kConflict || stored.code() == Code::kAlreadyExists)) {
    return ctx.clock->Monotonic() + kFirstRetry;
  }
  if (!stored.ok() && !ctx.Check().ok()) return now;  // an end isn't a failure
  if (!stored.ok()) {
    const std::string refusal = WithoutValues(stored.error().message, data, made.ok() ? *made : SecretData());
    ctx.log.Error("the certificate of the webhooks can't be written",
                  {{"secret", name}, {"step", step}, {"why", plan.why}, {"error", refusal}});
    events_.Record(About(secret), "Warning", "CertificateNotWritten",
                   fmt::format("{}: {}: {}", step, plan.why, refusal));
    writes.pace.Failed(ctx.clock->Monotonic());
    return writes.pace.Next(ctx.clock->Monotonic());
  }
  writes.pace.Succeeded();
  writes.last = {over, "", ctx.clock->Monotonic()};
  ctx.log.Info("the certificate of the webhooks was changed", {{"secret", name}, {"step", step}, {"why", plan.why}});
  metrics_.Count(kChanges, {{"change", step}});
  events_.Record(About(secret), "Normal", "Certificate" + step, fmt::format("{}: {}", step, plan.why));
  return Later(ctx);
}

Status WebhookCertificates::Store(const Context& ctx, const kube::ObjectPtr& secret, const SecretData& data) {
  Json values = Json::object();
  for (const auto& [name, value] : data) values[name] = Base64Encode(value);
  kube::WriteOptions options{.field_manager = kInjector};
  kube::Object object = About(secret);
  if (!secret) {
    object.json()["type"] = "kubernetes.io/tls";
    object.json()["data"] = std::move(values);
    TRY(client_.Create(ctx, Secrets(), object, options));
    return Ok();
  }
  object = *secret;  // with the resourceVersion that was decided on
  object.json()["apiVersion"] = "v1";
  object.json()["kind"] = "Secret";
  object.json()["data"] = std::move(values);
  TRY(client_.Update(ctx, Secrets(), object, options));
  return Ok();
}

kube::Object WebhookCertificates::About(const kube::ObjectPtr& secret) const {
  Json metadata = {{"name", kCertificateSecret}, {"namespace", ns_}};
  if (secret) metadata["uid"] = secret->uid();
  return kube::Object(Json{{"apiVersion", "v1"}, {"kind", "Secret"}, {"metadata", std::move(metadata)}});
}

std::vector<WebhookCertificates::Target> WebhookCertificates::TargetsWithout(const Context& ctx,
                                                                             const std::string& bundle,
                                                                             MonoTime& again) {
  bool seen = true;
  std::vector<Target> targets;
  for (size_t i = 1; i < informers_.size(); ++i) {
    const kube::Informer& informer = *informers_[i];
    const kube::Resource& resource = informer.resource();
    if (!informer.Synced()) {
      seen = false;
      again = ctx.clock->Monotonic() + kWatchIsLate;
    }
    for (const kube::ObjectPtr& target : informer.List()) {
      SayOtherInjector(ctx, resource.kind, *target);
      auto injection = InjectionFor(resource, *target, bundle);
      if (!injection) continue;
      targets.push_back({resource, target, *std::move(injection), writes_[resource.kind + "/" + target->name()]});
    }
  }
  NoteInjected(seen && targets.empty(), bundle, ctx.clock->Now());
  return targets;
}

// What each of our own writes brings is an event, too: one that comes before a target's time finds it as it is.
MonoTime WebhookCertificates::InjectInto(const Context& ctx, const Target& target, const std::string& bundle) {
  const auto& [resource, object, injection, writes] = target;
  const MonoTime now = ctx.clock->Monotonic();
  if (auto wait = writes.Wait(now, object->resource_version(), bundle)) return *wait;
  writes.pace.Tried(now);
  auto applied = client_.Apply(ctx, resource, injection, {.field_manager = kInjector, .metadata_only = true});
  if (!applied.ok() && !ctx.Check().ok()) return now;  // an end isn't a failure
  const Logger log = ctx.log.With({{"kind", resource.kind}, {"name", object->name()}});
  // With a conflict it is gone, or another one of that name: its event comes.
  if (!applied.ok() && applied.code() != Code::kConflict) {
    log.Error("API servers can't be told whom to trust as webhook", {{"error", applied.error().message}});
    writes.pace.Failed(ctx.clock->Monotonic());
    return writes.pace.Next(ctx.clock->Monotonic());
  }
  if (applied.ok()) log.Info("told API servers whom to trust as webhook");
  writes.pace.Succeeded();
  writes.last = {object->resource_version(), bundle, now};
  return now + kWatchIsLate;
}

// Once for each, until the annotation goes. What it has injected doesn't trust the certificate that is served.
void WebhookCertificates::SayOtherInjector(const Context& ctx, const std::string& kind, const kube::Object& target) {
  const std::string_view annotation = OtherInjector(target);
  const std::string name = kind + "/" + target.name();
  if (annotation.empty()) {
    left_out_.erase(name);
  } else if (left_out_.insert(name).second) {
    ctx.log.Warn(
        "another injector is to write whom API servers trust: remove the annotation, or use --webhook-cert-dir",
        {{"kind", kind}, {"name", target.name()}, {"annotation", annotation}});
  }
}

// A bundle is everywhere once the watches say so.
void WebhookCertificates::NoteInjected(bool everywhere, const std::string& bundle, WallTime now) {
  if (!everywhere || injected_ != bundle) injected_since_.reset();
  if (!everywhere || injected_since_) return;
  injected_ = bundle;
  injected_since_ = now;
}

// While a bundle settles, time alone makes the next CA's turn.
MonoTime WebhookCertificates::Later(const Context& ctx) const {
  const MonoTime now = ctx.clock->Monotonic(), at = now + kLookAgain;
  if (!injected_since_) return at;
  auto left = *injected_since_ + kBundleSettles - ctx.clock->Now();
  return left > Seconds(0) ? std::min(at, now + std::chrono::ceil<Seconds>(left)) : at;
}

// Once for each, until it says something else.
void WebhookCertificates::SayRefusals(const Context& ctx) {
  std::string refusals;
  for (const auto& informer : informers_) {
    auto refusal = informer->refusal();
    if (refusal) refusals += (refusals.empty() ? "" : "; ") + refusal->message;
  }
  if (refusals == said_) return;
  said_ = refusals;
  if (refusals.empty()) return;
  ctx.log.Error("what the certificate of the webhooks needs can't be watched", {{"error", refusals}});
}

}  // namespace capi::ops
