// Repositories behind a real sshd.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <stop_token>
#include <thread>

#include "base/encoding.h"
#include "base/files.h"
#include "base/http/testing.h"
#include "base/strings.h"
#include "base/testing/temp_folder.h"
#include "fetch/git/known_hosts.h"
#include "fetch/git/ssh_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): clang-tidy 14 overlooks its uses

api::Version V(std::string_view text) { return *api::Version::Parse(text); }

class GitOverSsh : public testing::Test {
 protected:
  void SetUp() override {
    if (!SshStandIn::IsThere()) GTEST_SKIP() << "there is no sshd (tools/deps test)";
  }
};

// T15: of either version, for keys of each kind.
TEST_F(GitOverSsh, TagsAreReleases_T15) {
  const SshStandInOptions each[] = {{},
                                    {.takes_protocol = false},
                                    {.key = "-t ecdsa -b 384"},
                                    {.key = "-t rsa -b 3072"},
                                    {.key = "-t rsa -b 2048 -m PEM"},
                                    {.passphrase = "opens it"}};
  for (const SshStandInOptions& options : each) {
    SCOPED_TRACE(options.key + options.passphrase);
    SshStandIn server(options);
    server.git().Release("v1.0.0", AwsRelease("a"));
    server.git().Release("v1.1.0", AwsRelease("a", "two"), true);
    auto repository = server.Open(server.secret(), "a");
    auto versions = repository->Versions({});
    ASSERT_TRUE(versions.ok()) << versions.error().message;
    EXPECT_EQ(versions->size(), 2U);
    auto release = GetRelease({}, *repository, V("v1.1.0"));
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_THAT(release->components, HasSubstr("two"));
    EXPECT_EQ(release->source, server.url() + "//a v1.1.0");
  }
}

// T15: the server reads "~" at the beginning of what it is asked for, and nowhere else.
TEST_F(GitOverSsh, AHomeIsNamedAsGitNamesIt_T15) {
  const TempFolder folder;
  const std::string& home = folder.path();
  SshStandIn server({.command = "HOME='" + home + R"(' sh -c "$SSH_ORIGINAL_COMMAND")"});
  std::filesystem::create_symlink(server.git().folder(), home + "/r.git");
  server.git().Release("v1.0.0", AwsRelease());
  const std::string url = ReplaceAll(server.url(), server.git().folder(), "/~/r.git");
  auto repository = *OpenGit({url, "", {}}, server.secret(), api::ProviderType::kInfrastructure, "aws", {});
  auto release = GetRelease({}, *repository, V("v1.0.0"));
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->source, url + " v1.0.0");
}

TEST_F(GitOverSsh, TheServersKeyIsOneOfTheSecrets_T15) {
  SshStandIn server;
  server.git().Release("v1.0.0", AwsRelease());
  const std::string known = server.known_hosts(), port = known.substr(0, known.find(' '));
  server.Run("printf '%s' '" + known + "' > known && ssh-keygen -q -H -f known && rm -f known.old");
  const std::string hashed = server.Run("cat known");
  EXPECT_THAT(hashed, Not(HasSubstr("127.0.0.1")));
  const std::string other = port + " " + server.Run("ssh-keygen -q -t ed25519 -N '' -f third && cat third.pub");
  const std::string rsa = port + " " + server.Run("ssh-keygen -q -t rsa -b 2048 -N '' -f fourth && cat fourth.pub");
  const std::pair<std::string, const char*> cases[] = {
      {known, ""},
      {hashed, ""},
      {"# a comment\n\n" + other + "other.example.com " + known.substr(known.find(' ') + 1) + known, ""},
      {"[127.0.0.*]" + port.substr(port.find(':')) + known.substr(known.find(' ')), ""},
      {other, "shows a key that known_hosts"},
      {"127.0.0.1" + known.substr(known.find(' ')), "has no key of 127.0.0.1:"},
      {"!" + port + "," + known, "has no key of"},
      {"@revoked " + known + known, "is revoked"},
      {"@cert-authority " + known, "has no key of"},
      {"junk", "line 1 of known_hosts is none"},
      {port + " ssh-ed25519 anVuaw==\n" + port + " ssh-junk anVuaw==",
       "doesn't have (line 1, line 2 of it can't be read)"},
      // What ssh itself passes over: a kind that isn't known here, and a key of version 1.
      {port + " ssh-junk anVuaw==\n" + port + " 1024 35 123\n" + known, ""},
      {"@revoked " + port + " ssh-junk anVuaw==\n" + known, "line 1 of known_hosts in the Secret"},
      {rsa, "shows a key that known_hosts"},  // a kind that the server doesn't have
  };
  for (const auto& [lines, why] : cases) {
    auto secret = server.secret();
    secret["known_hosts"] = lines;
    auto versions = server.Open(secret)->Versions({});
    EXPECT_EQ(versions.ok(), *why == '\0') << lines << (versions.ok() ? "" : versions.error().message);
    if (versions.ok()) continue;
    EXPECT_EQ(versions.code(), Code::kUnauthenticated) << versions.error().message;
    EXPECT_THAT(versions.error().message, HasSubstr(why));
  }
}

