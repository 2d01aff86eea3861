// A real sshd behind a port on loopback, in front of a repository that git itself makes, for tests.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/http/testing.h"
#include "fetch/git/git_testing.h"

namespace capi::fetch {

// A value.
struct SshStandInOptions {
  bool takes_protocol = true;  // AcceptEnv GIT_PROTOCOL; else it answers in version 0
  std::string key = "-t ed25519";
  std::string passphrase = {};
  std::string command = {};  // in the place of git's
};

// Thread-safe, but for what changes the repository.
class SshStandIn {
 public:
  explicit SshStandIn(SshStandInOptions options = {});
  ~SshStandIn();

  static bool IsThere();  // whether this machine has sshd
  GitStandIn& git() { return git_; }
  std::string url() const;  // "ssh://user@127.0.0.1:1234/folder/repository.git"
  std::string known_hosts() const;
  // identity, known_hosts, and password where it needs one.
  std::map<std::string, std::string> secret() const;
  std::unique_ptr<Repository> Open(const std::map<std::string, std::string>& secret,
                                   const std::string& path = "") const;
  std::string Run(const std::string& command) const;  // in its folder

 private:
  void Serve(int fd) const;

  const SshStandInOptions options_;
  GitStandIn git_;
  const std::string folder_;
  std::unique_ptr<http_testing::RawServer> server_;
};

// A private key as `identity` has it.
std::string NewPrivateKey();

// A server of ssh that lets everybody in and then asks for channels to them, without end, or says something
// (`by_words`) in the place of an answer. Thread-compatible.
class FloodingSshServer {
 public:
  explicit FloodingSshServer(bool by_words = false);
  ~FloodingSshServer();

  std::string url() const;
  std::map<std::string, std::string> secret() const;
  // How many it asked for, and how many of these were refused. It has ended then.
  std::pair<int, int> End();

 private:
  void Talk(int fd);

  const bool by_words_;
  const std::string folder_;
  int asked_ = 0, refused_ = 0;
  std::unique_ptr<http_testing::RawServer> server_;
};

}  // namespace capi::fetch
