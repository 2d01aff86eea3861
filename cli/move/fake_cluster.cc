#include "cli/move/fake_cluster.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "base/strings.h"

namespace capi::cli::move {
namespace {

struct Kind {
  const char *group, *version, *kind, *plural;
  bool namespaced = true;
  const char* label = "";  // of its definition, beside clusterctl's own
};

constexpr char kGroup[] = "cluster.x-k8s.io";
constexpr char kInfrastructure[] = "infrastructure.cluster.x-k8s.io";
constexpr char kOperator[] = "operator.cluster.x-k8s.io";
constexpr char kDefinitions[] = "apiextensions.k8s.io";
constexpr char kApps[] = "apps";
constexpr char kHierarchy[] = "clusterctl.cluster.x-k8s.io/move-hierarchy";

const std::vector<Kind>& Kinds() {
  static const auto& kinds = *new std::vector<Kind>{
      {"", "v1", "Secret", "secrets"},
      {"", "v1", "ConfigMap", "configmaps"},
      {"", "v1", "Namespace", "namespaces", false},
      {"", "v1", "Pod", "pods"},
      {kDefinitions, "v1", "CustomResourceDefinition", "customresourcedefinitions", false},
      {kApps, "v1", "Deployment", "deployments"},
      {kGroup, "v1beta2", "Cluster", "clusters"},
      {kGroup, "v1beta2", "ClusterClass", "clusterclasses"},
      {kGroup, "v1beta2", "MachineDeployment", "machinedeployments"},
      {kGroup, "v1beta2", "Machine", "machines"},
      {kInfrastructure, "v1beta2", "Template", "templates"},
      {kInfrastructure, "v1beta2", "Identity", "identities", false, kHierarchy},
      {"clusterctl.cluster.x-k8s.io", "v1alpha3", "Provider", "providers"},
      {kOperator, "v1alpha2", "InfrastructureProvider", "infrastructureproviders"},
  };
  return kinds;
}

const Kind& KindNamed(const std::string& name) {
  for (const Kind& kind : Kinds())
    if (kind.kind == name) return kind;
  std::abort();
}

Json Definition(const Kind& kind) {
  Json labels = {{"clusterctl.cluster.x-k8s.io", ""}};
  if (*kind.label) labels[kind.label] = "";
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", fmt::format("{}.{}", kind.plural, kind.group)}, {"labels", labels}}},
          {"spec",
           {{"group", kind.group},
            {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
            {"names", {{"kind", kind.kind}, {"plural", kind.plural}}},
            {"versions", {{{"name", kind.version}, {"served", true}, {"storage", true}}}}}}};
}

bool HasFinalizers(const Json& object) {
  const Json* found = Find(object, {"metadata", "finalizers"});
  return found != nullptr && !found->empty();
}

}  // namespace

namespace {

// "a,!b,c=d": has the first label, not the second, and the third with that value.
bool Selects(const std::string& selector, const Json* labels) {
  for (const std::string& key : Split(selector, ',')) {
    bool absent = key.starts_with("!");
    size_t equals = key.find('=');
    std::string name = absent ? key.substr(1) : key.substr(0, equals);
    bool has = labels != nullptr && labels->contains(name) &&
               (equals == key.npos || labels->at(name) == key.substr(equals + 1));
    if (has == absent) return false;
  }
  return true;
}

}  // namespace

struct FakeCluster::Request {
  std::string method, target, selector;
  std::string group, plural, ns, name;
  Json body;
  Key key() const { return {group, plural, ns, name}; }
};

namespace {

// "/apis/G/V/namespaces/NS/PLURAL/NAME?QUERY" and its shorter forms.
template <typename Request>
void ParseTarget(Request& request) {
  std::string path = request.target.substr(0, request.target.find('?'));
  if (size_t at = request.target.find("labelSelector="); at != request.target.npos) {
    std::string rest = request.target.substr(at + 14);
    request.selector = PercentUnescape(rest.substr(0, rest.find('&')));
  }
  auto parts = Split(path.substr(1), '/');
  size_t at = parts[0] == "apis" ? 3 : 2;
  if (parts.size() < at) return;
  if (at == 3) request.group = parts[1];
  if (parts.size() > at + 2 && parts[at] == "namespaces") {
    request.ns = parts[at + 1];
    at += 2;
  }
  if (parts.size() > at) request.plural = parts[at];
  if (parts.size() > at + 1) request.name = parts[at + 1];
}

}  // namespace

void Allowance::Set(int writes) {
  MutexLock lock(mu_);
  left_ = writes;
  taken_ = 0;
}

bool Allowance::Take() {
  MutexLock lock(mu_);
  if (left_ == 0) return false;
  if (left_ > 0) --left_;
  ++taken_;
  return true;
}

int Allowance::taken() {
  MutexLock lock(mu_);
  return taken_;
}

FakeCluster::FakeCluster(std::string name, Allowance& allowance)
    : name_(std::move(name)),
      allowance_(allowance),
      server_([this](http_testing::Peer& peer, int) { Serve(peer); }, /*parallel=*/true) {
  for (const Kind& kind : Kinds())
    if (*kind.group && kind.group != std::string(kDefinitions) && kind.group != std::string(kApps))
      Put(Definition(kind));
}

std::string FakeCluster::Kubeconfig() const {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{{name: a, cluster: {{server: '{}'}}}}]\n"
      "users: [{{name: a, user: {{}}}}]\ncontexts: [{{name: a, context: {{cluster: a, user: a, namespace: team}}}}]\n",
      server_.url());
}

