// Lists that are seen object by object (behaviour.md F8).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <stdexcept>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "kube/client/client.h"
#include "kube/client/list_page.h"

namespace capi::kube {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Page {
  int status = 200;
  std::string body;
};

std::string PageOf(const std::string& names, const std::string& next = "") {
  Json items = Json::array();
  for (char name : names) items.push_back({{"metadata", {{"name", std::string(1, name)}}}});
  return ToJsonText({{"metadata", {{"continue", next}}}, {"items", items}});
}

std::string Expired(const std::string& instead = "") {
  Json status = {{"kind", "Status"}, {"reason", "Expired"}, {"code", 410}, {"message", "too old"}};
  if (!instead.empty()) status["metadata"] = {{"continue", instead}};
  return ToJsonText(status);
}

// A server that has an answer for each page token.
class ForEachTest : public ::testing::Test {
 protected:
  ForEachTest() {
    auto server = http::Server::Start({}, [this](const http::ServerRequest& request) {
      MutexLock lock(mu_);
      size_t at = request.query.find("continue=");
      const std::string token = at == std::string::npos ? "" : request.query.substr(at + 9);
      asked_.push_back(token);
      return http::Response{.status = pages_[token].status, .headers = {}, .body = pages_[token].body};
    });
    EXPECT_TRUE(server.ok()) << server.error().message;
    server_ = std::move(*server);
    client_ = *Client::Connect({.server = "http://" + server_->address()}, {.max_retries = 0});
  }
  Client& client() { return *client_; }
  // The names, as they were told.
  Status See(const ListOptions& options, const std::function<Result<bool>(const std::string& name)>& on_name) {
    return client_->ForEach(Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "", options,
                            [&](const Object& object) -> Result<bool> {
                              EXPECT_EQ(object.kind(), "Secret");
                              seen_ += object.name();
                              return on_name ? on_name(object.name()) : true;
                            });
  }
  void Has(std::map<std::string, Page> pages) {
    MutexLock lock(mu_);
    pages_ = std::move(pages);
    asked_.clear();
    seen_.clear();
  }
  std::vector<std::string> Asked() {
    MutexLock lock(mu_);
    return asked_;
  }

  std::string seen_;

