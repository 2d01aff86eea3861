// URLs of releases: what is taken apart can be put together again; names that go into request paths stay in their
// place.
#include <fmt/core.h>

#include "api/validate/folder_url.h"
#include "base/fuzz.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

bool IsPlain(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find_first_of("/?#%\\ ") == std::string::npos;
}

void CheckGitHub(const GitHubUrl& url) {
  FUZZ_REQUIRE(IsPlain(url.owner) && IsPlain(url.repository) && !url.version.empty());
  std::string folder = url.root == "." ? "" : url.root + "/";
  auto again = ParseGitHubUrl(fmt::format("https://github.com/{}/{}/releases/{}/{}{}", url.owner, url.repository,
                                          url.version, folder, url.file));
  FUZZ_REQUIRE(again.ok() && again->owner == url.owner && again->repository == url.repository);
  FUZZ_REQUIRE(again->version == url.version && again->root == url.root && again->file == url.file);
}

void CheckGitLab(const GitLabUrl& url) {
  auto again = ParseGitLabUrl(fmt::format("https://{}/api/v4/projects/{}/packages/generic/{}/{}/{}", url.host,
                                          url.project, url.package, url.version, url.file));
  FUZZ_REQUIRE(again.ok() && again->host == url.host && again->project == url.project);
  FUZZ_REQUIRE(again->package == url.package && again->version == url.version && again->file == url.file);
}

void CheckFolder(const FolderUrl& url) {
  FUZZ_REQUIRE(url.base.starts_with('/') && url.label == "core-x");
  auto again = ParseFolderUrl(fmt::format("file://{}/{}/{}/{}", url.base, url.label, url.version, url.file), "core-x");
  FUZZ_REQUIRE(again.ok() && again->version == url.version && again->file == url.file);
}

}  // namespace
}  // namespace capi::fetch

CAPI_FUZZ(release_url, "fetch",
          {"https://github.com/o/r/releases/latest/core-components.yaml",
           "https://github.com/o/r/releases/v1.0.0/a/b/c.yaml",
           "https://gitlab.example:8443/api/v4/projects/g%2Fp/packages/generic/p/v1.0.0/c.yaml",
           "https://files.example/a/v1.0.0/c.yaml", "file:///a/b/core-x/v1.0.0/c.yaml", "/core-x/latest/c.yaml",
           "https://[::1", "https://h/%zz"}) {
  using namespace capi;
  auto github = fetch::ParseGitHubUrl(input);
  auto gitlab = fetch::ParseGitLabUrl(input);
  auto folder = fetch::ParseFolderUrl(input, "core-x");
  auto kind = fetch::KindOfUrl(input);
  if (github.ok()) fetch::CheckGitHub(*github);
  if (gitlab.ok()) fetch::CheckGitLab(*gitlab);
  if (folder.ok()) fetch::CheckFolder(*folder);
  FUZZ_REQUIRE(!github.ok() || (kind.ok() && *kind == fetch::UrlKind::kGitHub));
  auto on_server = api::ParseHttpFolderUrl(input);
  FUZZ_REQUIRE(!(kind.ok() && *kind == fetch::UrlKind::kHttpFolder) || on_server.ok());
  FUZZ_REQUIRE(!on_server.ok() || on_server->base.starts_with("https://"));
  if (!kind.ok()) FUZZ_REQUIRE(kind.code() == Code::kInvalidArgument);
}
