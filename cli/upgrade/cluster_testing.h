// An API server in memory, with an operator that carries out what a spec asks for at once, for tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/kinds.h"
#include "base/encoding.h"
#include "base/http/server/server.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "cli/testing.h"
#include "kube/meta/label_selector.h"

namespace capi::cli {

// A provider that is installed. A value.
struct UpgradeProvider {
  api::ProviderType type;
  std::string ns, name, version, contract;
};

// Objects by their paths. Thread-safe.
class UpgradeCluster {
 public:
  UpgradeCluster() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    kubeconfig_ =
        folder.Put("kubeconfig", "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'http://" +
                                     server_->address() +
                                     "'}}]\nusers: [{name: u, user: {}}]\ncontexts: [{name: x, context: "
                                     "{cluster: c, user: u}}]\ncurrent-context: x\n");
  }

  // The inventory's entry and, unless it is `bare`, the operator's object.
  void Add(const UpgradeProvider& provider, bool bare = false) {
    std::string label = api::ManifestLabel(provider.type, provider.name);
    std::string kind(api::KindOf(provider.type).kind);
    Put("/apis/clusterctl.cluster.x-k8s.io/v1alpha3/namespaces/" + provider.ns + "/providers/" + label,
        {{"apiVersion", "clusterctl.cluster.x-k8s.io/v1alpha3"},
         {"kind", "Provider"},
         {"metadata", {{"name", label}, {"namespace", provider.ns}}},
         {"providerName", provider.name},
         {"type", kind},
         {"version", provider.version}});
    if (bare) return;
    Json ready = {{"type", "Ready"}, {"status", "True"}, {"reason", "WorkloadsReady"}, {"message", "all is well"}};
    Put(PathOf(provider),
        {{"apiVersion", "operator.cluster.x-k8s.io/v1alpha2"},
         {"kind", kind},
         {"metadata", {{"name", provider.name}, {"namespace", provider.ns}, {"uid", "u-" + label}, {"generation", 1}}},
         {"spec", {{"version", provider.version}}},
         {"status",
          {{"installedVersion", provider.version},
           {"contract", provider.contract},
           {"observedGeneration", 1},
           {"conditions", Json::array({ready})}}}});
  }
  static std::string PathOf(const UpgradeProvider& provider) {
    return "/apis/operator.cluster.x-k8s.io/v1alpha2/namespaces/" + provider.ns + "/" +
           std::string(api::KindOf(provider.type).plural) + "/" + provider.name;
  }

  void Put(const std::string& path, Json object) {
    MutexLock lock(mu_);
    Store(path, std::move(object));
  }
  void PutSecret(const std::string& ns, const std::string& name, const std::map<std::string, std::string>& values) {
    Json data = Json::object();
    for (const auto& [key, value] : values) data[key] = Base64Encode(value);
    Put("/api/v1/namespaces/" + ns + "/secrets/" + name,
        {{"metadata", {{"name", name}, {"namespace", ns}}}, {"data", data}});
  }
  void Remove(const std::string& path) {
    MutexLock lock(mu_);
    objects_.erase(path);
  }
  Json Get(const std::string& path) {
    MutexLock lock(mu_);
    auto found = objects_.find(path);
    return found == objects_.end() ? Json() : found->second;
  }
  void Change(const std::string& path, const std::function<void(Json&)>& edit) {
    MutexLock lock(mu_);
    Json object = objects_.at(path);
    edit(object);
    Store(path, std::move(object));
  }
  // Called before each write, with its method and path as in `writes()`, while it isn't done yet.
  std::function<void(UpgradeCluster&, const std::string&)> before_write;
  // Called before each read, with its path; several at once.
  std::function<void(const std::string&)> before_read;
  // Answered with 403, and with 404.
  std::string forbidden, absent;
  // Specs are carried out at once.
  bool has_operator = true;

  // "PATCH /apis/...", in their order; "PATCH /apis/... (dry run)".
  std::vector<std::string> writes() {
    MutexLock lock(mu_);
    return writes_;
  }

  // Paths of objects, and of lists of them, that were read with all that they have, in their order.
  std::vector<std::string> whole_reads() {
    MutexLock lock(mu_);
    return whole_reads_;
  }

  Outcome Run(std::vector<std::string> arguments, Variables environment = {}) {
    arguments.insert(arguments.end(), {"--kubeconfig", kubeconfig_});
    environment.try_emplace("HOME", folder.path());
    return Clusterctl(std::move(arguments), std::move(environment));
  }

  TestFolder folder;

 private:
  static http::Response Say(int status, const Json& body) {
    return {.status = status, .headers = {}, .body = ToJsonText(body)};
  }
  static http::Response Fail(int status, const std::string& reason, const std::string& message = "no") {
    return Say(status,
               {{"kind", "Status"}, {"status", "Failure"}, {"reason", reason}, {"message", message}, {"code", status}});
  }

  void Store(const std::string& path, Json object) CAPI_REQUIRES(mu_) {
    object["metadata"]["resourceVersion"] = std::to_string(++version_);
    objects_[path] = std::move(object);
  }

