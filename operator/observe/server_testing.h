// For tests: an API server that has the collections a test gives it, and streams them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/http/testing.h"
#include "base/mutex.h"
#include "kube/client/client.h"

namespace capi::ops::testing {

// A watch gets all objects of its collection, or the one that its field selector names, a mark, and then what Send is
// told of these; a list gets all objects, or that one; what is unknown is a 404. Thread-safe.
class WatchServer {
 public:
  WatchServer() {
    auto connected = kube::Client::Connect({.server = server_.url()}, {.user_agent = "watch-server", .max_retries = 0});
    EXPECT_TRUE(connected.ok()) << connected.error().message;
    client = std::move(*connected);
  }

  void Has(const std::string& collection, std::vector<Json> objects) {
    MutexLock lock(mu_);
    collections_[collection] = std::move(objects);
  }
  void Answer(const std::string& path, std::string body, int status = 200) {
    MutexLock lock(mu_);
    answers_[path] = {status, std::move(body)};
  }
  // The status that is the answer to each request that isn't a GET, by its path. In several threads at once.
  void AnswerWrites(std::function<int(const std::string& path)> status) {
    MutexLock lock(mu_);
    write_status_ = std::move(status);
  }
  // No watch gets anything until so many are open.
  void StreamOnceThereAre(int watches) {
    MutexLock lock(mu_);
    held_until_ = watches;
  }
  // Whoever asks for all of the collection, and not for one name, is refused, from now on or (0) no more.
  void Refuse(const std::string& collection, int status = 403) {
    MutexLock lock(mu_);
    refused_[collection] = status;
  }
  // Called in the server's threads for each request that is refused so.
  void OnRefusal(std::function<void()> call) {
    MutexLock lock(mu_);
    on_refusal_ = std::move(call);
  }
  // An event for all watches of the collection that are open: "MODIFIED", say.
  void Send(const std::string& collection, const char* type, const Json& object) {
    MutexLock lock(mu_);
    SendLocked(collection, type, object);
  }
  // The same, and from then on the collection has the object in that state.
  void Change(const std::string& collection, const char* type, const Json& object) {
    MutexLock lock(mu_);
    std::vector<Json>& objects = collections_[collection];
    std::erase_if(objects, [&](const Json& o) {
      return o["metadata"]["name"] == object["metadata"]["name"] &&
             o["metadata"]["namespace"] == object["metadata"]["namespace"];
    });
    if (std::string_view(type) != "DELETED") objects.push_back(object);
    SendLocked(collection, type, object);
  }
  size_t open() {  // watches
    MutexLock lock(mu_);
    return open_.size();
  }
  bool IsWatched(const std::string& collection) {  // all of it, now
    MutexLock lock(mu_);
    return std::any_of(open_.begin(), open_.end(),
                       [&](const Watch& w) { return w.collection == collection && w.name.empty(); });
  }
  int watched(const std::string& collection) { return Count(watched_, collection); }    // requests so far
  int refusals(const std::string& collection) { return Count(refusals_, collection); }  // as Refuse has it, so far
  int listed(const std::string& collection) { return Count(listed_, collection); }

  std::unique_ptr<kube::Client> client;

 private:
  struct Watch {
    std::string collection, name;  // "" for all names
    http_testing::Peer* peer;
  };
  void SendLocked(const std::string& collection, const char* type, const Json& object) CAPI_REQUIRES(mu_) {
    for (const auto& [watched, name, peer] : open_) {
      if (watched == collection && IsOf(object, name)) peer->Write(Event(type, object));
    }
  }
  // The end of a watch is of every name.
  static bool IsOf(const Json& object, const std::string& name) {
    return name.empty() || !object.contains("metadata") || GetString(object, {"metadata", "name"}) == name;
  }
  // Of the field selector of a request's target.
  static std::string NameIn(const std::string& target) {
    constexpr std::string_view kSelector = "fieldSelector=metadata.name%3D";
    size_t at = target.find(kSelector);
    if (at == target.npos) return "";
    at += kSelector.size();
    return target.substr(at, target.find('&', at) - at);
  }
  static std::string Event(const char* type, const Json& object) {
    std::string line = ToJsonText({{"type", type}, {"object", object}}) + "\n";
    char size[20];
    std::snprintf(size, sizeof size, "%zx", line.size());
    return std::string(size) + "\r\n" + line + "\r\n";
  }

