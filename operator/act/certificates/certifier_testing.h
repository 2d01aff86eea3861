// A Certifier and the API server that it writes to.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "base/http/certificate.h"
#include "base/http/server/server.h"
#include "kube/apply/manifest.h"
#include "operator/act/certificates/certifier.h"
#include "operator/decide/certificates/due.h"
#include "operator/decide/testing_fleet.h"

namespace capi::ops::testing {

inline constexpr const char* kHost = "capa-webhook-service.capa-system.svc";
inline const kube::ObjectId kSecret{"", "Secret", "capa-system", "webhook-cert"};
inline const kube::ObjectId kHooks{"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "hooks"};
inline const std::string kSecretPath = "/api/v1/namespaces/capa-system/secrets/webhook-cert";
inline const std::string kHooksPath = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/hooks";

inline std::vector<kube::Object> Release(const std::string& more = "") {
  std::vector<kube::Object> objects;
  for (const std::string& text :
       {std::string(R"({"apiVersion":"cert-manager.io/v1","kind":"Issuer","metadata":{"name":"self","namespace":
            "capa-system"},"spec":{"selfSigned":{}}})"),
        R"({"apiVersion":"cert-manager.io/v1","kind":"Certificate","metadata":{"name":"serving","namespace":
            "capa-system","labels":{"cluster.x-k8s.io/provider":"infrastructure-aws"}},"spec":{"dnsNames":[")" +
            std::string(kHost) + R"("],"issuerRef":{"kind":"Issuer","name":"self"},"secretName":"webhook-cert")" +
            more + "}}",
        std::string(R"({"apiVersion":"admissionregistration.k8s.io/v1","kind":"ValidatingWebhookConfiguration",
            "metadata":{"name":"hooks","annotations":{"cert-manager.io/inject-ca-from":"capa-system/serving"}},
            "webhooks":[{"name":"a.x"},{"name":"b.x"}]})")}) {
    auto json = ParseJson(text);
    EXPECT_TRUE(json.ok()) << text;
    objects.emplace_back(*std::move(json));
  }
  return objects;
}

