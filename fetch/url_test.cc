#include "fetch/url.h"

#include <gtest/gtest.h>

#include "api/kinds.h"
#include "base/strings.h"
#include "base/testing/vectors.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kBase = "/tmp/releases";

std::string Expand(std::string text) { return ReplaceAll(std::move(text), "BASE", kBase); }

std::string ManifestLabelOf(const Json& provider) {
  std::string type = GetString(provider, {"type"}), name = GetString(provider, {"name"});
  if (type == "BootstrapProvider") return "bootstrap-" + name;
  EXPECT_EQ(type, "CoreProvider") << "another type in the vectors: name its label here";
  return name;
}

void ExpectGitHub(const Json& c, const Result<GitHubUrl>& got) {
  ASSERT_TRUE(got.ok()) << got.error().message;
  const Json& want = c["want"];
  EXPECT_EQ(got->owner, GetString(want, {"owner"}));
  EXPECT_EQ(got->repository, GetString(want, {"repository"}));
  EXPECT_EQ(got->version, GetString(want, {"version"}));
  EXPECT_EQ(got->root, GetString(want, {"root"}));
  EXPECT_EQ(got->file, GetString(want, {"components"}));
}

void ExpectGitLab(const Json& c, const Result<GitLabUrl>& got) {
  ASSERT_TRUE(got.ok()) << got.error().message;
  const Json& want = c["want"];
  EXPECT_EQ(got->host, GetString(want, {"host"}));
  EXPECT_EQ(got->project, GetString(want, {"project"}));
  EXPECT_EQ(got->package, GetString(want, {"package"}));
  EXPECT_EQ(got->version, GetString(want, {"version"}));
  EXPECT_EQ(got->file, GetString(want, {"components"}));
}

void ExpectFolder(const Json& c, const Result<FolderUrl>& got) {
  ASSERT_TRUE(got.ok()) << got.error().message;
  const Json& want = c["want"];
  EXPECT_EQ(got->base, Expand(GetString(want, {"base"})));
  EXPECT_EQ(got->label, GetString(want, {"label"}));
  EXPECT_EQ(got->file, GetString(want, {"components"}));
}

template <typename T>
void ExpectError(const Json& c, const Result<T>& got) {
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.code(), Code::kInvalidArgument);
  EXPECT_EQ(got.error().message, Expand(GetString(c, {"error"})));
}

// What is wrong with the folder itself is the repository's to say (folder_test.cc).
bool IsAboutTheFolder(const Json& c) { return GetString(c, {"error"}).starts_with("failed to get latest version"); }

TEST(Url, IsTakenApartAsTheVectorsSay) {
  const Json cases = LoadCases("repository-url.json");
  for (const Json& c : cases) {
    SCOPED_TRACE(GetString(c, {"id"}));
    std::string kind = GetString(c, {"kind"}), url = Expand(GetString(c, {"url"}));
    bool fails = c.contains("error");
    if (kind == "github") {
      fails ? ExpectError(c, ParseGitHubUrl(url)) : ExpectGitHub(c, ParseGitHubUrl(url));
    } else if (kind == "gitlab") {
      fails ? ExpectError(c, ParseGitLabUrl(url)) : ExpectGitLab(c, ParseGitLabUrl(url));
    } else if (kind == "local" && !IsAboutTheFolder(c)) {
      auto got = ParseFolderUrl(url, ManifestLabelOf(c["provider"]));
      fails ? ExpectError(c, got) : ExpectFolder(c, got);
    } else {
      // fetch/github/module_proxy_test.cc has GOPROXY.
      EXPECT_TRUE(kind == "module-proxy" || IsAboutTheFolder(c));
    }
  }
}

TEST(Url, NamesOfOwnersStayInTheirPlaceInAPath) {
  for (std::string_view url :
       {"https://github.com/../r/releases/v1.0.0/f", "https://github.com/o/../releases/v1.0.0/f",
        "https://github.com/o%2Fx/r/releases/v1.0.0/f", "https://github.com/o/r r/releases/v1.0.0/f"}) {
    EXPECT_FALSE(ParseGitHubUrl(url).ok()) << url;
  }
}

TEST(SchemeOf, IsThatOfAUrlAlone) {
  struct Case {
    std::string_view url, scheme;
  };
  const Case cases[] = {
      {"https://host/path", "https"},
      {"HTTP://host", "http"},
      {"file:///a/b", "file"},
      {"git+ssh://host", "git+ssh"},
      {"/a/b://c", ""},
      {"a b://c", ""},
      {"user:password://", ""},
      {"://host", ""},
      {"host/path", ""},
      {"", ""},
  };
  for (const Case& c : cases) EXPECT_EQ(SchemeOf(c.url), c.scheme) << c.url;
}