std::string FakeCluster::Store(Key key, Json object) {
  Json& metadata = object["metadata"];
  if (!metadata.contains("uid")) metadata["uid"] = fmt::format("{}-{}", name_, ++last_);
  metadata["resourceVersion"] = std::to_string(++last_);
  std::string uid = GetString(metadata, {"uid"});
  if (metadata.contains("deletionTimestamp") && !HasFinalizers(object)) {
    objects_.erase(key);
  } else {
    objects_.insert_or_assign(std::move(key), std::move(object));
  }
  return uid;
}

std::string FakeCluster::Put(Json object) {
  MutexLock lock(mu_);
  const Kind& kind = KindNamed(GetString(object, {"kind"}));
  Key key{kind.group, kind.plural, GetString(object, {"metadata", "namespace"}),
          GetString(object, {"metadata", "name"})};
  return Store(std::move(key), std::move(object));
}

std::optional<Json> FakeCluster::Find(const std::string& kind, const std::string& ns, const std::string& name) {
  MutexLock lock(mu_);
  auto found = objects_.find({KindNamed(kind).group, KindNamed(kind).plural, ns, name});
  return found == objects_.end() ? std::nullopt : std::optional(found->second);
}

void FakeCluster::Remove(const std::string& kind, const std::string& ns, const std::string& name) {
  MutexLock lock(mu_);
  objects_.erase({KindNamed(kind).group, KindNamed(kind).plural, ns, name});
}

std::vector<Json> FakeCluster::All() {
  MutexLock lock(mu_);
  std::vector<Json> out;
  for (const auto& [key, object] : objects_)
    if (std::get<0>(key) != kDefinitions && std::get<1>(key) != "namespaces") out.push_back(object);
  return out;
}

void FakeCluster::Forbid(const std::string& method, const std::string& plural) {
  MutexLock lock(mu_);
  forbidden_.emplace_back(method, plural);
}

void FakeCluster::BeginSlowly(int answers) {
  MutexLock lock(mu_);
  slow_ = answers;
}

void FakeCluster::OnWrite(std::function<void(const std::string&, const std::string&)> hook) {
  MutexLock lock(mu_);
  on_write_ = std::move(hook);
}

void FakeCluster::OnRead(std::function<void(const std::string&)> hook) {
  MutexLock lock(mu_);
  on_read_ = std::move(hook);
}

void FakeCluster::Serve(http_testing::Peer& peer) {
  for (std::string text; !(text = peer.ReadRequest()).empty();) {
    Request request;
    size_t space = text.find(' ');
    request.method = text.substr(0, space);
    request.target = text.substr(space + 1, text.find(' ', space + 1) - space - 1);
    std::string body = text.substr(text.find("\r\n\r\n") + 4);
    if (!body.empty()) request.body = ParseJson(body).value();
    ParseTarget(request);
    Answer answer = Handle(request);
    std::string out = answer.body.dump();
    peer.Write(fmt::format("HTTP/1.1 {} x\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{}",
                           answer.status, out.size(), out));
  }
}

namespace {

Json StatusOf(int code, const char* reason) {
  return {{"kind", "Status"}, {"status", "Failure"}, {"code", code}, {"reason", reason}, {"message", reason}};
}

}  // namespace

std::optional<FakeCluster::Answer> FakeCluster::Begin(const std::string& target) {
  MutexLock lock(mu_);
  if (slow_ == 0 || !(target.starts_with("/readyz") || target.starts_with("/api"))) return std::nullopt;
  if (target.starts_with("/api")) return Answer{200, {{"kind", "APIGroupDiscoveryList"}, {"items", Json::array()}}};
  --slow_;
  return Answer{500, StatusOf(500, "InternalError")};
}

FakeCluster::Answer FakeCluster::Handle(const Request& request) {
  if (auto begins = Begin(request.target))
    return request.plural.empty() ? *std::move(begins) : Answer{404, StatusOf(404, "NotFound")};
  if (request.plural.empty()) return {200, Discovery(request.target.starts_with("/api?") || request.target == "/api")};
  const bool reads = request.method == "GET";
  std::function<void()> hook;
  {
    MutexLock lock(mu_);
    if (reads && on_read_) hook = [read = on_read_, &request] { read(request.target); };
    if (!reads && on_write_) hook = [write = on_write_, &request] { write(request.method, request.target); };
  }
  if (hook) hook();
  MutexLock lock(mu_);
  for (const auto& [method, plural] : forbidden_)
    if (request.method == method && request.plural == plural) return {403, StatusOf(403, "Forbidden")};
  if (reads) return Read(request);
  if (!allowance_.Take()) return {403, StatusOf(403, "Forbidden")};
  return Write(request);
}