// An API server with a Secret and webhooks, which merges what is applied and notes whose it is. Thread-safe.
class Server {
 public:
  Server() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client = *kube::Client::Connect({.server = "http://" + server_->address()}, {.user_agent = "t", .max_retries = 0});
  }
  std::vector<std::string> Written() {
    MutexLock lock(mu_);
    return std::exchange(written_, {});
  }
  void Has(const std::string& path, Json object) {
    MutexLock lock(mu_);
    objects_[path] = std::move(object);
  }
  void Loses(const std::string& path) {
    MutexLock lock(mu_);
    objects_.erase(path);
  }
  kube::Object Live(const std::string& path) {
    MutexLock lock(mu_);
    auto found = objects_.find(path);
    return kube::Object(found == objects_.end() ? Json() : found->second);
  }
  // Somebody writes that just before the next write of `name`.
  void Meanwhile(const std::string& name, const std::string& path, Json object) {
    MutexLock lock(mu_);
    meanwhile_ = {name, path, std::move(object)};
  }
  // Writes of `name`, whose key the answer repeats; of a dry run, too, where it says so.
  void Refuses(const std::string& name, bool dry_runs = true) {
    MutexLock lock(mu_);
    refused_ = name;
    refuses_dry_runs_ = dry_runs;
  }
  // The key that was repeated last, in both forms.
  std::vector<std::string> Repeated() {
    MutexLock lock(mu_);
    return repeated_;
  }
  // The next write of `name` is done, and nobody is told.
  void LosesAnswer(const std::string& name) {
    MutexLock lock(mu_);
    unanswered_ = name;
  }
  // Of the last that was deleted: the options.
  Json Deleted() {
    MutexLock lock(mu_);
    return deleted_;
  }

  std::unique_ptr<kube::Client> client;

 private:
  static Json Fields(const Json& object) {
    Json fields = Json::object();
    if (!object.is_object()) return fields;
    for (const auto& [name, value] : object.items()) fields["f:" + name] = Fields(value);
    return fields;
  }
  static Json FieldsOf(const Json& object) {
    Json fields = Fields(object);
    if (const Json* webhooks = Find(object, {"webhooks"})) {
      fields["f:webhooks"] = Json::object();
      for (const Json& one : *webhooks) {
        fields["f:webhooks"]["k:" + ToJsonText(Json{{"name", one.at("name")}})] = Fields(one);
      }
    }
    return fields;
  }
  static Json* WebhookOf(Json& webhooks, const std::string& name) {
    for (Json& one : webhooks) {
      if (GetString(one, {"name"}) == name) return &one;
    }
    return nullptr;
  }
  static void Merge(const Json& patch, Json& into) {
    for (const auto& [name, value] : patch.items()) {
      if (name == "webhooks" && into.contains(name)) {
        for (const Json& one : value) {
          if (Json* webhook = WebhookOf(into[name], GetString(one, {"name"}))) Merge(one, *webhook);
        }
      } else if (value.is_object()) {
        Merge(value, into[name]);
      } else if (value.is_null()) {
        into.erase(name);
      } else {
        into[name] = value;
      }
    }
  }
  // What the manager's former apply had, and this one hasn't, goes; the webhooks themselves are the release's.
  static void Remove(const Json& former, const Json& fields, Json& from) {
    for (const auto& [key, below] : former.items()) {
      const Json now = fields.is_object() && fields.contains(key) ? fields.at(key) : Json();
      if (key.starts_with("k:")) {
        Json* webhook = WebhookOf(from, GetString(*ParseJson(key.substr(2)), {"name"}));
        if (webhook != nullptr && webhook->contains("clientConfig")) {
          Remove(below.at("f:clientConfig"), now.is_null() ? now : now.at("f:clientConfig"),
                 (*webhook)["clientConfig"]);
        }
        continue;
      }
      const std::string name = key.substr(2);
      if (!from.contains(name)) continue;
      if (!below.empty()) {
        Remove(below, now, from[name]);
      } else if (now.is_null()) {
        from.erase(name);
      }
    }
  }
  static Json& EntryOf(Json& object, const std::string& manager) {
    Json& entries = object["metadata"]["managedFields"];
    for (Json& entry : entries) {
      if (GetString(entry, {"manager"}) == manager) return entry;
    }
    entries.push_back({{"manager", manager}, {"operation", "Apply"}, {"fieldsV1", Json::object()}});
    return entries.back();
  }
  http::Response Answer(const http::ServerRequest& request) {
    MutexLock lock(mu_);
    const std::string name = request.path.substr(request.path.rfind('/') + 1);
    if (request.method == "GET") {
      auto found = objects_.find(request.path);
      if (found == objects_.end()) return {.status = 404, .headers = {}, .body = ""};
      return {.status = 200, .headers = {}, .body = ToJsonText(found->second)};
    }
    auto patch = ParseJson(request.body);
    EXPECT_TRUE(patch.ok());
    const bool is_dry = request.query.find("dryRun=All") != std::string::npos;
    if (name == refused_ && (refuses_dry_runs_ || !is_dry)) return Refusal(name, *patch);
    if (request.method == "DELETE") {
      objects_.erase(request.path);
      written_.push_back(name);
      deleted_ = *patch;
      return {.status = 200, .headers = {}, .body = R"({"kind":"Status","status":"Success"})"};
    }
    if (is_dry) {
      return {.status = 200, .headers = {}, .body = request.body};
    }
    if (meanwhile_.name == name) {
      Write made = std::exchange(meanwhile_, {});
      made.object["metadata"]["resourceVersion"] = std::to_string(++version_);
      objects_[made.path] = std::move(made.object);
    }
    const Json before = objects_.contains(request.path) ? objects_[request.path] : Json();
    for (const char* precondition : {"uid", "resourceVersion"}) {
      const std::string live = GetString(before, {"metadata", precondition});
      if (GetString(*patch, {"metadata", precondition}, live) != live) {
        return {.status = 409, .headers = {}, .body = ""};
      }
    }
    Json& object = objects_[request.path];
    if (request.query.find("fieldManager=capi-operator-certificates") != std::string::npos &&
        request.query.find("force=true") != std::string::npos) {
      Json fields = FieldsOf(*patch);
      Json& entry = EntryOf(object, "capi-operator-certificates");
      Remove(entry.at("fieldsV1"), fields, object);
      entry["fieldsV1"] = std::move(fields);
    }
    Merge(*patch, object);
    if (object != before) object["metadata"]["resourceVersion"] = std::to_string(++version_);
    written_.push_back(name);
    if (unanswered_ == name) {
      unanswered_.clear();
      return {.status = 503, .headers = {}, .body = ""};
    }
    return {.status = 200, .headers = {}, .body = ToJsonText(object)};
  }
  // As a webhook of somebody's may say it.
  http::Response Refusal(const std::string& name, const Json& object) CAPI_REQUIRES(mu_) {
    const std::string key = GetString(object, {"data", "tls.key"});
    repeated_ = {key, *Base64Decode(key)};
    const Json status = {
        {"kind", "Status"},    {"apiVersion", "v1"},
        {"status", "Failure"}, {"reason", "Forbidden"},
        {"code", 403},         {"message", "no " + name + ": " + repeated_[0] + " is " + repeated_[1]}};
    return {.status = 403, .headers = {}, .body = ToJsonText(status)};
  }

  Mutex mu_;
  std::map<std::string, Json> objects_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> written_ CAPI_GUARDED_BY(mu_);
  std::string refused_ CAPI_GUARDED_BY(mu_), unanswered_ CAPI_GUARDED_BY(mu_);
  bool refuses_dry_runs_ CAPI_GUARDED_BY(mu_) = true;
  std::vector<std::string> repeated_ CAPI_GUARDED_BY(mu_);
  Json deleted_ CAPI_GUARDED_BY(mu_);
  struct Write {
    std::string name, path;
    Json object;
  };
  Write meanwhile_ CAPI_GUARDED_BY(mu_);
  int version_ CAPI_GUARDED_BY(mu_) = 0;
  std::unique_ptr<http::Server> server_;
};

