#include "fetch/github/module_proxy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/testing/vectors.h"
#include "fetch/github_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// What clusterctl makes of a value, but for an empty one (no third party is asked that nobody has named), for a path
// (which Go keeps), and for what can't be asked: that ends nothing, versions come from GitHub then.
TEST(ModuleProxyIn, IsTheFirstOfTheListAsTheVectorsSay) {
  int seen = 0;
  for (const Json& c : LoadCases("repository-url.json")) {
    if (GetString(c, {"kind"}) != "module-proxy" || c.contains("error")) continue;
    ++seen;
    const std::string id = GetString(c, {"id"}), setting = GetString(c, {"setting"});
    std::string want;
    const Json* host = Find(c, {"want", "host"});
    if (host != nullptr && GetString(c, {"want", "scheme"}).starts_with("http")) {
      want = GetString(c, {"want", "scheme"}) + "://" + host->get<std::string>();
      if (setting.ends_with("/path")) want += "/path";
    }
    EXPECT_EQ(ModuleProxyIn(setting), want) << id;
  }
  EXPECT_GT(seen, 10);
}

TEST(ModuleProxyIn, MayBeAnyUrlOfHttp) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {" , ,https://foo.bar/,direct", "https://foo.bar"},
      {"http://foo.bar:8081/go/proxy/", "http://foo.bar:8081/go/proxy"},
      {"https://user:s3cret@foo.bar/go", "https://foo.bar/go"},
      {"file:///proxy", ""},
      {"https://a b", ""},
  };
  for (const auto& [value, proxy] : cases) EXPECT_EQ(ModuleProxyIn(value), proxy) << value;
}

// Of repository "O/r" by path, 404 for all others.
class ModuleProxy : public testing::Test {
 protected:
  Result<std::vector<std::string>> Versions() {
    const std::string proxy = "http://" + server_->address() + "/go";
    auto versions = ModuleVersions({}, {}, proxy, "O", "r");
    if (!versions.ok()) return versions.error();
    std::vector<std::string> out;
    for (const api::Version& version : *versions) out.push_back(version.ToString());
    return out;
  }

  std::map<std::string, http::Response> answers_;
  Mutex mu_;
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_ =
      http::Server::Start({}, [this](const http::ServerRequest& request) {
        MutexLock lock(mu_);
        asked_.push_back(request.path);
        auto answer = answers_.find(request.path);
        return answer == answers_.end() ? TextResponse(404, "not found") : answer->second;
      }).value();
};

TEST_F(ModuleProxy, HasTheVersionsOfEachMajor) {
  answers_["/go/github.com/!o/r/@v/list"] = TextResponse(200, "v1.0.0\nv2.0.0+incompatible\nnonsense\nv1.1\n\n");
  answers_["/go/github.com/!o/r/v2/@v/list"] = TextResponse(200, "");
  answers_["/go/github.com/!o/r/v3/@v/list"] = TextResponse(200, "v3.0.0-rc.1\nv3.0.0");
  answers_["/go/github.com/!o/r/v5/@v/list"] = TextResponse(200, "v5.0.0");
  auto versions = Versions();
  ASSERT_TRUE(versions.ok()) << versions.error().message;
  EXPECT_THAT(*versions, ElementsAre("v1.0.0", "v2.0.0", "v1.1.0", "v3.0.0-rc.1", "v3.0.0"));
  MutexLock lock(mu_);
  EXPECT_THAT(asked_, ElementsAre("/go/github.com/!o/r/@v/list", "/go/github.com/!o/r/v2/@v/list",
                                  "/go/github.com/!o/r/v3/@v/list", "/go/github.com/!o/r/v4/@v/list"));
}

TEST_F(ModuleProxy, SaysWhyItHasNone) {
  const std::tuple<http::Response, Code, std::string_view> cases[] = {
      {TextResponse(404, ""), Code::kNotFound, "no version of"},
      {TextResponse(410, ""), Code::kNotFound, "no version of"},
      {TextResponse(200, ""), Code::kNotFound, "no version of"},
      {TextResponse(500, ""), Code::kUnavailable, "the module proxy answered HTTP 500"},
      {TextResponse(401, ""), Code::kUnavailable, "the module proxy answered HTTP 401"},
      {TextResponse(200, "<!DOCTYPE html><html>Sign in</html>"), Code::kInvalidArgument, "HTML"},
  };
  for (const auto& [answer, code, why] : cases) {
    answers_["/go/github.com/!o/r/@v/list"] = answer;
    auto versions = Versions();
    ASSERT_FALSE(versions.ok());
    EXPECT_EQ(versions.code(), code);
    EXPECT_THAT(versions.error().message, HasSubstr(why));
  }
}

// F2: it may go on for ever.
TEST_F(ModuleProxy, HasNoMoreVersionsThanARepository_F2) {
  std::string list;
  for (int i = 0; i < 10'001; ++i) list += "v1.0." + std::to_string(i) + "\n";
  answers_["/go/github.com/!o/r/@v/list"] = TextResponse(200, list);
  EXPECT_EQ(Versions().code(), Code::kInvalidArgument);
  for (int major = 2; major < 200; ++major)
    answers_["/go/github.com/!o/r/v" + std::to_string(major) + "/@v/list"] = TextResponse(200, "v9.0.0");
  answers_["/go/github.com/!o/r/@v/list"] = TextResponse(200, "v1.0.0");
  EXPECT_TRUE(Versions().ok());
  MutexLock lock(mu_);
  EXPECT_LT(asked_.size(), 60u);
}

}  // namespace
}  // namespace capi::fetch