FakeCluster::Answer FakeCluster::Read(const Request& request) {
  if (!request.name.empty()) {
    auto found = objects_.find(request.key());
    return found == objects_.end() ? Answer{404, StatusOf(404, "NotFound")} : Answer{200, found->second};
  }
  Json items = Json::array();
  for (const auto& [key, object] : objects_) {
    const auto& [group, plural, ns, name] = key;
    if (group != request.group || plural != request.plural || (!request.ns.empty() && ns != request.ns)) continue;
    const Json* labels = capi::Find(object, {"metadata", "labels"});
    if (Selects(request.selector, labels)) items.push_back(object);
  }
  return {200, {{"kind", "List"}, {"metadata", {{"resourceVersion", "1"}}}, {"items", std::move(items)}}};
}

FakeCluster::Answer FakeCluster::Write(const Request& request) {
  if (request.method == "POST") return Create(request);
  auto found = objects_.find(request.key());
  if (found == objects_.end()) return {404, StatusOf(404, "NotFound")};
  for (const char* field : {"uid", "resourceVersion"}) {
    std::string wanted = GetString(request.body, {"metadata", field});
    if (request.method != "DELETE" && !wanted.empty() && wanted != GetString(found->second, {"metadata", field}))
      return {409, StatusOf(409, "Conflict")};
  }
  return request.method == "DELETE" ? Delete(request, found->second) : Change(request, found->second);
}

FakeCluster::Answer FakeCluster::Create(const Request& request) {
  Json object = request.body;
  Key key{request.group, request.plural, request.ns, GetString(object, {"metadata", "name"})};
  if (!objects_.contains({kDefinitions, "customresourcedefinitions", "", request.plural + "." + request.group}) &&
      !request.group.empty())
    return {404, StatusOf(404, "NotFound")};
  if (objects_.contains(key)) return {409, StatusOf(409, "AlreadyExists")};
  if (!request.ns.empty() && !objects_.contains({"", "namespaces", "", request.ns}))
    return {404, StatusOf(404, "NotFound")};
  for (const char* field : {"uid", "deletionTimestamp"}) object["metadata"].erase(field);
  object.erase("status");
  if (request.group == kOperator) object["status"]["conditions"] = {{{"type", "Ready"}, {"status", "True"}}};
  Store(key, std::move(object));
  return {201, objects_[key]};
}

FakeCluster::Answer FakeCluster::Change(const Request& request, Json& object) {
  Json changed = request.method == "PUT" ? request.body : object;
  if (request.method != "PUT") changed.merge_patch(request.body);
  for (const char* field : {"uid", "deletionTimestamp"}) {
    changed["metadata"].erase(field);
    if (object["metadata"].contains(field)) changed["metadata"][field] = object["metadata"][field];
  }
  for (const char* field : {"annotations", "finalizers"})
    if (changed["metadata"].contains(field) && changed["metadata"][field].empty()) changed["metadata"].erase(field);
  changed.erase("status");
  if (object.contains("status")) changed["status"] = object["status"];
  changed["metadata"]["resourceVersion"] = object["metadata"]["resourceVersion"];
  if (changed == object) return {200, object};  // which isn't written, then
  Store(request.key(), changed);
  changed["metadata"]["resourceVersion"] = std::to_string(last_);
  return {200, std::move(changed)};
}

FakeCluster::Answer FakeCluster::Delete(const Request& request, Json& object) {
  for (const char* field : {"uid", "resourceVersion"}) {
    std::string wanted = GetString(request.body, {"preconditions", field});
    if (!wanted.empty() && wanted != GetString(object, {"metadata", field})) return {409, StatusOf(409, "Conflict")};
  }
  if (object["metadata"].contains("deletionTimestamp")) return {200, {{"kind", "Status"}, {"status", "Success"}}};
  Json deleted = object;
  deleted["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Store(request.key(), std::move(deleted));
  return {200, {{"kind", "Status"}, {"status", "Success"}}};
}

Json FakeCluster::Discovery(bool core) const {
  std::map<std::string, Json> groups;
  for (const Kind& kind : Kinds()) {
    if (core != (*kind.group == '\0')) continue;
    Json& group = groups[kind.group];
    group["metadata"]["name"] = kind.group;
    Json& version = group["versions"][0];
    version["version"] = kind.version;
    version["resources"].push_back(
        {{"resource", kind.plural},
         {"responseKind", {{"group", kind.group}, {"version", kind.version}, {"kind", kind.kind}}},
         {"scope", kind.namespaced ? "Namespaced" : "Cluster"},
         {"verbs", {"get", "list", "create", "delete"}}});
  }
  Json items = Json::array();
  for (auto& [name, group] : groups) items.push_back(std::move(group));
  return {{"kind", "APIGroupDiscoveryList"}, {"items", std::move(items)}};
}

}  // namespace capi::cli::move