TEST_F(GitOverSsh, AKeyThatDoesNotOpenItIsTold_T15) {
  SshStandIn server({.passphrase = "opens it"});
  server.git().Release("v1.0.0", AwsRelease());
  auto told = [&](const char* key, const std::string& value) {
    auto secret = server.secret();
    secret[key] = value;
    auto versions = server.Open(secret)->Versions({});
    EXPECT_FALSE(versions.ok());
    if (versions.ok()) return std::string();
    EXPECT_EQ(versions.code(), Code::kUnauthenticated);
    return versions.error().message;
  };
  EXPECT_THAT(told("password", "s3cret"),
              testing::AllOf(HasSubstr("no private key that can be read with its password"), Not(HasSubstr("s3cret"))));
  EXPECT_THAT(told("identity", "s3cret"), testing::AllOf(HasSubstr("no private key"), Not(HasSubstr("s3cret"))));
  // Nobody is asked for it either.
  auto locked = server.secret();
  locked.erase("password");
  EXPECT_THAT(server.Open(locked)->Versions({}).error().message, HasSubstr("can be read without a password"));
  server.Run("ssh-keygen -q -t rsa -b 2048 -m PEM -N 'opens it' -f pem");
  locked["identity"] = server.Run("cat pem");
  auto pem = server.Open(locked)->Versions({});
  EXPECT_EQ(pem.code(), Code::kUnauthenticated);
  EXPECT_THAT(pem.error().message, HasSubstr("ssh-keygen -p"));
  const std::string strange = server.Run("ssh-keygen -q -t ed25519 -N 'opens it' -f strange && cat strange");
  EXPECT_THAT(told("identity", strange), HasSubstr("refuses the key that the Secret"));
}

TEST_F(GitOverSsh, ARepositoryThatIsNotThereIsTold_T15) {
  SshStandIn server;
  std::string url = server.url() + "x";
  auto repository = *OpenGit({url, "", {}}, server.secret(), api::ProviderType::kInfrastructure, "aws", {});
  auto versions = repository->Versions({});
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kNotFound) << versions.error().message;
  EXPECT_THAT(versions.error().message, HasSubstr("has no such repository for this key"));
  EXPECT_THAT(versions.error().message, Not(HasSubstr("does not appear")));
}

// As in a container, whose user stands in no file and has no home.
TEST_F(GitOverSsh, AUserWithoutAHomeMayAsk_T15) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  SshStandIn server;
  server.git().Release("v1.0.0", AwsRelease());
  const auto repository = server.Open(server.secret());
  const char* home = getenv("HOME");
  const std::string kept = home == nullptr ? "" : home;
  unsetenv("HOME");
  std::jthread([&] {
    ASSERT_EQ(syscall(SYS_setuid, 54321), 0);  // of this thread alone
    auto versions = repository->Versions(Context{}.WithTimeout(Seconds(20)));
    EXPECT_TRUE(versions.ok()) << versions.error().message;
  }).join();
  if (home != nullptr) setenv("HOME", kept.c_str(), 1);
}

// T15, I3: what was named a moment ago is only away, and nothing older is taken for the latest.
TEST_F(GitOverSsh, ARepositoryThatIsGoneForAMomentIsAnOutage_T15_I3) {
  SshStandIn server;
  for (const char* version : {"v1.0.0", "v1.1.0"}) server.git().Release(version, AwsRelease("", version));
  const auto repository = server.Open(server.secret());
  ASSERT_TRUE(repository->Versions({}).ok());
  const std::string there = server.git().folder();
  std::filesystem::rename(there, there + ".away");
  EXPECT_EQ(LatestVersion({}, *repository, {}).code(), Code::kUnavailable);
  std::filesystem::rename(there + ".away", there);
  EXPECT_EQ(LatestVersion({}, *repository, {})->ToString(), "v1.1.0");
}