class Certifying : public ::testing::Test {
 protected:
  Certifying() {
    ctx_.clock = &clock_;
    Render("");
    server_.Has(kHooksPath, *ParseJson(manifests_.back().text));
  }
  void Render(const std::string& more) {
    std::vector<kube::Object> objects = Release(more);
    auto taken = SecretsForCertificates(objects);
    ASSERT_TRUE(taken.ok()) << taken.error().message;
    manifests_.clear();
    for (kube::Object& object : objects) manifests_.push_back(kube::ToManifest(object));
    for (const auto& manifest : manifests_) inventory_.Put(manifest.id, {"v1", manifest.hash, "fields", false});
  }
  Status Prepare() {
    Certifier::Kept kept = certifier_.Prepare(ctx_, manifests_, inventory_);
    told_ = kept.what;
    return kept.ended;
  }
  // As a pass does, with what the watches show.
  Status Keep() {
    Observation o = Observed();
    o.now = clock_.Now();
    o.fleet = Seen();
    Certifier::Kept kept = certifier_.Keep(ctx_, o, DueCertificates(o.fleet, o.now));
    told_ = kept.what;
    return kept.ended;
  }
  Fleet Seen() {
    Fleet fleet;
    SeeCertificates(kSecret, MarksIn(server_.Live(kSecretPath)), fleet);
    SeeCertificates(kHooks, MarksIn(server_.Live(kHooksPath)), fleet);
    return fleet;
  }
  std::string Value(const char* key) {
    auto value = Base64Decode(GetString(server_.Live(kSecretPath).json(), {"data", key}));
    return value.ok() ? *value : "";
  }
  std::string Bundle(size_t webhook = 0) {
    const kube::Object live = server_.Live(kHooksPath);
    auto value = Base64Decode(GetString(live.json().at("webhooks").at(webhook), {"clientConfig", "caBundle"}));
    return value.ok() ? *value : "";
  }
  // Nobody who calls is shown what he doesn't trust.
  bool IsTrusted() { return http::VerifyServing(Value("tls.crt"), Bundle(), kHost, clock_.Now()).ok(); }

  FakeClock clock_;
  Context ctx_ = Context{};
  Server server_;
  Tracks tracks_{clock_};
  Certifier certifier_{*server_.client, tracks_};
  std::vector<kube::Manifest> manifests_;
  kube::Inventory inventory_;
  std::vector<std::string> told_;
};

}  // namespace capi::ops::testing
