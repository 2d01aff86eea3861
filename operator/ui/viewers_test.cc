// B5: who sees which providers.
#include "operator/ui/viewers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operator/ui/ui_testing.h"
#include "operator/webhooks/access_server_testing.h"

namespace capi::ops::ui {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<api::ProviderId> kAll = {{api::ProviderType::kCore, "capi-system", "cluster-api"},
                                           {api::ProviderType::kInfrastructure, "a", "aws"},
                                           {api::ProviderType::kInfrastructure, "b", "aws"}};

// "admin" gets everything, "tenant" the infrastructure of namespace a, "cores" all cores, "stranger" nothing.
bool May(const Json& spec) {
  const Json what = spec.value("resourceAttributes", Json::object());
  if (what.value("verb", "") != "get" || what.value("group", "") != api::kGroup) return false;
  const std::string user = spec.value("user", ""), ns = what.value("namespace", ""), kind = what.value("resource", "");
  return user == "admin" || (user == "cores" && kind == "coreproviders") ||
         (user == "tenant" && ns == "a" && kind == "infrastructureproviders");
}

struct Server : testing::AccessServer {
  Server() : AccessServer(May, [](const std::string& token) { return token != "nobody"; }) {}
};

std::string Seen(const View& view) {
  std::string out;
  for (const api::ProviderId& id : kAll) {
    if (view.sees && view.sees(id)) out += id.ns + " ";
  }
  return out;
}

TEST(Viewers, SeeWhatTheyMayGet) {
  Server server;
  Viewers viewers(*server.client, SystemClock(), {});
  struct Case {
    const char *authorization, *seen;
    int status;
  };
  const Case cases[] = {{"Bearer admin", "capi-system a b ", 0},
                        {"Bearer tenant", "a ", 0},
                        {"Bearer cores", "capi-system ", 0},
                        {"Bearer stranger", "", 403},
                        {"Bearer nobody", "", 401},
                        {"", "", 401},
                        {"Basic YWRtaW4=", "", 401}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.authorization);
    const View view = viewers.Of({}, c.authorization, kAll);
    EXPECT_EQ(view.status, c.status) << view.text;
    EXPECT_EQ(Seen(view), c.seen);
  }
}

TEST(Viewers, AnAnswerCountsForAMinute) {
  Server server;
  FakeClock clock;
  Viewers viewers(*server.client, clock, {});
  EXPECT_EQ(Seen(viewers.Of({}, "Bearer tenant", kAll)), "a ");
  const size_t asked = server.asked().size();
  clock.Advance(Seconds(59));
  EXPECT_EQ(Seen(viewers.Of({}, "Bearer tenant", kAll)), "a ");
  EXPECT_EQ(server.asked().size(), asked);
  clock.Advance(Seconds(2));
  EXPECT_EQ(Seen(viewers.Of({}, "Bearer tenant", kAll)), "a ");
  EXPECT_GT(server.asked().size(), asked);
}

TEST(Viewers, WhileNobodyCanTellNobodySees) {
  Server server;
  std::string logged;
  Logger log = Logger::ToSink(
      LogLevel::kInfo, LogFormat::kText,
      [](void* to, std::string_view line) { static_cast<std::string*>(to)->append(line); }, &logged);
  Viewers viewers(*server.client, SystemClock(), log);
  server.Fail(500, "no reviews of top-secret-token");
  const View view = viewers.Of({}, "Bearer top-secret-token", kAll);
  EXPECT_EQ(view.status, 500);
  EXPECT_FALSE(view.sees);
  EXPECT_THAT(logged, HasSubstr("who may see the page"));
  EXPECT_THAT(logged + view.text, Not(HasSubstr("top-secret-token")));
}

TEST(Viewers, AreRefusedWithoutBeingAskedAboutAgain) {
  Server server;
  FakeClock clock;
  Viewers viewers(*server.client, clock, {});
  for (const auto& [token, status] : {std::pair("Bearer stranger", 403), {"Bearer nobody", 401}}) {
    EXPECT_EQ(viewers.Of({}, token, kAll).status, status);
    const size_t asked = server.asked().size();
    EXPECT_EQ(viewers.Of({}, token, kAll).status, status);
    EXPECT_EQ(server.asked().size(), asked) << token;
    clock.Advance(Seconds(11));
    EXPECT_EQ(viewers.Of({}, token, kAll).status, status);
    EXPECT_GT(server.asked().size(), asked) << token;
  }
}

// B4: the first of its kind in a namespace is asked about when it comes, and nothing else then.
TEST(Viewers, SeeWhatCameLater) {
  Server server;
  FakeClock clock;
  Viewers viewers(*server.client, clock, {});
  const std::vector<api::ProviderId> before = {kAll[0], kAll[2]};
  auto cores = [&](const std::vector<api::ProviderId>& all) { return viewers.Of({}, "Bearer cores", all); };
  const View first = cores(before);
  EXPECT_EQ(Seen(first), "capi-system ");
  EXPECT_FALSE(first.unasked(kAll[0])) << "seen everywhere";
  EXPECT_TRUE(first.unasked(kAll[1]));
  EXPECT_FALSE(first.unasked(kAll[2])) << "he may not";
  const size_t asked = server.asked().size();
  const View second = cores(kAll);
  EXPECT_FALSE(second.unasked(kAll[1]));
  EXPECT_EQ(server.asked().size(), asked + 1);
  cores(kAll);
  EXPECT_EQ(server.asked().size(), asked + 1);
  clock.Advance(Seconds(59));
  viewers.Of({}, "Bearer cores", {{api::ProviderType::kAddon, "late", "x"}});
  clock.Advance(Seconds(2));
  const size_t until_now = server.asked().size();
  cores(kAll);
  EXPECT_GT(server.asked().size(), until_now + 1) << "the rest is a minute old all the same";
}

TEST(Viewers, AHundredFailuresAreOneLine) {
  Server server;
  int lines = 0;
  Logger log = Logger::ToSink(
      LogLevel::kInfo, LogFormat::kText, [](void* to, std::string_view) { ++*static_cast<int*>(to); }, &lines);
  FakeClock clock;
  Viewers viewers(*server.client, clock, log);
  server.Fail(500);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(viewers.Of({}, "Bearer t" + std::to_string(i), kAll).status, 500);
  EXPECT_EQ(lines, 1);
  std::stop_source stop;
  stop.request_stop();
  clock.Advance(Seconds(61));
  viewers.Of(stop.get_token(), "Bearer x", kAll);
  EXPECT_EQ(lines, 1) << "an end isn't a failure";
  viewers.Of({}, "Bearer x", kAll);
  EXPECT_EQ(lines, 2);
}

// A thousand namespaces are no reason to ask a thousand times.
TEST(Viewers, AskAboutSoManyNamespacesAndNoMore) {
  Server server;
  Viewers viewers(*server.client, SystemClock(), {});
  std::vector<api::ProviderId> many;
  for (int i = 0; i < 1000; ++i) many.push_back({api::ProviderType::kInfrastructure, "n" + std::to_string(i), "aws"});
  viewers.Of({}, "Bearer tenant", many);
  EXPECT_LE(server.asked().size(), Viewers::kMostQuestions + api::kProviderKinds.size() + 1);
}

}  // namespace
}  // namespace capi::ops::ui