  int Count(std::map<std::string, int>& counts, const std::string& collection) {
    MutexLock lock(mu_);
    return counts[collection];
  }

  void Serve(http_testing::Peer& peer) {
    for (std::string head = peer.ReadRequest(); !head.empty(); head = peer.ReadRequest()) {
      const size_t at = head.find(' ') + 1;  // after "GET "
      const std::string target = head.substr(at, head.find(' ', at) - at);
      const std::string path = target.substr(0, target.find('?'));
      bool watch = target.find("watch=true") != std::string::npos;
      const std::string name = NameIn(target);
      if (const int status = Refused(path, name); status != 0) {
        const char* reason = status == 403 ? "Forbidden" : "InternalError";
        peer.Write(Whole(status, ToJsonText({{"kind", "Status"}, {"reason", reason}, {"code", status}})));
        continue;
      }
      if (watch && Stream(peer, path, name)) return;
      peer.Write(head.starts_with("GET ") ? Plain(path, name, watch) : Written(path, head));
    }
  }

  bool Stream(http_testing::Peer& peer, const std::string& path, const std::string& name) {
    {
      MutexLock lock(mu_);
      ++watched_[path];
      auto it = collections_.find(path);
      if (it == collections_.end()) return false;
      ++streams_;
      changed_.notify_all();
      changed_.wait_for(mu_, std::chrono::seconds(30), [this] {
        mu_.AssertHeld();
        return streams_ >= held_until_;
      });
      std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
      for (const Json& object : it->second) {
        if (IsOf(object, name)) text += Event("ADDED", object);
      }
      peer.Write(text + Event("BOOKMARK", {{"metadata",
                                            {{"resourceVersion", "100"},
                                             {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}));
      open_.push_back({path, name, &peer});
    }
    peer.WaitForEnd();
    MutexLock lock(mu_);
    std::erase_if(open_, [&](const Watch& watch) { return watch.peer == &peer; });
    return true;
  }

  int Refused(const std::string& path, const std::string& name) {
    std::function<void()> call;
    int status = 0;
    {
      MutexLock lock(mu_);
      if (auto refused = refused_.find(path); name.empty() && refused != refused_.end()) status = refused->second;
      if (status != 0) {
        ++refusals_[path];
        call = on_refusal_;
      }
    }
    if (call) call();
    return status;
  }

  std::string Plain(const std::string& path, const std::string& name, bool watch) {
    MutexLock lock(mu_);
    int status = 200;
    std::string body;
    if (auto it = answers_.find(path); it != answers_.end()) {
      status = it->second.first;
      body = it->second.second;
    } else if (auto list = collections_.find(path); list != collections_.end() && !watch) {
      ++listed_[path];
      Json items = Json::array();
      for (const Json& object : list->second) {
        if (IsOf(object, name)) items.push_back(object);
      }
      body = ToJsonText({{"metadata", {{"resourceVersion", "100"}}}, {"items", std::move(items)}});
    } else {
      status = 404;
      body = R"({"kind":"Status","reason":"NotFound","code":404,"message":"there is none"})";
    }
    return Whole(status, body);
  }

  // A refusal repeats what it refuses, as those of webhooks may.
  std::string Written(const std::string& path, const std::string& request) {
    std::function<int(const std::string&)> answer;
    {
      MutexLock lock(mu_);
      answer = write_status_;
    }
    const int status = answer ? answer(path) : 404;
    if (status < 300) return Whole(status, R"({"metadata":{"name":"written"}})");
    return Whole(status, ToJsonText({{"kind", "Status"}, {"code", status}, {"message", "refused: " + request}}));
  }

  static std::string Whole(int status, const std::string& body) {
    return "HTTP/1.1 " + std::to_string(status) + " x\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
           body;
  }

  Mutex mu_;
  std::map<std::string, std::vector<Json>> collections_;
  std::map<std::string, std::pair<int, std::string>> answers_;
  std::map<std::string, int> refused_;
  std::function<void()> on_refusal_;
  std::function<int(const std::string&)> write_status_;
  std::vector<Watch> open_;
  std::map<std::string, int> watched_, listed_, refusals_;
  std::condition_variable_any changed_;
  int streams_ = 0, held_until_ = 0;
  http_testing::RawServer server_{[this](http_testing::Peer& peer, int) { Serve(peer); }, /*parallel=*/true};
};

}  // namespace capi::ops::testing
