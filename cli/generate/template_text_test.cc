#include "cli/generate/template_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "cli/testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Answers by path, and keeps what it was asked for.
class Site {
 public:
  Site() {
    auto started = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
    EXPECT_TRUE(started.ok());
    server_ = std::move(started).value();
  }
  std::string url() const { return "http://" + server_->address(); }
  std::vector<std::string> asked() const {
    MutexLock lock(mu_);
    return asked_;
  }

 private:
  http::Response Answer(const http::ServerRequest& request) {
    {
      MutexLock lock(mu_);
      asked_.push_back(request.path + "?" + request.query + " " + request.headers.Get("Authorization") + " " +
                       request.headers.Get("Accept"));
    }
    http::Response response;
    response.status = request.path.ends_with("none.yaml") ? 404 : 200;
    response.body = request.path.ends_with("page.yaml") ? "<!DOCTYPE html><html></html>" : "a: ${A:=1}\n";
    return response;
  }

  mutable Mutex mu_;
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

Outcome From(const Site& site, const std::string& url, const std::string& token = "") {
  return Clusterctl({"generate", "yaml", "--from", url}, {{"HOME", "/nowhere"},
                                                          {"CLUSTERCTL_GITHUB_API_URL", site.url() + "/api"},
                                                          {"CLUSTERCTL_GITHUB_URL", site.url() + "/web"},
                                                          {"GITHUB_TOKEN", token}});
}

// A file of a repository is asked of the API with the token; no other place is told it.
TEST(TemplateText, OfAUrl) {
  struct Case {
    std::string url, asked;
  };
  Site site;
  const Case cases[] = {
      {site.url() + "/t.yaml", "/t.yaml?  */*"},
      {"https://github.com/o/r/blob/main/a/t.yaml",
       "/api/repos/o/r/contents/a/t.yaml?ref=main Bearer s3cret application/vnd.github.raw+json"},
      {"https://github.com/o/r/raw/v1.0.0/t.yaml",
       "/api/repos/o/r/contents/t.yaml?ref=v1.0.0 Bearer s3cret application/vnd.github.raw+json"},
      {"https://github.com/o/r/blob/v1.0.0/t.yaml#L5",
       "/api/repos/o/r/contents/t.yaml?ref=v1.0.0 Bearer s3cret application/vnd.github.raw+json"},
      {"https://github.com/o/r/blob/v1.0.0/t.yaml?raw=true",
       "/api/repos/o/r/contents/t.yaml?ref=v1.0.0 Bearer s3cret application/vnd.github.raw+json"},
      {"https://github.com/o/r/raw/refs/heads/main/a/t.yaml",
       "/api/repos/o/r/contents/a/t.yaml?ref=main Bearer s3cret application/vnd.github.raw+json"},
      {"HTTPS://GitHub.com:443/o/r/raw/v1.0.0/t.yaml",
       "/api/repos/o/r/contents/t.yaml?ref=v1.0.0 Bearer s3cret application/vnd.github.raw+json"},
      {"https://github.com/o/r/releases/download/v1.0.0/t.yaml", "/web/o/r/releases/download/v1.0.0/t.yaml?  */*"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.url);
    Outcome outcome = From(site, c.url, "s3cret");
    EXPECT_EQ(outcome.out, "a: 1\n") << outcome.err;
    EXPECT_EQ(site.asked().back(), c.asked);
  }
}

TEST(TemplateText, ThatIsNone) {
  Site site;
  Outcome none = From(site, site.url() + "/none.yaml");
  EXPECT_EQ(none.err, "Error: invalid GetFromURL operation: failed to get " + site.url() + "/none.yaml, got 404\n");
  EXPECT_THAT(From(site, "https://github.com/o/r/blob/main/none.yaml").err,
              HasSubstr("got 404; a private repository needs GITHUB_TOKEN\n"));
  EXPECT_THAT(From(site, "https://github.com/o/r/blob/main/none.yaml", "s3cret").err, Not(HasSubstr("GITHUB_TOKEN")));
  EXPECT_THAT(From(site, site.url() + "/page.yaml").err, HasSubstr("is a web page, no YAML: name the file itself"));
  std::string with_password = "http://user:hunter2@" + site.url().substr(7) + "/none.yaml";
  EXPECT_THAT(From(site, with_password).err, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace capi::cli