// What a server asks for by itself isn't kept: each is refused at once, and too many end it.
TEST(GitOverSshFlood, AServerThatAsksForChannelsWithoutEndIsLeft_T15) {
  FloodingSshServer server;
  auto repository = *OpenGit({server.url(), "", {}}, server.secret(), api::ProviderType::kInfrastructure, "aws", {});
  auto versions = repository->Versions(Context{}.WithTimeout(Seconds(20)));
  EXPECT_EQ(versions.code(), Code::kInvalidArgument) << versions.error().message;
  EXPECT_THAT(versions.error().message, HasSubstr("asks for more than a git server does"));
  const auto [asked, refused] = server.End();
  EXPECT_GE(refused, 60);
  EXPECT_LT(asked, 100);
}

// Nor is what it says before it is time.
TEST(GitOverSshFlood, AServerThatSaysMuchInThePlaceOfAnAnswerIsLeft_T15) {
  FloodingSshServer server(true);
  auto repository = *OpenGit({server.url(), "", {}}, server.secret(), api::ProviderType::kInfrastructure, "aws", {});
  auto versions = repository->Versions(Context{}.WithTimeout(Seconds(20)));
  EXPECT_EQ(versions.code(), Code::kInvalidArgument) << versions.error().message;
  EXPECT_THAT(versions.error().message, HasSubstr("says or asks for more than a git server does"));
}

// T15: what is wrong with the Secret is told before anybody is asked, wherever the server is.
TEST(GitOverSshSecret, WithAWrongSecretNobodyIsAsked_T15) {
  std::atomic<int> asked = 0;
  http_testing::RawServer server([&](http_testing::Peer&, int) { ++asked; });
  const int port = server.port();
  const std::string url = fmt::format("ssh://me@127.0.0.1:{}/r", port), key = NewPrivateKey();
  const std::string known = fmt::format("[127.0.0.1]:{} ssh-ed25519 AAAA", port);
  const std::map<std::string, std::string> secrets[] = {{{"identity", "x"}, {"known_hosts", known}},
                                                        {{"identity", key}, {"known_hosts", "junk"}},
                                                        {{"identity", key}, {"known_hosts", "other ssh-rsa AAAA"}}};
  for (const auto& secret : secrets) {
    auto repository = *OpenGit({url, "", {}}, secret, api::ProviderType::kInfrastructure, "aws", {});
    EXPECT_EQ(repository->Versions({}).code(), Code::kUnauthenticated);
  }
  EXPECT_EQ(asked, 0);
  auto right = *OpenGit({url, "", {}}, {{"identity", key}, {"known_hosts", known}}, api::ProviderType::kInfrastructure,
                        "aws", {});
  EXPECT_EQ(right->Versions({}).code(), Code::kUnavailable);
  EXPECT_EQ(asked, 1);
}

// What a client says by itself: its version, and a packet with the algorithms that it knows.
void AwaitGreeting(int fd) {
  std::string got;
  char piece[4096];
  for (ssize_t size = 0; (size = recv(fd, piece, sizeof piece, 0)) > 0;) {
    got.append(piece, static_cast<size_t>(size));
    const size_t packet = got.find('\n') + 1;
    if (packet == 0 || got.size() < packet + 4) continue;
    size_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(got[packet + i]);
    if (got.size() >= packet + 4 + length) return;
  }
}

// Before its key was looked at anybody in between can say it.
TEST(GitOverSshWords, WhatAServerSaysIsNotShown_T15) {
  http_testing::RawServer server([](http_testing::Peer& peer, int) {
    const std::string words = "call 555-0100 at once";
    const std::string said = "\x01\0\0\0\x02\0\0\0"s + static_cast<char>(words.size()) + words + "\0\0\0\0"s;
    const size_t padding = 8 - (said.size() + 5) % 8 + 8;
    const size_t size = 1 + said.size() + padding;
    peer.Write("SSH-2.0-test\r\n");
    // Where libssh has more to send when it reads that, it says of its socket what it should say of the server.
    AwaitGreeting(peer.fd());
    peer.Write("\0\0\0"s + static_cast<char>(size) + static_cast<char>(padding) + said + std::string(padding, 'x'));
    peer.WaitForEnd();
  });
  const std::map<std::string, std::string> secret = {
      {"identity", NewPrivateKey()}, {"known_hosts", fmt::format("[127.0.0.1]:{} ssh-ed25519 AAAA", server.port())}};
  auto repository = *OpenGit({fmt::format("ssh://me@127.0.0.1:{}/r", server.port()), "", {}}, secret,
                             api::ProviderType::kInfrastructure, "aws", {});
  std::string log;
  Context ctx = Context{}.WithTimeout(Seconds(20));
  ctx.log = Logger::ToSink(
      LogLevel::kDebug, LogFormat::kText,
      [](void* to, std::string_view line) { static_cast<std::string*>(to)->append(line); }, &log);
  auto versions = repository->Versions(ctx);
  EXPECT_EQ(versions.code(), Code::kUnavailable);
  EXPECT_THAT(versions.error().message, HasSubstr("ssh failed at its handshake"));
  EXPECT_THAT(versions.error().message, Not(HasSubstr("555-0100")));
  EXPECT_THAT(log, HasSubstr("555-0100"));
}

