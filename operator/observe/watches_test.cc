#include "operator/observe/watches.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pthread.h>

#include <condition_variable>

#include "operator/observe/server_testing.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Purpose = Watches::Purpose;

constexpr const char *kSecrets = "/api/v1/secrets", *kServices = "/api/v1/services";

Json Named(const std::string& name, int version) {
  return {
      {"metadata", {{"namespace", "n"}, {"name", name}, {"uid", name}, {"resourceVersion", std::to_string(version)}}}};
}

// Watches of a server, and what they told, as "NAME@VERSION USER USER".
class WatchesTest : public ::testing::Test {
 protected:
  WatchesTest()
      : watches_(
            *server_.client,
            [this](const Watches::Event& event) {
              std::string line = event.is ? event.is->name() + "@" + event.is->resource_version() : "gone";
              for (const std::string& user : event.users) line += " " + user;
              MutexLock lock(mu_);
              if (event.first) first_.push_back(line);
              told_.push_back(line);
              changed_.notify_all();
              if (line == slow_) changed_.wait_for(mu_, std::chrono::milliseconds(50), [&] { return !ended_.empty(); });
              handled_.push_back(line);
            },
            [this](const Watches::Key& key) {
              MutexLock lock(mu_);
              EXPECT_EQ(handled_, told_) << "what is still being told comes after its kind was forgotten";
              ended_.push_back(key.resource.kind);
              changed_.notify_all();
            }) {}

  bool WasHandled(const std::string& line) {
    MutexLock lock(mu_);
    return changed_.wait_for(mu_, std::chrono::seconds(60),
                             [&] { return std::find(told_.begin(), told_.end(), line) != told_.end(); });
  }

  static Watches::Key Secrets(Purpose purpose) { return {purpose, kube::Builtin("Secret"), "", "", "", false}; }

  testing::WatchServer server_;
  Context ctx_ = Context{}.WithTimeout(Seconds(60));
  Mutex mu_;
  std::condition_variable_any changed_;
  std::vector<std::string> told_, first_, handled_, ended_;
  std::string slow_;  // what takes some time to handle
  Watches watches_;
};

// A watch is one for all who ask for it, tells each change with those, and ends with the last of them.
TEST_F(WatchesTest, ComeAndGoWithTheirUsers) {
  server_.Has(kSecrets, {Named("s", 1)});
  for (const char* user : {"a", "b"}) {
    watches_.BeginUse(user);
    auto informer = watches_.Need(ctx_, Secrets(Purpose::kReferenced), user);
    ASSERT_TRUE(informer.ok()) << informer.error().message;
    EXPECT_EQ((*informer)->List().size(), 1u) << "its first state is there";
    watches_.EndUse(user);
  }
  EXPECT_EQ(server_.watched(kSecrets), 1);
  server_.Send(kSecrets, "MODIFIED", Named("s", 2));
  EXPECT_TRUE(WasHandled("s@2 a b"));
  watches_.BeginUse("a");
  watches_.EndUse("a");
  server_.Send(kSecrets, "MODIFIED", Named("s", 3));
  EXPECT_TRUE(WasHandled("s@3 b")) << "who didn't ask for it again isn't told any more";
  EXPECT_THAT(ended_, IsEmpty());
  watches_.BeginUse("b");
  watches_.EndUse("b");
  EXPECT_THAT(ended_, ElementsAre("Secret"));
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kReferenced), "a").ok());
  EXPECT_EQ(server_.watched(kSecrets), 2) << "it had ended";
}

// F10: what was there when a watch began is told apart from what changes.
TEST_F(WatchesTest, TellTheirFirstStateApart_F10) {
  server_.Has(kSecrets, {Named("s", 1)});
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kReferenced), "a").ok());
  server_.Send(kSecrets, "ADDED", Named("t", 2));
  server_.Send(kSecrets, "MODIFIED", Named("s", 3));
  ASSERT_TRUE(WasHandled("s@3 a"));
  MutexLock lock(mu_);
  EXPECT_THAT(told_, ElementsAre("s@1 a", "t@2 a", "s@3 a"));
  EXPECT_THAT(first_, ElementsAre("s@1 a"));
}

