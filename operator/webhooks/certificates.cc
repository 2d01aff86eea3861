#include "operator/webhooks/certificates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "api/kinds.h"
#include "api/schema/webhooks.h"
#include "base/encoding.h"
#include "operator/webhooks/injection.h"

namespace capi::ops {
namespace {

constexpr int kActsAtOnce = 10;
constexpr Seconds kBetweenActs{15};
// After a failure: doubled with each further one.
constexpr Seconds kFirstRetry{1}, kLongestRetry{120};
// A watch that doesn't show what was written: it is written once more.
constexpr Seconds kWatchIsLate{10};
// Time alone makes a certificate due.
constexpr std::chrono::minutes kLookAgain{10};

constexpr const char* kChanges = "capi_operator_webhook_certificate_changes_total";

const kube::Resource& Secrets() { return kube::Builtin("Secret"); }

// Schemas are most of a CRD.
void DropSchemas(kube::Object& object) {
  if (Json* metadata = Find(object.json(), {"metadata"})) metadata->erase("managedFields");
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

MonoTime ActPace::Next(MonoTime now) const { return std::max(now, full_at_ - kBetweenActs * (kActsAtOnce - 1)); }

void ActPace::Acted(MonoTime now) { full_at_ = std::max(now, full_at_) + kBetweenActs; }

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
    Again again = Pass(ctx);
    MutexLock lock(mu_);
    ctx.clock->WaitUntil(changed_, mu_, ctx.stop, again.at, [&] {
      mu_.AssertHeld();
      return woken_ && again.on_event;
    });
  }
  return Ok();
}

WebhookCertificates::Again WebhookCertificates::Pass(const Context& ctx) {
  SayRefusals(ctx);
  if (!informers_.front()->Synced()) return Later(ctx);  // its first state wakes
  kube::ObjectPtr secret = informers_.front()->Get(ns_, kCertificateSecret);
  std::optional<SecretData> data;
  if (secret) data = DataOf(*secret);
  const std::string bundle = data ? (*data)[certificate_key::kBundle] : "";
  CertificateInputs inputs{hosts_, ctx.clock->Now(), {}};
  if (bundle == injected_) inputs.injected_since = injected_since_;
  CertificatePlan plan = PlanCertificate(data, inputs);
  if (plan.step == CertificateStep::kKeep) return Inject(ctx, bundle);
  if (JustWritten(ctx, kCertificateSecret, secret ? secret->resource_version() : "", "")) {
    return {ctx.clock->Monotonic() + kWatchIsLate};
  }
  const MonoTime now = ctx.clock->Monotonic(), may = pace_.Next(now);
  if (may > now) return {may, /*on_event=*/false};
  pace_.Acted(now);
  return Write(ctx, secret, data.value_or(SecretData()), plan, inputs);
}

// Somebody else's write in between is told by an event, and decided anew.
WebhookCertificates::Again WebhookCertificates::Write(const Context& ctx, const kube::ObjectPtr& secret,
                                                      const SecretData& data, const CertificatePlan& plan,
                                                      const CertificateInputs& inputs) {
  const std::string name = ns_ + "/" + kCertificateSecret, step(StepName(plan.step));
  auto made = MakeCertificate(plan.step, data, inputs);
  Status stored = made.ok() ? Store(ctx, secret, *made) : Status(made.error());
  if (!stored.ok() && (stored.code() == Code::kConflict || stored.code() == Code::kAlreadyExists)) {
    return {ctx.clock->Monotonic() + kFirstRetry};
  }
  if (!stored.ok()) {
    ctx.log.Error("the certificate of the webhooks can't be written",
                  {{"secret", name}, {"step", step}, {"why", plan.why}, {"error", stored.error().message}});
    // What it holds is served meanwhile, and is to be trusted.
    if (plan.step != CertificateStep::kMakeAll) Inject(ctx, data.at(certificate_key::kBundle));
    return Retry(ctx, write_failures_);
  }
  write_failures_ = 0;
  written_[kCertificateSecret] = {secret ? secret->resource_version() : "", "", ctx.clock->Monotonic()};
  ctx.log.Info("the certificate of the webhooks was changed", {{"secret", name}, {"step", step}, {"why", plan.why}});
  metrics_.Count(kChanges, "Changes of the webhooks' certificate by the leader.", {{"change", step}});
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

// All that lack the bundle are one act.
WebhookCertificates::Again WebhookCertificates::Inject(const Context& ctx, const std::string& bundle) {
  bool everywhere = true, failed = false, acts = false;
  for (size_t i = 1; i < informers_.size(); ++i) {
    const kube::Informer& informer = *informers_[i];
    everywhere = everywhere && informer.Synced();
    for (const kube::ObjectPtr& target : informer.List()) {
      SayOtherInjector(ctx, informer.resource().kind, *target);
      auto injection = InjectionFor(informer.resource(), *target, bundle);
      if (!injection) continue;
      everywhere = false;
      const std::string key = informer.resource().kind + "/" + target->name();
      if (JustWritten(ctx, key, target->resource_version(), bundle)) continue;
      const MonoTime now = ctx.clock->Monotonic(), may = acts ? now : pace_.Next(now);
      if (may > now) {
        NoteInjected(false, bundle, ctx.clock->Now());
        return {may, /*on_event=*/false};
      }
      if (!acts) pace_.Acted(now);
      acts = true;
      const bool injected = InjectInto(ctx, informer.resource(), *target, *injection).ok();
      if (injected) written_[key] = {target->resource_version(), bundle, now};
      failed = failed || !injected;
    }
  }
  NoteInjected(everywhere, bundle, ctx.clock->Now());
  if (failed) return Retry(ctx, injection_failures_);
  injection_failures_ = 0;
  Again again = Later(ctx);
  if (!everywhere) again.at = ctx.clock->Monotonic() + kWatchIsLate;
  return again;
}

Status WebhookCertificates::InjectInto(const Context& ctx, const kube::Resource& resource, const kube::Object& target,
                                       const kube::Object& injection) {
  auto applied = client_.Apply(ctx, resource, injection, {.field_manager = kInjector, .metadata_only = true});
  std::initializer_list<LogField> of = {{"kind", resource.kind}, {"name", target.name()}};
  if (applied.ok()) {
    ctx.log.With(of).Info("told API servers whom to trust as webhook");
    return Ok();
  }
  // It is gone, or another one of that name: its event comes.
  if (applied.code() == Code::kConflict) return Ok();
  ctx.log.With(of).Error("API servers can't be told whom to trust as webhook", {{"error", applied.error().message}});
  return applied.error();
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

bool WebhookCertificates::JustWritten(const Context& ctx, const std::string& key, const std::string& over,
                                      const std::string& what) const {
  auto found = written_.find(key);
  if (found == written_.end()) return false;
  const Written& written = found->second;
  return written.over == over && written.what == what && ctx.clock->Monotonic() < written.at + kWatchIsLate;
}

// While a bundle settles, time alone makes the next CA's turn.
WebhookCertificates::Again WebhookCertificates::Later(const Context& ctx) const {
  MonoTime at = ctx.clock->Monotonic() + kLookAgain;
  if (!injected_since_) return {at};
  auto left = *injected_since_ + kBundleSettles - ctx.clock->Now();
  if (left > Seconds(0)) at = std::min(at, ctx.clock->Monotonic() + std::chrono::ceil<Seconds>(left));
  return {at};
}

// An event comes first: one target that can't be written holds up no other. ActPace bounds what that costs.
WebhookCertificates::Again WebhookCertificates::Retry(const Context& ctx, int& failures) {
  Seconds wait = kFirstRetry;
  for (int i = 0; i < failures && wait < kLongestRetry; ++i) wait *= 2;
  ++failures;
  return {ctx.clock->Monotonic() + std::min(wait, kLongestRetry)};
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