  http::Response Answer(const http::ServerRequest& request) {
    std::string path = request.path.substr(0, request.path.find('?'));
    if (!forbidden.empty() && path.find(forbidden) != path.npos) return Fail(403, "Forbidden", "you may not");
    if (!absent.empty() && path.find(absent) != path.npos) return Fail(404, "NotFound", "no such page");
    if (request.method == "GET" && before_read) before_read(path);
    if (request.method == "GET") return Read(request, path);
    const bool dry_run = request.query.find("dryRun=") != request.query.npos;
    const std::string what = request.method + " " + path + (dry_run ? " (dry run)" : "");
    if (before_write) before_write(*this, what);
    MutexLock lock(mu_);
    writes_.push_back(what);
    if (request.method == "POST") return Create(path, *ParseJson(request.body), dry_run);
    if (request.method == "PATCH") return Patch(path, *ParseJson(request.body), dry_run);
    if (request.method == "PUT") return Replace(path, *ParseJson(request.body), dry_run);
    return Fail(405, "MethodNotAllowed");
  }

  http::Response Read(const http::ServerRequest& request, const std::string& path) {
    MutexLock lock(mu_);
    const bool whole = request.headers.Get("Accept").find("PartialObjectMetadata") == std::string::npos;
    if (auto found = objects_.find(path); found != objects_.end()) {
      if (whole) whole_reads_.push_back(path);
      return Say(200, found->second);
    }
    if (request.query.find("watch=") != std::string::npos) {
      if (request.query.find("sendInitialEvents") != std::string::npos) return Fail(422, "Invalid");
      return {.status = 200, .headers = {}, .body = ""};
    }
    bool named = path.find('.', path.rfind('/')) != path.npos;  // a CustomResourceDefinition
    if (named || (path.find("/namespaces/") != path.npos && !IsCollection(path)))
      return Fail(404, "NotFound", path + " not found");
    if (whole) whole_reads_.push_back(path);
    return List(path, SelectorOf(request.query));
  }
  static kube::LabelSelector SelectorOf(const std::string& query) {
    const std::string key = "labelSelector=";
    size_t at = query.find(key);
    if (at == query.npos) return {};
    std::string text = query.substr(at + key.size());
    return kube::LabelSelector::Parse(PercentUnescape(text.substr(0, text.find('&')))).value();
  }
  static bool IsCollection(const std::string& path) {
    return path.ends_with("/configmaps") || path.ends_with("/secrets") || path.ends_with("/deployments");
  }

  // All below the path that the selector finds, in one namespace or in any.
  http::Response List(const std::string& path, const kube::LabelSelector& selector) CAPI_REQUIRES(mu_) {
    std::string plural = path.substr(path.rfind('/')) + "/", group = path.substr(0, path.rfind('/'));
    Json items = Json::array();
    for (const auto& [where, object] : objects_) {
      const Json* labels = Find(object, {"metadata", "labels"});
      bool found = selector.Matches(labels == nullptr ? Json() : *labels);
      if (found && where.starts_with(group + "/") && where.find(plural) != where.npos) items.push_back(object);
    }
    return Say(200,
               {{"kind", "List"}, {"metadata", {{"resourceVersion", std::to_string(version_)}}}, {"items", items}});
  }

  http::Response Create(const std::string& path, Json object, bool dry_run) CAPI_REQUIRES(mu_) {
    std::string where = path + "/" + GetString(object, {"metadata", "name"});
    if (objects_.contains(where)) return Fail(409, "AlreadyExists");
    if (dry_run) return Say(201, object);
    Store(where, std::move(object));
    return Say(201, objects_[where]);
  }

  http::Response Replace(const std::string& path, Json object, bool dry_run) CAPI_REQUIRES(mu_) {
    if (dry_run) return Say(200, object);
    auto found = objects_.find(path);
    if (found == objects_.end()) return Fail(404, "NotFound");
    for (const char* guard : {"uid", "resourceVersion"}) {
      std::string wanted = GetString(object, {"metadata", guard});
      if (!wanted.empty() && wanted != GetString(found->second, {"metadata", guard})) return Fail(409, "Conflict");
    }
    Store(path, std::move(object));
    return Say(200, objects_[path]);
  }

  http::Response Patch(const std::string& path, const Json& patch, bool dry_run) CAPI_REQUIRES(mu_) {
    auto found = objects_.find(path);
    if (found == objects_.end()) return Fail(404, "NotFound");
    Json object = found->second;
    std::string wanted = GetString(patch, {"metadata", "resourceVersion"});
    if (!wanted.empty() && wanted != GetString(object, {"metadata", "resourceVersion"})) return Fail(409, "Conflict");
    Json before = object.value("spec", Json());
    object.merge_patch(patch);
    if (dry_run) return Say(200, object);
    if (object.value("spec", Json()) != before) {
      std::int64_t generation = GetInt(object, {"metadata", "generation"}) + 1;
      object["metadata"]["generation"] = generation;
      if (has_operator) {
        object["status"]["observedGeneration"] = generation;
        object["status"]["installedVersion"] = object["spec"]["version"];
      }
    }
    Store(path, std::move(object));
    return Say(200, objects_[path]);
  }

  Mutex mu_;
  std::map<std::string, Json> objects_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> writes_ CAPI_GUARDED_BY(mu_), whole_reads_ CAPI_GUARDED_BY(mu_);
  int version_ CAPI_GUARDED_BY(mu_) = 0;
  std::unique_ptr<http::Server> server_;
  std::string kubeconfig_;
};

}  // namespace capi::cli
