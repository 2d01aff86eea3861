// For tests: a node on a real control plane, whose managers are small programs.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/processes/temporary_folder.h"
#include "kube/client/client.h"
#include "local/node/node.h"

namespace capi::local {

// Image "manager" is a program that is like one of Cluster API's (node_testing.cc), "sh" is a shell, "slow" takes until
// the context ends, "throws" throws once and is a manager then, any other isn't there. Thread-safe.
class SmallPrograms : public Programs {
 public:
  explicit SmallPrograms(const std::string& folder);
  Result<Program> Find(const Context& ctx, const std::string& image) override;

 private:
  const std::string manager_;
  std::atomic<bool> thrown_{false};
};

// The user's PATH, and nothing else.
NodeOptions OptionsBelow(const std::string& folder, const kube::Config& config);

// A node that runs until it goes. Thread-compatible.
class RunningNode {
 public:
  RunningNode(const std::string& folder, kube::Client& client);
  ~RunningNode();
  // Ends it, and says how long that took.
  Millis Stop();
  const NodeOptions& options() const { return options_; }

 private:
  SmallPrograms programs_;
  const NodeOptions options_;
  Node node_;
  std::stop_source stop_;
  std::thread thread_;
};

// What a process of a manager answers to GET `path`, asked as the API server asks a webhook: by its Service. "" where
// it isn't reached, "503 ..." where the node refuses.
std::string AskService(const NodeOptions& options, const std::string& address, const std::string& path);

// Processes whose command line or environment has `text`.
std::vector<int> ProcessesWith(const std::string& text);

}  // namespace capi::local