// T13: how long it takes to unlock a key stands in the key.
TEST_F(GitOverSsh, AKeyThatTakesWeeksToUnlockIsRefused_T13_T15) {
  SshStandIn server({.passphrase = "opens it"});
  server.git().Release("v1.0.0", AwsRelease());
  auto secret = server.secret();
  std::string& identity = secret["identity"];
  const size_t begin = identity.find('\n') + 1, end = identity.find("-----END");
  std::string bytes = *Base64Decode(identity.substr(begin, end - begin));
  const size_t rounds = 15 + 4 + 10 + 4 + 6 + 4 + 4 + 16;  // behind its mark, aes256-ctr, bcrypt and a salt
  bytes.replace(rounds, 4, "\xff\xff\xff\xff");
  identity = identity.substr(0, begin) + Base64Encode(bytes) + "\n" + identity.substr(end);
  auto versions = server.Open(secret)->Versions({});
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kUnauthenticated);
  EXPECT_THAT(versions.error().message, HasSubstr("locked by 4294967295 rounds"));
}

// What it says beside its answer counts, too.
TEST_F(GitOverSsh, AServerThatComplainsWithoutEndIsLeft_T13_T15) {
  SshStandIn server({.command = "yes complains >&2"});
  auto versions = server.Open(server.secret())->Versions(Context{}.WithTimeout(Seconds(60)));
  ASSERT_FALSE(versions.ok());
  EXPECT_EQ(versions.code(), Code::kInvalidArgument) << versions.error().message;
  EXPECT_THAT(versions.error().message, HasSubstr("sends more than the"));
}

// A server that says nothing ends with the time or the stop that the caller has, and costs nobody more.
TEST(GitOverSshTimes, ASilentServerEndsWithTheCallersTime_T13) {
  std::stop_source stop;
  http_testing::RawServer silent([&](http_testing::Peer& peer, int index) {
    if (index > 0) {
      peer.Write("SSH-2.0-test\r\n");
      AwaitGreeting(peer.fd());
      stop.request_stop();
    }
    peer.WaitForEnd();
  });
  const std::map<std::string, std::string> secret = {
      {"identity", NewPrivateKey()}, {"known_hosts", fmt::format("[127.0.0.1]:{} ssh-ed25519 AAAA", silent.port())}};
  auto repository = *OpenGit({fmt::format("ssh://me@127.0.0.1:{}/r", silent.port()), "", {}}, secret,
                             api::ProviderType::kInfrastructure, "aws", {});
  auto late = repository->Versions(Context{}.WithTimeout(Millis(300)));
  EXPECT_EQ(late.code(), Code::kDeadlineExceeded) << late.error().message;
  EXPECT_EQ(repository->Versions(Context{}.WithStop(stop.get_token())).code(), Code::kCancelled);
}

TEST(KnownHosts, AreReadLineByLine_T15) {
  const std::string lines =
      "a.example.com,b.example.com ssh-ed25519 AAA1\n[a.example.com]:2222\tssh-rsa\tAAA2 a comment\n"
      "*.example.org,!no.example.org ssh-rsa AAA3\n";
  auto keys = [&](std::string_view host, int port) {
    std::vector<std::string> out;
    for (const KnownKey& key : *KeysOfHost(lines, host, port)) out.push_back(key.key);
    return out;
  };
  EXPECT_THAT(keys("A.example.com", 22), ElementsAre("AAA1"));
  EXPECT_THAT(keys("a.example.com", 2222), ElementsAre("AAA2"));
  EXPECT_THAT(keys("x.example.org", 22), ElementsAre("AAA3"));
  EXPECT_THAT(keys("no.example.org", 22), ElementsAre());
  EXPECT_THAT(keys("example.org", 22), ElementsAre());
}

}  // namespace
}  // namespace capi::fetch