// I16, T10: nothing of it leaves its place in a request's path, and no password is in it.
TEST(ParseGitLabUrl, RefusesWhatGitLabHasNot) {
  const std::string_view wrong[] = {
      "https://u:p@gitlab.example.org/api/v4/projects/1/packages/generic/p/v1/c.yaml",
      "https:///api/v4/projects/1/packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects//packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/../packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/g%2F..%2Fp/packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/g%2Fp%3F/packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/g%2F/packages/generic/p/v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/1/packages/generic/../v1/c.yaml",
      "https://gitlab.example.org/api/v4/projects/1/packages/generic/p/%2E%2E/c.yaml",
      "https://gitlab.example.org/api/v4/projects/1/packages/generic/p/v1/",
      "https://gitlab.example.org/api/v4/projects/1/packages/generic/p/v1/a b.yaml",
  };
  for (std::string_view url : wrong) EXPECT_FALSE(ParseGitLabUrl(url).ok()) << url;
  auto right =
      ParseGitLabUrl("https://GitLab.Example.org:8443/api/v4/projects/g-1%2fp_2.x/packages/generic/p~1/1.0+a/c@d.yaml");
  ASSERT_TRUE(right.ok()) << right.error().message;
  EXPECT_EQ(right->host, "gitlab.example.org:8443");
}

TEST(WithFile, GivesAPageOfReleasesTheProvidersFile) {  // I2
  const std::pair<std::string, std::string> cases[] = {
      {"https://github.com/o/r/releases", "https://github.com/o/r/releases/latest/infrastructure-components.yaml"},
      {"https://github.com/o/r/releases/", "https://github.com/o/r/releases/latest/infrastructure-components.yaml"},
      {"https://github.com/o/r/releases/v1.0.0/own.yaml", "https://github.com/o/r/releases/v1.0.0/own.yaml"},
      {"https://code.test/releases", "https://code.test/releases"},
      {"/mnt/releases", "/mnt/releases"},
      {"", ""},
  };
  for (const auto& [url, want] : cases)
    EXPECT_EQ(WithFile(url, api::ProviderType::kInfrastructure, "myazure"), want) << url;
}

TEST(FileOf, IsTheOneThatTheUrlNamesElseTheUsualOne) {  // I2
  const std::pair<std::string, std::string> cases[] = {
      {"https://github.com/o/r/releases/v1.0.0/own.yaml?x=/a", "own.yaml"},
      {"/mnt/aws/latest/c.yaml", "c.yaml"},
      {"/mnt/aws/latest/", "infrastructure-components.yaml"},
      {"", "infrastructure-components.yaml"},
  };
  for (const auto& [url, want] : cases) EXPECT_EQ(FileOf(url, api::ProviderType::kInfrastructure, "aws"), want) << url;
}

TEST(KindOfUrl, TellsBySchemeAndHost) {
  struct Case {
    std::string_view url;
    UrlKind want;
  };
  const Case cases[] = {
      {"/releases/cluster-api/latest/core-components.yaml", UrlKind::kFolder},
      {"file:///releases/cluster-api/latest/core-components.yaml", UrlKind::kFolder},
      {"https://github.com/o/r/releases/latest/f.yaml", UrlKind::kGitHub},
      {"https://gitlab.example.org/api/v4/projects/1/packages/generic/p/v1/c.yaml", UrlKind::kGitLab},
      {"https://code.example.org/api/v4/projects/1/packages/generic/p/v1/c.yaml", UrlKind::kGitLab},
      {"https://files.example.org/capi/aws/v1.0.0/c.yaml", UrlKind::kHttpFolder},  // I18
  };
  for (const Case& c : cases) {
    auto got = KindOfUrl(c.url);
    ASSERT_TRUE(got.ok()) << c.url << ": " << got.error().message;
    EXPECT_EQ(*got, c.want) << c.url;
  }
}

TEST(KindOfUrl, RefusesTheRestInClusterctlsWords) {
  EXPECT_EQ(KindOfUrl("https://example.org/f.yaml").error().message,
            "invalid provider url. Only GitHub and GitLab are supported for \"https\" schema, and folders: its path "
            "doesn't end with a version, or latest, and a .yaml file");
  // I18: what was meant for GitHub or GitLab is no folder elsewhere.
  for (const char* url :
       {"https://www.github.com/o/r/releases/latest/f.yaml", "https://githb.com/o/r/releases/v1.0.0/f.yaml",
        "https://gitlab.example.org/g/p/-/releases/v1.0.0/f.yaml"})
    EXPECT_EQ(
        KindOfUrl(url).error().message,
        "invalid provider url. Only GitHub and GitLab are supported for \"https\" schema, and folders: it is like "
        "one of GitHub or GitLab, and isn't one");
  EXPECT_EQ(KindOfUrl("s3://bucket/f.yaml").error().message,
            "invalid provider url. there are no provider implementation for \"s3\" schema");
}

}  // namespace
}  // namespace capi::fetch