 private:
  Mutex mu_;
  std::map<std::string, Page> pages_ CAPI_GUARDED_BY(mu_);
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<Client> client_;
};

TEST_F(ForEachTest, SeesAllPagesToTheirEnd) {
  struct Case {
    std::string name;
    std::map<std::string, Page> pages;
    bool may_change;
    std::string seen;
    std::optional<Code> fails;
  };
  const Case cases[] = {
      {"none", {{"", {200, PageOf("")}}}, false, "", {}},
      {"null", {{"", {200, R"({"items":null})"}}}, false, "", {}},
      {"all of them", {{"", {200, PageOf("ab", "1")}}, {"1", {200, PageOf("c")}}}, false, "abc", {}},
      {"an empty page between",
       {{"", {200, PageOf("a", "1")}}, {"1", {200, PageOf("", "2")}}, {"2", {200, PageOf("b")}}},
       false,
       "ab",
       {}},
      {"a server that knows no pages", {{"", {200, PageOf("abcdefgh")}}}, false, "abcdefgh", {}},
      {"the same token for ever",
       {{"", {200, PageOf("a", "1")}}, {"1", {200, PageOf("b", "1")}}},
       true,
       "ab",
       Code::kInternal},
      {"a token that has expired",
       {{"", {200, PageOf("a", "1")}}, {"1", {410, Expired("2")}}, {"2", {200, PageOf("b")}}},
       false,
       "a",
       Code::kGone},
      {"the same, where it may change",
       {{"", {200, PageOf("a", "1")}}, {"1", {410, Expired("2")}}, {"2", {200, PageOf("b")}}},
       true,
       "ab",
       {}},
      {"no other token is offered", {{"", {200, PageOf("a", "1")}}, {"1", {410, Expired()}}}, true, "a", Code::kGone},
      {"the same one is offered",
       {{"", {200, PageOf("a", "1")}}, {"1", {410, Expired("1")}}},
       true,
       "a",
       Code::kInternal},
      {"an error on the way",
       {{"", {200, PageOf("a", "1")}}, {"1", {403, R"({"kind":"Status","reason":"Forbidden"})"}}},
       true,
       "a",
       Code::kPermissionDenied},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Has(c.pages);
    ListOptions options;
    options.may_change = c.may_change;
    Status all = See(options, nullptr);
    EXPECT_EQ(seen_, c.seen);
    ASSERT_EQ(all.ok(), !c.fails) << (all.ok() ? "" : all.error().message);
    if (c.fails) {
      EXPECT_EQ(all.code(), *c.fails) << all.error().message;
    }
  }
}

// What came before it was seen.
TEST_F(ForEachTest, RefusesWhatIsNoList) {
  struct Case {
    std::string_view name;
    std::string page;
    std::string_view seen;
    Code code;
  };
  const Case cases[] = {
      {"half a page", PageOf("ab").substr(0, PageOf("ab").size() - 4), "ab", Code::kInvalidArgument},
      {"half an item", R"({"items":[{"metadata":{"name":"a"}},{"metadata":{"na)", "a", Code::kInvalidArgument},
      {"no end of its items", R"({"items":[{"metadata":{"name":"a"}},)", "a", Code::kInvalidArgument},
      {"an item that is no JSON", R"({"items":[{"metadata":{"name":"a"}},{]}],"metadata":{}})", "a",
       Code::kInvalidArgument},
      {"no comma between two", R"({"items":[{"metadata":{"name":"a"}}{}]})", "a", Code::kInvalidArgument},
      {"no list", "{}", "", Code::kInternal},
      {"items that are no array", R"({"items":{"a":{"metadata":{"name":"a"}}}})", "", Code::kInternal},
      {"what is no object", R"({"items":[{"metadata":{"name":"a"}},7,{}]})", "a", Code::kInternal},
      {"items twice", R"({"items":[{"metadata":{"name":"a"}}],"items":[{}]})", "a", Code::kInternal},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    Has({{"", {200, c.page}}});
    Status all = See({.may_change = true}, nullptr);
    EXPECT_EQ(seen_, c.seen);
    ASSERT_FALSE(all.ok());
    EXPECT_EQ(all.code(), c.code) << all.error().message;
  }
}

TEST_F(ForEachTest, EndsWhenItIsTold) {
  Has({{"", {200, PageOf("abc", "1")}}, {"1", {200, PageOf("d")}}});
  EXPECT_TRUE(See({}, [](const std::string& name) -> Result<bool> { return name != "b"; }).ok());
  EXPECT_EQ(seen_, "ab");
  EXPECT_THAT(Asked(), ElementsAre("")) << "no further page";
  seen_.clear();
  Status failed = See({}, [](const std::string&) -> Result<bool> { return Error{Code::kCancelled, "not needed", {}}; });
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.code(), Code::kCancelled);
  EXPECT_EQ(failed.error().message, "not needed") << "as it was";
  EXPECT_EQ(seen_, "a");
}

// F8: who holds what it sees has a bound as a list that is held.
TEST_F(ForEachTest, ReadsNoMoreThanIsHeld) {
  const std::string page = PageOf("a", "1");
  Has({{"", {200, page}}, {"1", {200, PageOf("b", "2")}}, {"2", {200, PageOf("c")}}});
  Status all = See({.max_bytes = 3 * page.size()}, nullptr);
  EXPECT_TRUE(all.ok()) << all.error().message;
  all = See({.max_bytes = page.size() + 1}, nullptr);
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.code(), Code::kInternal);
  EXPECT_EQ(seen_, "abcab");
}

// F8: where the server has no other token, once, and not for ever.
TEST_F(ForEachTest, BeginsAnewWhereATokenHasExpired) {
  Has({{"", {200, PageOf("ab", "1")}}, {"1", {410, Expired()}}});
  int begun = 0;
  Status all = client().ForEach(
      Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "", {},
      [&] {
        if (++begun == 2) Has({{"", {200, PageOf("ab", "2")}}, {"2", {200, PageOf("c")}}});
      },
      [&](const Object& object) -> Result<bool> { return seen_ += object.name(), true; });
  EXPECT_TRUE(all.ok()) << all.error().message;
  EXPECT_EQ(seen_, "abc");
  Has({{"", {200, PageOf("ab", "1")}}, {"1", {410, Expired()}}});
  begun = 0;
  all = client().ForEach(
      Context{}.WithTimeout(Seconds(30)), Builtin("Secret"), "", {}, [&] { ++begun; },
      [](const Object&) -> Result<bool> { return true; });
  ASSERT_FALSE(all.ok());
  EXPECT_EQ(all.code(), Code::kGone);
  EXPECT_EQ(begun, 2);
}

