#include "fetch/git/ssh_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libssh/server.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

constexpr const char* kSshd = "/usr/sbin/sshd";

std::string NewFolder() {
  std::string pattern = std::filesystem::path(testing::TempDir()) / "ssh-XXXXXX";
  return mkdtemp(pattern.data());
}

}  // namespace

bool SshStandIn::IsThere() { return std::filesystem::exists(kSshd); }

SshStandIn::SshStandIn(SshStandInOptions options) : options_(std::move(options)), folder_(NewFolder()) {
  Run("ssh-keygen -q -t ed25519 -N '' -f host && ssh-keygen -q -t ecdsa -N '' -f other");
  Run(fmt::format("ssh-keygen -q {} -N '{}' -f client && cp client.pub authorized", options_.key, options_.passphrase));
  const std::string config = fmt::format(
      "HostKey {}/host\nHostKey {}/other\nAuthorizedKeysFile {}/authorized\nStrictModes no\nUsePAM no\n"
      "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPermitRootLogin yes\n{}{}",
      folder_, folder_, folder_, options_.takes_protocol ? "AcceptEnv GIT_PROTOCOL\n" : "",
      options_.command.empty() ? "" : fmt::format("ForceCommand {}\n", options_.command));
  EXPECT_TRUE(WriteFile(folder_ + "/config", config).ok());
  if (geteuid() == 0)
    std::filesystem::create_directories("/run/sshd");  // sshd wants it; a package's own start makes it
  server_ =
      std::make_unique<http_testing::RawServer>([this](http_testing::Peer& peer, int) { Serve(peer.fd()); }, true);
}

SshStandIn::~SshStandIn() {
  server_.reset();
  std::filesystem::remove_all(folder_);
}

// One sshd for each connection, which ends with it.
void SshStandIn::Serve(int fd) const {
  const std::string config = folder_ + "/config", log = folder_ + "/log";
  std::string words[] = {kSshd, "-i", "-f", config, "-E", log};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int standard : {0, 1}) posix_spawn_file_actions_adddup2(&files, fd, standard);
  pid_t sshd = -1;
  EXPECT_EQ(posix_spawn(&sshd, kSshd, &files, nullptr, arguments.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  if (sshd > 0) waitpid(sshd, nullptr, 0);
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
  return fmt::format("ssh://{}@127.0.0.1:{}{}", Trim(Run("id -un")), server_->port(), git_.folder());
}

std::string SshStandIn::known_hosts() const {
  std::string key = *ReadFile(folder_ + "/host.pub");
  return fmt::format("[127.0.0.1]:{} {}", server_->port(), key);
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

namespace {

// Answers until it is asked to run a command, and that too unless it `floods`; the channel for that, null where it
// doesn't come so far.
ssh_channel LetIn(ssh_session session, bool floods) {
  ssh_channel channel = nullptr;
  while (ssh_message message = ssh_message_get(session)) {
    const int type = ssh_message_type(message);
    const bool runs = type == SSH_REQUEST_CHANNEL && ssh_message_subtype(message) == SSH_CHANNEL_REQUEST_EXEC;
    if (type == SSH_REQUEST_AUTH) {
      ssh_message_auth_reply_success(message, 0);
    } else if (type == SSH_REQUEST_SERVICE) {
      ssh_message_service_reply_success(message);
    } else if (type == SSH_REQUEST_CHANNEL_OPEN) {
      channel = ssh_message_channel_request_open_reply_accept(message);
    } else if (runs && !floods) {
      ssh_message_channel_request_reply_success(message);
    } else if (!runs) {
      ssh_message_reply_default(message);
    }
    ssh_message_free(message);
    if (runs) return channel;
  }
  return nullptr;
}

}  // namespace

std::string NewPrivateKey() {
  ssh_key key = nullptr;
  char* text = nullptr;
  EXPECT_EQ(ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key), SSH_OK);
  EXPECT_EQ(ssh_pki_export_privkey_base64(key, nullptr, nullptr, nullptr, &text), SSH_OK);
  std::string out = text;
  ssh_string_free_char(text);
  ssh_key_free(key);
  return out;
}

FloodingSshServer::FloodingSshServer(bool by_words) : by_words_(by_words), folder_(NewFolder()) {
  ssh_key key = nullptr;
  EXPECT_EQ(ssh_pki_generate(SSH_KEYTYPE_ED25519, 0, &key), SSH_OK);
  EXPECT_EQ(ssh_pki_export_privkey_file(key, nullptr, nullptr, nullptr, (folder_ + "/host").c_str()), SSH_OK);
  char* shown = nullptr;
  EXPECT_EQ(ssh_pki_export_pubkey_base64(key, &shown), SSH_OK);
  EXPECT_TRUE(WriteFile(folder_ + "/host.pub", shown).ok());
  ssh_string_free_char(shown);
  ssh_key_free(key);
  server_ = std::make_unique<http_testing::RawServer>([this](http_testing::Peer& peer, int) { Talk(dup(peer.fd())); });
}

FloodingSshServer::~FloodingSshServer() {
  End();
  std::filesystem::remove_all(folder_);
}

std::string FloodingSshServer::url() const { return fmt::format("ssh://me@127.0.0.1:{}/r", server_->port()); }

std::map<std::string, std::string> FloodingSshServer::secret() const {
  const std::string key = *ReadFile(folder_ + "/host.pub");
  return {{"identity", NewPrivateKey()},
          {"known_hosts", fmt::format("[127.0.0.1]:{} ssh-ed25519 {}", server_->port(), key)}};
}

std::pair<int, int> FloodingSshServer::End() {
  server_.reset();
  return {asked_, refused_};
}

void FloodingSshServer::Talk(int fd) {
  ssh_bind bind = ssh_bind_new();
  ssh_bind_options_set(bind, SSH_BIND_OPTIONS_HOSTKEY, (folder_ + "/host").c_str());
  ssh_session session = ssh_new();
  const bool begun = ssh_bind_accept_fd(bind, session, fd) == SSH_OK && ssh_handle_key_exchange(session) == SSH_OK;
  ssh_channel channel = begun ? LetIn(session, by_words_) : nullptr;
  const std::string words(1u << 10, 'x');
  for (bool open = by_words_ && channel != nullptr; open;)
    open = ssh_channel_write(channel, words.data(), static_cast<std::uint32_t>(words.size())) > 0;
  for (bool open = !by_words_ && channel != nullptr; open && asked_ < 10'000;) {
    ssh_channel other = ssh_channel_new(session);
    ++asked_;
    const int answer = ssh_channel_open_x11(other, "127.0.0.1", 6000);
    open = ssh_is_connected(session) != 0;
    if (answer == SSH_ERROR && open) ++refused_;
    ssh_channel_free(other);
  }
  ssh_free(session);
  ssh_bind_free(bind);
}

}  // namespace capi::fetch
