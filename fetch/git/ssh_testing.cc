#include "fetch/git/ssh_testing.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

std::string NewFolder() {
  std::string pattern = std::filesystem::path(testing::TempDir()) / "ssh-XXXXXX";
  return mkdtemp(pattern.data());
}

int FreePort() {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

bool SshStandIn::IsThere() { return std::filesystem::exists(kSshd); }

SshStandIn::SshStandIn(SshStandInOptions options)
    : options_(std::move(options)), folder_(NewFolder()), port_(FreePort()) {
  Run("ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ecdsa -N '' -f other");
  Run(fmt::format("ssh-keygen -q {} -N '{}' -f client && cp client.pub authorized", options_.key, options_.passphrase));
  const std::string config = fmt::format(
      "ListenAddress 127.0.0.1\nPort {}\nHostKey {}/host\nHostKey {}/other\nPidFile {}/pid\nAuthorizedKeysFile "
      "{}/authorized\n"
      "StrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n{}{}",
      port_, folder_, folder_, folder_, folder_, options_.takes_protocol ? "AcceptEnv GIT_PROTOCOL\n" : "",
      options_.command.empty() ? "" : fmt::format("ForceCommand {}\n", options_.command));
  EXPECT_TRUE(WriteFile(folder_ + "/config", config).ok());
  if (geteuid() == 0)
    std::filesystem::create_directories("/run/sshd");  // sshd wants it; a package's own start makes it
  // It goes into the background once it listens.
  Run(fmt::format("{} -f {}/config -E {}/log", kSshd, folder_, folder_));
}

SshStandIn::~SshStandIn() {
  for (int i = 0; i < 200 && !std::filesystem::exists(folder_ + "/pid"); ++i) usleep(10'000);
  if (auto pid = ReadFile(folder_ + "/pid"); pid.ok() && std::atoi(pid->c_str()) > 1)
    kill(std::atoi(pid->c_str()), SIGTERM);
  std::error_code ignored;  // it removes the one file itself
  std::filesystem::remove_all(folder_, ignored);
}

std::string SshStandIn::Run(const std::string& command) const {
  const std::string whole = fmt::format("cd '{}' && {} 2>&1", folder_, command);
  std::string out;
  FILE* pipe = popen(whole.c_str(), "r");  // NOLINT(cert-env33-c): of a test's own words
  char piece[4096];
  for (size_t size = 0; (size = fread(piece, 1, sizeof piece, pipe)) > 0;) out.append(piece, size);
  EXPECT_EQ(pclose(pipe), 0) << command << ": " << out;
  return out;
}

std::string SshStandIn::url() const {
  return fmt::format("ssh://{}@127.0.0.1:{}{}", Trim(Run("id -un")), port_, git_.folder());
}

std::string SshStandIn::known_hosts() const {
  std::string key = *ReadFile(folder_ + "/host.pub");
  return fmt::format("[127.0.0.1]:{} {}", port_, key);
}

std::map<std::string, std::string> SshStandIn::secret() const {
  std::map<std::string, std::string> out = {{"identity", *ReadFile(folder_ + "/client")},
                                            {"known_hosts", known_hosts()}};
  if (!options_.passphrase.empty()) out["password"] = options_.passphrase;
  return out;
}

std::unique_ptr<Repository> SshStandIn::Open(const std::map<std::string, std::string>& secret,
                                             const std::string& path) const {
  auto repository = OpenGit({url(), path, {}}, secret, api::ProviderType::kInfrastructure, "aws", {});
  EXPECT_TRUE(repository.ok()) << repository.error().message;
  return *std::move(repository);
}

}  // namespace capi::fetch
