// For tests: watches of what is selected, on a server with Secrets.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "operator/observe/server_testing.h"
#include "operator/observe/watches.h"

namespace capi::ops {

inline constexpr int kAlone = Watches::kAlone;
inline constexpr const char* kAll = "/api/v1/secrets";

inline std::string Of(const std::string& ns) { return "/api/v1/namespaces/" + ns + "/secrets"; }

inline Json Secret(const std::string& ns, const std::string& name, int version, const Json& labels = Json::object()) {
  return {{"metadata",
           {{"namespace", ns},
            {"name", name},
            {"uid", ns + name},
            {"resourceVersion", std::to_string(version)},
            {"labels", labels}}}};
}

inline Watches::Key ByName(const std::string& ns, const std::string& name, const char* kind = "Secret") {
  return {Watches::Purpose::kReferenced, kube::Builtin(kind), ns, "", "metadata.name=" + name, true};
}

inline Watches::Key ByLabels(const std::string& ns, const std::string& labels) {
  return {Watches::Purpose::kReleases, kube::Builtin("Secret"), ns, labels, "", true};
}

// The system's, which a test can put forward. Thread-safe.
class LaterClock : public Clock {
 public:
  WallTime Now() override { return SystemClock().Now() + Seconds(by_); }
  MonoTime Monotonic() override { return SystemClock().Monotonic() + Seconds(by_); }
  bool WaitUntil(std::condition_variable_any& cv, Mutex& mu, const std::stop_token& stop, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    return SystemClock().WaitUntil(cv, mu, stop, deadline == MonoTime::max() ? deadline : deadline - Seconds(by_),
                                   ready);
  }
  void Advance(Seconds by) { by_ += by.count(); }

 private:
  std::atomic<int64_t> by_ = 0;  // seconds
};

// A server with Secrets, and what the watches told of them, as "NAMESPACE/NAME@VERSION USER USER". Each refusal takes
// two seconds: the second one in a row is the last. Thread-compatible.
class SelectTest : public ::testing::Test {
 protected:
  SelectTest() {
    ctx_.clock = &clock_;
    auto keep = [](void* self, std::string_view line) { static_cast<SelectTest*>(self)->Keep(line); };
    ctx_.log = Logger::ToSink(LogLevel::kInfo, LogFormat::kText, keep, this);
    server_.Has(kAll, {});
    server_.OnRefusal([this] { clock_.Advance(Seconds(2)); });
  }
  ~SelectTest() override { watches_.Stop(); }

  // In the list of its namespace first: a real server's list has what its watch has told.
  void Change(const char* type, const Json& secret) {
    server_.Change(Of(GetString(secret, {"metadata", "namespace"})), type, secret);
    server_.Change(kAll, type, secret);
  }

  // What is watched is so no more.
  void RefuseNow(const std::string& collection) {
    server_.Refuse(collection);
    server_.Send(collection, "ERROR", {{"kind", "Status"}, {"reason", "Forbidden"}, {"code", 403}});
  }

  // Stamps of what is selected, "!CODE" where that fails.
  std::vector<std::string> Select(const Watches::Key& key, const std::string& user) {
    auto objects = watches_.Select(ctx_, key, user);
    if (!objects.ok()) return {"!" + std::string(CodeName(objects.code()))};
    std::vector<std::string> out;
    for (const auto& object : *objects) out.push_back(object->name() + "@" + object->resource_version());
    return out;
  }
  // So many that the next one shares a watch: each in a namespace of its own, or all in `ns`.
  void UseUp(const std::string& ns = "") {
    for (int i = 0; i < kAlone; ++i) {
      const std::string in = ns.empty() ? "alone" + std::to_string(i) : ns;
      server_.Change(Of(in), "ADDED", Secret(in, "s" + std::to_string(i), 1));
      EXPECT_THAT(Select(ByName(in, "s" + std::to_string(i)), "alone"),
                  ::testing::ElementsAre("s" + std::to_string(i) + "@1"));
    }
    TakeTold();
  }

  bool WasTold(const std::string& line) {
    MutexLock lock(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(60), [&] {
      mu_.AssertHeld();
      return std::find(told_.begin(), told_.end(), line) != told_.end();
    });
  }
  void Keep(std::string_view line) {
    MutexLock lock(mu_);
    if (line.find("one by one") != line.npos) said_.emplace_back(line);
  }
  // What was logged of watches that are refused, since the last question.
  std::vector<std::string> TakeSaid() {
    MutexLock lock(mu_);
    return std::exchange(said_, {});
  }
  std::vector<std::string> TakeTold() {
    MutexLock lock(mu_);
    return std::exchange(told_, {});
  }

  testing::WatchServer server_;
  LaterClock clock_;
  Context ctx_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<std::string> told_ CAPI_GUARDED_BY(mu_), said_ CAPI_GUARDED_BY(mu_);
  Watches watches_{*server_.client, [this](const Watches::Event& event) {
                     const kube::ObjectPtr& object = event.is ? event.is : event.was;
                     std::string line = event.watch.ns + "/";
                     line += object ? object->name() : event.watch.field_selector + event.watch.label_selector;
                     line += event.is ? "@" + object->resource_version() : object ? " is gone" : " is lost";
                     for (const std::string& user : event.users) line += " " + user;
                     MutexLock lock(mu_);
                     told_.push_back(line);
                     changed_.notify_all();
                   }};
};

}  // namespace capi::ops