// D1: an event that a watch tells while it ends left a track of its object for good.
TEST_F(WatchesTest, AWatchIsForgottenOnceItTellsNothingMore) {
  server_.Has(kSecrets, {});
  slow_ = "s@200";
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kOurObjects), "a").ok());
  server_.Send(kSecrets, "ADDED", Named("s", 200));
  ASSERT_TRUE(WasHandled("s@200"));
  watches_.BeginUse("a");
  watches_.EndUse("a");
  EXPECT_THAT(ended_, ElementsAre("Secret"));
}

// D1, I14: only the end of the last watch of a kind was told. What one of two versions had shown, or the watch that all
// providers share beside one of a selector, counted for the next such watch.
TEST_F(WatchesTest, TheEndOfEachWatchIsTold) {
  server_.Has(kSecrets, {});
  server_.Has("/api/v1/namespaces/n/secrets", {});
  Watches::Key of_selector = Secrets(Purpose::kReleases);
  of_selector.ns = "n";
  ASSERT_TRUE(watches_.Need(ctx_, of_selector, "b").ok());
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kReleases), "a").ok());
  watches_.BeginUse("a");
  watches_.EndUse("a");
  EXPECT_THAT(ended_, ElementsAre("Secret"));
}

// The same selection for another purpose is another watch; and what all providers share isn't told with a thousand
// names.
TEST_F(WatchesTest, AreOfOnePurpose) {
  server_.Has(kSecrets, {});
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kOurObjects), "a").ok());
  ASSERT_TRUE(watches_.Need(ctx_, Secrets(Purpose::kInUse), "b").ok());
  EXPECT_EQ(server_.watched(kSecrets), 2);
  server_.Send(kSecrets, "ADDED", Named("s", 200));
  EXPECT_TRUE(WasHandled("s@200"));
  EXPECT_TRUE(WasHandled("s@200 b"));
}

TEST(Watches, AllProvidersShareThoseOfTheirObjectsNamespacesAndReleases) {
  auto shared = [](Purpose purpose, const std::string& ns = "") {
    return Watches::Key{purpose, kube::Builtin("ConfigMap"), ns, "", "", true}.IsShared();
  };
  EXPECT_TRUE(shared(Purpose::kOurObjects));
  EXPECT_TRUE(shared(Purpose::kNamespaces));
  EXPECT_TRUE(shared(Purpose::kReleases));
  EXPECT_FALSE(shared(Purpose::kReleases, "n")) << "of one selector: any ConfigMap there may be one";
  EXPECT_FALSE(shared(Purpose::kReferenced, "n"));
  EXPECT_FALSE(shared(Purpose::kNewKinds)) << "those who wait";
  EXPECT_FALSE(shared(Purpose::kInUse));
}

// Threads have stacks too large for any machine's addresses: none can be made. Those that run go on.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge = before_;
    pthread_attr_setstacksize(&huge, size_t{1} << 60);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
  }
  ~NoThreads() { pthread_setattr_default_np(&before_); }

 private:
  pthread_attr_t before_;
};

// F7: a watch whose thread couldn't be started stayed dead for as long as the operator ran.
TEST_F(WatchesTest, OneThatGetsNoThreadIsBegunByTheNextWhoAsks) {
  server_.Has(kSecrets, {Named("s", 1)});
  {
    NoThreads none;
    EXPECT_EQ(watches_.Need(ctx_, Secrets(Purpose::kReferenced), "a").code(), Code::kUnavailable);
    EXPECT_EQ(watches_.IfThere(ctx_, Secrets(Purpose::kReferenced), "a"), nullptr);
  }
  auto informer = watches_.Need(ctx_, Secrets(Purpose::kReferenced), "a");
  ASSERT_TRUE(informer.ok()) << informer.error().message;
  EXPECT_EQ((*informer)->List().size(), 1u);
}

// A kind that can't be watched is told of by Need and held against nobody by IfThere (F7).
TEST_F(WatchesTest, WithoutAState) {
  EXPECT_EQ(watches_.Need(ctx_, Secrets(Purpose::kReferenced), "a").code(), Code::kNotFound);
  EXPECT_EQ(watches_.IfThere(ctx_, Secrets(Purpose::kReferenced), "a"), nullptr);
  server_.Has(kServices, {});
  EXPECT_NE(watches_.IfThere(ctx_, {Purpose::kOurObjects, kube::Builtin("Service"), "", "", "", true}, "a"), nullptr);
}

}  // namespace
}  // namespace capi::ops