// F7: that is no fault of the page.
TEST(ListPage, WhatAHandlerThrowsGoesThrough) {
  EXPECT_THROW((void)ReadPage(R"({"items":[{}]})", true,
                              [](const Json&) -> Result<bool> { throw std::runtime_error("no memory"); }),
               std::runtime_error);
}

// Anybody who may write an object had the parser walk through all its members for each of them: minutes.
TEST(ListPage, ManyMembersTakeNoLongerThanTheirText) {
  std::string fields, array = "{}";
  for (int i = 0; i < 100'000; ++i) {
    fields += (i > 0 ? ",\"f:" : "\"f:") + std::to_string(i) + "\":{}";
    array += ",{}";
  }
  const std::string page = R"({"items":[{"metadata":{"managedFields":[{"fieldsV1":{)" + fields + R"(}}]},"spec":[)" +
                           array + "]}],\"metadata\":{\"of\":[" + array + "]},\"more\":[" + array + "]}";
  const std::clock_t began = std::clock();
  auto end = ReadPage(page, true, [](const Json&) -> Result<bool> { return true; });
  EXPECT_TRUE(end.ok()) << end.error().message;
  EXPECT_LT((std::clock() - began) / CLOCKS_PER_SEC, 15) << "one, without a sanitizer";
}

// The name of a member may be written otherwise, and brackets in a string are none.
TEST(ListPage, ItemsAreFoundAsAParserWould) {
  std::string names;
  auto end = ReadPage(
      R"( {"kind" : "]}\"[" , "a":[{"items":[{"metadata":{"name":"x"}}]}], "\u0069tems" : [ {"metadata":{"name":"}]\\"}} ,
        {"metadata":{"name":"\"{"}} ] , "metadata":{"continue":"next","in":{"continue":"no"}} } )",
      true, [&](const Json& item) -> Result<bool> {
        names += GetString(item, {"metadata", "name"}) + " ";
        return true;
      });
  ASSERT_TRUE(end.ok()) << end.error().message;
  EXPECT_EQ(names, "}]\\ \"{ ");
  EXPECT_EQ(end->next, "next");
}

TEST_F(ForEachTest, TheFirstPageAlone) {
  Has({{"", {200, PageOf("ab", "1")}}});
  EXPECT_TRUE(See({.limit = 2, .first_page = true}, nullptr).ok());
  EXPECT_THAT(Asked(), ElementsAre(""));
}

// What they are in is told by where it stands, not by its name alone.
TEST(ListPage, ManagedFieldsAreLeftOutWhereNobodyNeedsThem) {
  const std::string page = R"({"items":[
    {"metadata":{"name":"a","managedFields":[{"fieldsV1":{"f:a":{"f:b":{}}}}],"uid":"u"},
     "spec":{"managedFields":[1],"in":{"managedFields":2}}},
    {"metadata":{"managedFields":null,"name":"b"}}]})";
  for (bool managed_fields : {true, false}) {
    SCOPED_TRACE(managed_fields);
    std::vector<std::string> items;
    auto end = ReadPage(page, managed_fields, [&](Json item) -> Result<bool> {
      items.push_back(ToJsonText(item));
      return true;
    });
    ASSERT_TRUE(end.ok()) << end.error().message;
    ASSERT_EQ(items.size(), 2u);
    const std::string all = items[0] + items[1];
    EXPECT_EQ(all.find("fieldsV1") != all.npos, managed_fields);
    EXPECT_THAT(items[0], HasSubstr(R"("name":"a","uid":"u")"));
    EXPECT_THAT(items[0], HasSubstr(R"("spec":{"in":{"managedFields":2},"managedFields":[1]})"));
    EXPECT_THAT(items[1], HasSubstr(R"("name":"b")"));
  }
}

}  // namespace
}  // namespace capi::kube
