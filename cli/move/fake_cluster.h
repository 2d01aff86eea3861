// For tests: a management cluster in memory, as much of one as a move sees, behind an API server's paths.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/http/testing.h"
#include "base/json.h"
#include "base/mutex.h"

namespace capi::cli::move {

// How many writes are still carried out, of all clusters that share it; the others are refused (403), as after a kill
// nothing is written any more. Thread-safe.
class Allowance {
 public:
  void Set(int writes);  // -1: all
  bool Take();
  int taken();  // since Set

 private:
  Mutex mu_;
  int left_ CAPI_GUARDED_BY(mu_) = -1;
  int taken_ CAPI_GUARDED_BY(mu_) = 0;
};

// Objects are created, patched and deleted as an API server does it, with finalizers and preconditions. There are no
// controllers, but for one that makes Provider objects of the operator Ready. Thread-safe.
class FakeCluster {
 public:
  // `name` is a part of each uid.
  FakeCluster(std::string name, Allowance& allowance);

  std::string Kubeconfig() const;

  // Creates or replaces an object, its status too; gives its uid.
  std::string Put(Json object);
  std::optional<Json> Find(const std::string& kind, const std::string& ns, const std::string& name);
  void Remove(const std::string& kind, const std::string& ns, const std::string& name);
  // All but CustomResourceDefinitions and Namespaces.
  std::vector<Json> All();
  // Refuses such requests from now on, as for want of a permission.
  void Forbid(const std::string& method, const std::string& plural);
  // /readyz says no so often, and until then no kind is known.
  void BeginSlowly(int answers);
  // Is called, without a lock, before each write is carried out.
  void OnWrite(std::function<void(const std::string& method, const std::string& target)> hook);
  // The same before each read.
  void OnRead(std::function<void(const std::string& target)> hook);

 private:
  struct Answer {
    int status;
    Json body;
  };
  using Key = std::tuple<std::string, std::string, std::string, std::string>;  // group, plural, namespace, name
  struct Request;

  void Serve(http_testing::Peer& peer);
  Answer Handle(const Request& request);
  Answer Read(const Request& request) CAPI_REQUIRES(mu_);
  Answer Write(const Request& request) CAPI_REQUIRES(mu_);
  Answer Create(const Request& request) CAPI_REQUIRES(mu_);
  Answer Change(const Request& request, Json& object) CAPI_REQUIRES(mu_);
  Answer Delete(const Request& request, Json& object) CAPI_REQUIRES(mu_);
  std::string Store(Key key, Json object) CAPI_REQUIRES(mu_);
  Json Discovery(bool core) const;
  std::optional<Answer> Begin(const std::string& target);

  const std::string name_;
  Allowance& allowance_;
  Mutex mu_;
  std::map<Key, Json> objects_ CAPI_GUARDED_BY(mu_);
  int slow_ CAPI_GUARDED_BY(mu_) = 0;
  std::vector<std::pair<std::string, std::string>> forbidden_ CAPI_GUARDED_BY(mu_);
  int last_ CAPI_GUARDED_BY(mu_) = 0;
  std::function<void(const std::string&, const std::string&)> on_write_ CAPI_GUARDED_BY(mu_);
  std::function<void(const std::string&)> on_read_ CAPI_GUARDED_BY(mu_);
  http_testing::RawServer server_;  // last: it serves from the others
};

}  // namespace capi::cli::move
