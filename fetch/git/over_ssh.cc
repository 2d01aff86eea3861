#include <fcntl.h>
#include <fmt/format.h>
#include <libssh/libssh.h>
#include <libssh/server.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "base/http/connection.h"
#include "base/strings.h"
#include "fetch/download.h"
#include "fetch/git/conversation.h"
#include "fetch/git/known_hosts.h"
#include "fetch/git/private_key.h"
#include "fetch/pkt_line.h"

namespace capi::fetch {
namespace {

constexpr Millis kLook{200};           // the library may have read already what is waited for
constexpr size_t kMostWords = 4096;    // of what the server says beside its answer
constexpr int kMostAsked = 64;         // of what the server asks for by itself
constexpr int kMostUnread = 32 << 10;  // less than the library lets a server send that isn't read
constexpr std::string_view kSecret = "the Secret of spec.fetchConfig.git.secretRef";

Error Rejected(std::string message) { return Error{Code::kUnauthenticated, std::move(message), {}}; }
Error Unreachable(std::string message) { return Error{Code::kUnavailable, std::move(message), {}}; }

struct FreeKey {
  void operator()(ssh_key key) const { ssh_key_free(key); }
};
using Key = std::unique_ptr<ssh_key_struct, FreeKey>;

// Which algorithms a server shows a key of that kind by.
std::string AlgorithmsOf(const std::string& type) { return type == "ssh-rsa" ? "rsa-sha2-512,rsa-sha2-256" : type; }

// Those of the keys that are known, and behind them the others: a server that has another kind by now is told from one
// that is away, and its key is refused.
std::string AlgorithmsOf(const std::vector<KnownKey>& keys) {
  std::vector<std::string> kinds;
  for (const KnownKey& key : keys) {
    if (!key.revoked) kinds.push_back(AlgorithmsOf(key.type));
  }
  for (const char* other : {"ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                            "rsa-sha2-512,rsa-sha2-256"}) {
    if (std::find(kinds.begin(), kinds.end(), other) == kinds.end()) kinds.emplace_back(other);
  }
  return Join(kinds, ",");
}

// Nobody is asked what a key is locked with: without this one OpenSSL asks the terminal, or reads standard input.
int AsksNobody(const char*, char*, size_t, int, int, void*) { return -1; }

// What a server asks for by itself, a channel to here say, is refused at once: else it is kept, without end.
int Refuses(ssh_session, ssh_message, void* count) {
  ++*static_cast<int*>(count);
  return 1;
}

// How much of `text` is behind so many ends of sections; nullopt where they haven't all come. kInvalidArgument for what
// is no git.
Result<bool> HasSections(std::string_view& text, int& sections) {
  while (sections > 0) {
    std::string_view rest = text;
    auto line = TakePktLine(rest);
    if (!line.ok()) {
      const bool whole = text.size() >= 4 && text.substr(0, 4).find_first_not_of("0123456789abcdefABCDEF") != text.npos;
      if (whole) return line.error();
      return false;
    }
    if (line->kind == PktLine::Kind::kFlush) --sections;
    text = rest;
  }
  return true;
}

// git-upload-pack at the other end of ssh. Its connection stays open for all that is asked. Thread-compatible.
class OverSsh : public GitConversation {
 public:
  OverSsh(const api::GitReference& reference, const GitCredentials& credentials, const HttpOptions& options)
      : reference_(reference),
        credentials_(credentials),
        options_(options),
        server_("git server " + reference.HostPort()) {}
  ~OverSsh() override {
    if (channel_ != nullptr) ssh_channel_free(channel_);
    if (session_ != nullptr) ssh_free(session_);
  }

  bool over_http() const override { return false; }

  Result<std::string> Begin(const Context& ctx) override {
    http::Waiter waiter(ctx);
    const MonoTime limit = ctx.clock->Monotonic() + options_.connect_timeout;
    const auto keys = KeysOfHost(credentials_.known_hosts, reference_.host, reference_.port);
    if (!keys.ok()) return Rejected(fmt::format("{}: {}", kSecret, keys.error().message));
    if (keys->empty()) {
      return Rejected(
          fmt::format("known_hosts in {} has no key of {}: put in what `ssh-keyscan{} {}` says, once you "
                      "know that it is so",
                      kSecret, reference_.HostPort(),
                      reference_.port == 22 ? "" : fmt::format(" -p {}", reference_.port), reference_.host));
    }
    const Key identity = TRY(ReadIdentity());
    connection_ = TRY_WITH(http::Connection::Dial(waiter, reference_.host, reference_.port, limit), server_);
    TRY(Prepare(*keys));
    TRY(Until(
        waiter, [&] { return ssh_connect(session_); }, "its handshake"));
    TRY(CheckServer(waiter, *keys));
    TRY(LogIn(waiter, identity.get()));
    TRY(Execute(waiter));
    return Answer(waiter, 1, options_.max_answer);
  }

  Result<std::string> Ask(const Context& ctx, std::string_view request, int sections, size_t most,
                          bool* too_much) override {
    http::Waiter waiter(ctx);
    while (!request.empty()) {
      const int sent = ssh_channel_write(channel_, request.data(), static_cast<std::uint32_t>(request.size()));
      if (sent == SSH_ERROR) return Broken(waiter, "a question");
      if (sent > 0) request.remove_prefix(static_cast<size_t>(sent));
      TRY(CheckUnread());
      TRY(sent > 0 ? Check(waiter) : Wait(waiter));
    }
    return Answer(waiter, sections, most, too_much);
  }

 private:
  // In what the library says of it are words of the server: they are for the log, where it has everything.
  Error Broken(const http::Waiter& waiter, std::string_view at) const {
    waiter.ctx().log.Debug("ssh failed",
                           {{"server", server_}, {"at", at}, {"error", Shorten(ssh_get_error(session_), 200)}});
    return Unreachable(fmt::format("{}: ssh failed at {} (the log says more at level debug)", server_, at));
  }

  Error TooMuch() const {
    return Error{Code::kInvalidArgument, fmt::format("{} says or asks for more than a git server does", server_), {}};
  }

  // It isn't time for an answer, and the library keeps what isn't read.
  Status CheckUnread() const {
    if (channel_ == nullptr) return Ok();
    if (ssh_channel_poll(channel_, 0) > kMostUnread || ssh_channel_poll(channel_, 1) > kMostUnread) return TooMuch();
    return Ok();
  }

  Status Check(const http::Waiter& waiter) const {
    TRY(waiter.Check());
    if (asked_ > kMostAsked) return TooMuch();
    return Ok();
  }

  // Of the system nothing counts: no configuration, agent or file of keys. The library looks into these of its own
  // accord, and wants a home for them, which not every user has.
  Status Prepare(const std::vector<KnownKey>& keys) {
    session_ = ssh_new();
    if (session_ == nullptr) return Error{Code::kInternal, "ssh: no memory", {}};
    const std::string algorithms = AlgorithmsOf(keys);
    const bool no = false;
    const int port = reference_.port;
    // Its own, which it closes.
    int fd = fcntl(connection_->fd(), F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return Unreachable("ssh: no descriptor is left");
    const std::pair<ssh_options_e, const void*> options[] = {{SSH_OPTIONS_PROCESS_CONFIG, &no},
                                                             {SSH_OPTIONS_SSH_DIR, "/dev/null"},
                                                             {SSH_OPTIONS_KNOWNHOSTS, "/dev/null"},
                                                             {SSH_OPTIONS_GLOBAL_KNOWNHOSTS, "/dev/null"},
                                                             {SSH_OPTIONS_HOST, reference_.host.c_str()},
                                                             {SSH_OPTIONS_PORT, &port},
                                                             {SSH_OPTIONS_USER, reference_.user.c_str()},
                                                             {SSH_OPTIONS_HOSTKEYS, algorithms.c_str()},
                                                             {SSH_OPTIONS_FD, &fd}};
    for (const auto& [option, value] : options) {
      if (ssh_options_set(session_, option, value) == 0) continue;
      close(fd);  // it is the last of them
      return Error{Code::kInternal, "ssh: an option isn't taken", {}};
    }
    ssh_set_message_callback(session_, Refuses, &asked_);
    ssh_set_blocking(session_, 0);
    return Ok();
  }

  // Something has come, or may have.
  Status Wait(http::Waiter& waiter) const {
    TRY(Check(waiter));
    const bool writes = (ssh_get_poll_flags(session_) & SSH_WRITE_PENDING) != 0;
    const MonoTime look = waiter.ctx().clock->Monotonic() + kLook;
    Status status = waiter.Wait(connection_->fd(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), look);
    return status.ok() || status.code() != Code::kUnavailable ? status : waiter.Check();
  }

  Status Until(http::Waiter& waiter, const std::function<int()>& step, std::string_view what) {
    while (true) {
      const int done = step();
      if (done == SSH_OK) return Ok();
      if (done != SSH_AGAIN) return Broken(waiter, what);
      TRY(CheckUnread());
      TRY(Wait(waiter));
    }
  }

  // Never blindly: one of the keys that the Secret names, and no other.
  Status CheckServer(const http::Waiter& waiter, const std::vector<KnownKey>& keys) const {
    ssh_key shown = nullptr;
    if (ssh_get_server_publickey(session_, &shown) != SSH_OK) return Broken(waiter, "its key");
    const Key server(shown);
    bool known = false;
    std::vector<std::string> unread;
    for (const KnownKey& one : keys) {
      ssh_key read = nullptr;
      if (ssh_pki_import_pubkey_base64(one.key.c_str(), ssh_key_type_from_name(one.type.c_str()), &read) != SSH_OK) {
        if (one.revoked) {
          return Rejected(
              fmt::format("line {} of known_hosts in {} revokes a key that can't be read", one.line, kSecret));
        }
        unread.push_back(fmt::format("line {}", one.line));
        continue;
      }
      const Key key(read);
      if (ssh_key_cmp(key.get(), server.get(), SSH_KEY_CMP_PUBLIC) != 0) continue;
      if (one.revoked) return Rejected(fmt::format("{} shows a key that known_hosts says is revoked", server_));
      known = true;
    }
    if (known) return Ok();
    return Rejected(fmt::format(
        "{} shows a key that known_hosts in {} doesn't have{}: somebody may have put "
        "another server in its place; correct it only once you know the new key",
        server_, kSecret, unread.empty() ? "" : fmt::format(" ({} of it can't be read)", JoinNames(unread, 5))));
  }

  Result<Key> ReadIdentity() const {
    const std::string identity = std::string(Trim(credentials_.identity)) + "\n";
    const Status status = CheckPrivateKey(identity);
    if (!status.ok()) return Rejected(fmt::format("identity in {} {}", kSecret, status.error().message));
    ssh_key read = nullptr;
    const char* passphrase = credentials_.passphrase.empty() ? nullptr : credentials_.passphrase.c_str();
    const int imported = ssh_pki_import_privkey_base64(identity.c_str(), passphrase, AsksNobody, nullptr, &read);
    if (imported == SSH_OK) return Key(read);
    return Rejected(fmt::format("identity in {} is no private key that can be read{}", kSecret,
                                passphrase == nullptr ? " without a password" : " with its password"));
  }

  Status LogIn(http::Waiter& waiter, ssh_key key) {
    while (true) {
      switch (ssh_userauth_publickey(session_, nullptr, key)) {
        case SSH_AUTH_SUCCESS: return Ok();
        case SSH_AUTH_AGAIN: TRY(Wait(waiter)); break;
        case SSH_AUTH_ERROR: return Broken(waiter, "the login");
        default:
          return Rejected(
              fmt::format("{} refuses the key that {} has as identity for user {}", server_, kSecret, reference_.user));
      }
    }
  }

  Status Execute(http::Waiter& waiter) {
    channel_ = ssh_channel_new(session_);
    if (channel_ == nullptr) return Broken(waiter, "a channel");
    TRY(Until(
        waiter, [&] { return ssh_channel_open_session(channel_); }, "a channel"));
    // A server may not take it: then it speaks version 0.
    const Status asked = Until(
        waiter, [&] { return ssh_channel_request_env(channel_, "GIT_PROTOCOL", "version=2"); }, "GIT_PROTOCOL");
    if (!asked.ok() && asked.code() != Code::kUnavailable) return asked.error();
    const std::string command =
        fmt::format("git-upload-pack '{}'", reference_.path);  // ParseGitReference lets no quote in
    return Until(
        waiter, [&] { return ssh_channel_request_exec(channel_, command.c_str()); }, "git-upload-pack");
  }

  // Until so many sections have come.
  Result<std::string> Answer(http::Waiter& waiter, int sections, size_t most, bool* too_much = nullptr) {
    std::string answer, words;
    size_t looked = 0, all = 0;  // of both that it says
    while (true) {
      TRY(Check(waiter));
      std::string_view rest = std::string_view(answer).substr(looked);
      if (TRY(HasSections(rest, sections))) return answer;
      looked = answer.size() - rest.size();
      char piece[16 * 1024];
      const int said = ssh_channel_read_nonblocking(channel_, piece, sizeof piece, 1);
      if (said > 0) words.append(piece, std::min<size_t>(static_cast<size_t>(said), kMostWords - words.size()));
      const int came = ssh_channel_read_nonblocking(channel_, piece, sizeof piece, 0);
      if (came == SSH_ERROR) return Broken(waiter, "its answer");
      if (came > 0) answer.append(piece, static_cast<size_t>(came));
      all += static_cast<size_t>(std::max(said, 0)) + static_cast<size_t>(std::max(came, 0));
      if (all > most) {
        if (too_much != nullptr) *too_much = true;
        return Error{
            Code::kInvalidArgument, fmt::format("{} sends more than the {} bytes that are read", server_, most), {}};
      }
      const bool ended = came == SSH_EOF || (came <= 0 && said <= 0 && ssh_channel_is_eof(channel_) != 0);
      if (ended) return Ended(waiter, answer.empty() && looked == 0, words);
      if (came <= 0 && said <= 0) TRY(Wait(waiter));
    }
  }

  // What it says of that, and whatever else runs there, isn't shown.
  Error Ended(const http::Waiter& waiter, bool nothing_came, const std::string& words) const {
    waiter.ctx().log.Debug("a git server ended",
                           {{"server", server_}, {"said", Shorten(std::string(Trim(words)), 200)}});
    if (!nothing_came) return Unreachable(fmt::format("{} ended in the middle of its answer", server_));
    return Error{Code::kNotFound, fmt::format("{} has no such repository for this key", server_), {}};
  }

  const api::GitReference reference_;
  const GitCredentials credentials_;
  const HttpOptions options_;
  const std::string server_;
  std::unique_ptr<http::Connection> connection_;
  ssh_session session_ = nullptr;
  ssh_channel channel_ = nullptr;
  int asked_ = 0;  // by the server
};

}  // namespace

Result<std::unique_ptr<GitConversation>> TalkOverSsh(const api::GitReference& reference,
                                                     const GitCredentials& credentials, const HttpOptions& options) {
  return std::unique_ptr<GitConversation>(std::make_unique<OverSsh>(reference, credentials, options));
}

}  // namespace capi::fetch

// libssh can log in by Kerberos, which isn't asked for here (OverSsh::LogIn). It isn't there: that would be six
// libraries more to load at each start, and to keep up to date.
extern "C" {
void *GSS_C_NT_HOSTBASED_SERVICE = nullptr, *GSS_C_NT_USER_NAME = nullptr;
#define CAPI_NO_KERBEROS(name) \
  unsigned name(...) { return 13u << 16; /* GSS_S_FAILURE */ }
CAPI_NO_KERBEROS(gss_accept_sec_context)
CAPI_NO_KERBEROS(gss_acquire_cred)
CAPI_NO_KERBEROS(gss_add_oid_set_member)
CAPI_NO_KERBEROS(gss_create_empty_oid_set)
CAPI_NO_KERBEROS(gss_display_name)
CAPI_NO_KERBEROS(gss_display_status)
CAPI_NO_KERBEROS(gss_get_mic)
CAPI_NO_KERBEROS(gss_import_name)
CAPI_NO_KERBEROS(gss_indicate_mechs)
CAPI_NO_KERBEROS(gss_init_sec_context)
CAPI_NO_KERBEROS(gss_inquire_cred)
CAPI_NO_KERBEROS(gss_inquire_cred_by_mech)
CAPI_NO_KERBEROS(gss_release_buffer)
CAPI_NO_KERBEROS(gss_release_cred)
CAPI_NO_KERBEROS(gss_release_name)
CAPI_NO_KERBEROS(gss_release_oid_set)
CAPI_NO_KERBEROS(gss_test_oid_set_member)
CAPI_NO_KERBEROS(gss_verify_mic)
}
