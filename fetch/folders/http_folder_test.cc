#include "fetch/folders/http_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "base/mutex.h"
#include "base/testing/value_or_abort.h"
#include "fetch/gitlab_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 2, minor: 0, contract: v1beta2}\n- {major: 2, minor: 1, contract: v1beta2}\n";
constexpr const char* kFile = "infrastructure-components.yaml";

// A server of files with TLS, for one folder of releases.
class HttpFolders : public testing::Test {
 protected:
  HttpFolders() {
    http::ServerOptions options;
    options.cert_pem = certificate_.cert_pem;
    options.key_pem = certificate_.key_pem;
    server_ = ValueOrAbort(http::Server::Start(std::move(options),
                                               [this](const http::ServerRequest& request) {
                                                 EXPECT_FALSE(request.headers.Has("Authorization"));
                                                 MutexLock lock(mu_);
                                                 asked_.push_back(request.path);
                                                 return answer_ ? answer_(request.path) : OrElse(404, request.path);
                                               }),
                           "a server of files");
    MutexLock lock(mu_);
    files_ = {{"/capi/aws/versions.txt", "# ours\nv2.1.0\n2.0.0\r\n\n  # before\n"},
              {"/capi/aws/v2.1.0/metadata.yaml", kMetadata},
              {"/capi/aws/v2.1.0/infrastructure-components.yaml", "kind: Namespace\n"},
              {"/capi/aws/2.0.0/metadata.yaml", kMetadata},
              {"/capi/aws/2.0.0/infrastructure-components.yaml", "kind: ServiceAccount\n"}};
  }

  // What of a path that isn't there has that status.
  http::Response OrElse(int missing, const std::string& path) const CAPI_REQUIRES(mu_) {
    auto found = files_.find(path);
    return found == files_.end() ? TextResponse(missing, "none") : TextResponse(200, found->second);
  }
  void Put(const std::string& path, const std::string& text) {
    MutexLock lock(mu_);
    files_["/capi/aws/" + path] = text;
  }
  void Remove(const std::string& path) {
    MutexLock lock(mu_);
    files_.erase("/capi/aws/" + path);
  }
  using Answer = std::function<http::Response(const std::string& path)>;  // under the lock
  void AnswerBy(Answer answer) {
    MutexLock lock(mu_);
    answer_ = std::move(answer);
  }
  std::vector<std::string> asked() const {
    MutexLock lock(mu_);
    return asked_;
  }
  std::unique_ptr<Repository> Open(const std::string& version = "latest") const {
    return OpenAt(server_->address(), version);
  }
  std::unique_ptr<Repository> OpenAt(const std::string& host, const std::string& version = "latest") const {
    HttpOptions options;
    options.ca_file = certificate_.ca_file();
    return ValueOrAbort(OpenHttpFolder("https://" + host + "/capi/aws/" + version + "/" + kFile, options), "a folder");
  }

  LoopbackCertificate certificate_;
  mutable Mutex mu_;
  std::map<std::string, std::string> files_ CAPI_GUARDED_BY(mu_);
  Answer answer_ CAPI_GUARDED_BY(mu_);  // unset: by files_
  std::vector<std::string> asked_ CAPI_GUARDED_BY(mu_);
  std::unique_ptr<http::Server> server_;
};

TEST_F(HttpFolders, GivesItsVersionsAndTheirFiles_I18) {
  auto folder = Open();
  EXPECT_EQ(folder->ComponentsFile(), kFile);
  const auto versions = folder->Versions({}).value();
  ASSERT_EQ(versions.size(), 2u);
  EXPECT_EQ(versions[0].ToString() + " " + versions[1].ToString(), "v2.0.0 v2.1.0");
  EXPECT_EQ(LatestVersion({}, *folder, {"v1beta2"})->ToString(), "v2.1.0");
  auto release = GetRelease({}, *folder, versions[0]);  // whose folder has no "v"
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->components, "kind: ServiceAccount\n");
  EXPECT_EQ(release->source, server_->address() + "/capi/aws v2.0.0");
}

// One that is passed over would have an older one installed.
TEST_F(HttpFolders, ALineThatIsNoVersionIsRefused_I18) {
  Put("versions.txt", "\xEF\xBB\xBFv2.1.0\n2.0.0\n");
  EXPECT_EQ(Open()->Versions({})->size(), 2u);
  for (const char* line : {"v2.2", "v2.2.0 # new", "nightly"}) {
    Put("versions.txt", std::string("# ours\nv2.1.0\n") + line + "\n");
    const auto versions = Open()->Versions({});
    EXPECT_EQ(versions.code(), Code::kInvalidArgument) << line;
    EXPECT_THAT(versions.error().message, HasSubstr("/capi/aws/versions.txt: line 3 is no version"));
  }
}

// S3 and others, where a bucket may be read and not listed: 403 says of an object that it isn't there, too.
TEST_F(HttpFolders, AStoreThatListsNothingSaysForbiddenOfWhatIsNotThere_I18) {
  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) { return OrElse(403, path); });
  auto folder = Open();
  EXPECT_EQ(LatestVersion({}, *folder, {"v1beta2"})->ToString(), "v2.1.0");
  auto release = GetRelease({}, *folder, *api::Version::Parse("v2.0.0"));  // whose folder has no "v"
  ASSERT_TRUE(release.ok()) << release.error().message;
  Put("2.0.0/metadata.yaml.sig", "c2ln");
  Put("2.0.0/infrastructure-components.yaml.sig", "c2ln");
  auto with_signatures = GetRelease({}, *folder, *api::Version::Parse("v2.0.0"), true);
  ASSERT_TRUE(with_signatures.ok()) << with_signatures.error().message;
  EXPECT_EQ(with_signatures->signatures.size(), 2u);
  Remove("versions.txt");
  auto none = folder->Versions({});
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("/capi/aws/versions.txt isn't there (HTTP 403: the server forbids it"));
  EXPECT_THAT(none.error().message, HasSubstr("name the version (spec.version)"));
}

// A folder may be moved, or lie in a store of objects: what isn't there isn't there.
TEST_F(HttpFolders, WhereItSendsToIsItsStore_I18_T14) {
  http::ServerOptions tls;
  tls.cert_pem = certificate_.cert_pem;
  tls.key_pem = certificate_.key_pem;
  auto front = ValueOrAbort(http::Server::Start(std::move(tls),
                                                [this](const http::ServerRequest& request) {
                                                  http::Response response = TextResponse(302, "");
                                                  response.headers.Set("Location",
                                                                       "https://" + server_->address() + request.path);
                                                  return response;
                                                }),
                            "a server in front");
  const auto version = *api::Version::Parse("v2.0.0");  // whose folder has no "v"
  Put("2.0.0/metadata.yaml.sig", "c2ln");
  Put("2.0.0/infrastructure-components.yaml.sig", "c2ln");
  for (const int missing : {404, 410, 403}) {
    SCOPED_TRACE(missing);
    Put("versions.txt", "2.0.0\nv2.1.0\nv2.2.0\n");
    AnswerBy([this, missing](const std::string& path) CAPI_REQUIRES(mu_) { return OrElse(missing, path); });
    auto folder = OpenAt(front->address());
    auto release = GetRelease({}, *folder, version, true);
    ASSERT_TRUE(release.ok()) << release.error().message;
    EXPECT_EQ(release->components, "kind: ServiceAccount\n");
    EXPECT_EQ(release->signatures.size(), 2u);
    const auto latest = LatestVersion({}, *folder, {"v1beta2"});  // v2.2.0 is named before its files are there
    EXPECT_EQ(latest.ok() ? latest->ToString() : CodeName(latest.code()),
              missing == 403 ? "PermissionDenied" : "v2.1.0");
    Remove("versions.txt");
    auto none = folder->Versions({});
    EXPECT_EQ(none.code(), Code::kNotFound);
    EXPECT_THAT(none.error().message, HasSubstr("versions.txt isn't there (where " + front->address() + " sends to (" +
                                                server_->address() + "): HTTP " + std::to_string(missing)));
  }
  AnswerBy([](const std::string&) { return TextResponse(503, ""); });
  EXPECT_EQ(OpenAt(front->address())->Versions({}).code(), Code::kUnavailable);
}

// A limit of a firewall or a check for robots says 403, too: nobody gets an older version for it, and what is newer
// isn't forgotten.
TEST_F(HttpFolders, WhatIsForbiddenForAMomentIsNotMissing_I18_U12) {
  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) {
    return path.find("2.1.0/") != path.npos ? TextResponse(403, "Request blocked") : OrElse(404, path);
  });
  auto folder = Open();
  const auto latest = LatestVersion({}, *folder, {"v1beta2"});
  EXPECT_EQ(latest.code(), Code::kPermissionDenied);
  EXPECT_THAT(latest.error().message, HasSubstr("/v2.1.0/metadata.yaml: HTTP 403: the server forbids it"));
  EXPECT_THAT(latest.error().message, HasSubstr("or it isn't there"));
  // There is something, and the look doesn't say what.
  EXPECT_EQ(NewerVersions({}, *folder, *api::Version::Parse("v2.0.0")).code(), Code::kPermissionDenied);
}

// U12: nor asked on: that is what such a limit counts. But what is said of the installed minor version counts.
TEST_F(HttpFolders, WhoForbidsEverythingIsAskedNoFurther_I18_U12) {
  Put("versions.txt", "v2.0.0\nv2.0.1\nv2.1.0\nv2.2.0\nv2.3.0\nv2.4.0\n");
  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) {
    return path.ends_with("versions.txt") ? OrElse(404, path) : TextResponse(403, "Request blocked");
  });
  EXPECT_EQ(NewerVersions({}, *Open(), *api::Version::Parse("v2.0.0")).code(), Code::kPermissionDenied);
  EXPECT_EQ(asked().size(), 1u + 3 * 2u) << "the list, and of v2.4.0, v2.3.0 and v2.0.1 both names";
  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) {
    const bool is_own = path.find("/v2.0.1/") != path.npos;
    return is_own || path.ends_with("versions.txt") ? OrElse(404, path) : TextResponse(403, "Request blocked");
  });
  Put("v2.0.1/metadata.yaml", kMetadata);
  const auto newer = NewerVersions({}, *Open(), *api::Version::Parse("v2.0.0"));
  ASSERT_TRUE(newer.ok()) << newer.error().message;
  std::vector<std::string> told;
  for (const NewerVersion& one : *newer) told.push_back(one.version.ToString() + (one.unread.empty() ? "" : "?"));
  EXPECT_THAT(told, ElementsAre("v2.0.1", "v2.1.0?", "v2.2.0?", "v2.3.0?", "v2.4.0?"));
  EXPECT_THAT((*newer)[1].unread, HasSubstr("not asked for, since others were refused: "));
}

// I12: whatever lies in another folder of that name, and it isn't asked for twice.
TEST_F(HttpFolders, AReleaseIsOfOneFolder_I18_I12) {
  Put("v2.0.0/infrastructure-components.yaml", "kind: Other\n");
  Put("2.0.0/metadata.yaml.sig", "c2ln");
  Put("2.0.0/infrastructure-components.yaml.sig", "c2ln");
  auto folder = Open();
  auto release = GetRelease({}, *folder, *api::Version::Parse("v2.0.0"), true);
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->components, "kind: ServiceAccount\n");
  EXPECT_EQ(release->signatures.size(), 2u);
  EXPECT_EQ(asked().size(), 3u + 6u) << "the metadata under both names, and what may sign either file";
  auto none = folder->File({}, *api::Version::Parse("v2.0.0"), "cluster-template.yaml");
  EXPECT_THAT(none.error().message, HasSubstr("/capi/aws/2.0.0/cluster-template.yaml"));
}

// I12: also of whom nobody has asked for its metadata, a template or a signature.
TEST_F(HttpFolders, AFileIsOfTheFolderWithTheMetadata_I18_I12) {
  const auto version = *api::Version::Parse("v2.0.0");  // whose folder has no "v"
  Put("v2.0.0/cluster-template.yaml", "kind: Other\n");
  Put("2.0.0/cluster-template.yaml", "kind: Cluster\n");
  auto file = Open()->File({}, version, "cluster-template.yaml");
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(*file, "kind: Cluster\n");

  Remove("2.0.0/metadata.yaml");
  file = Open()->File({}, version, "cluster-template.yaml");
  ASSERT_TRUE(file.ok()) << "cert-manager has no metadata: " << file.error().message;
  EXPECT_EQ(*file, "kind: Other\n");

  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) {
    return path.ends_with("metadata.yaml") ? TextResponse(503, "") : OrElse(404, path);
  });
  EXPECT_EQ(Open()->File({}, version, "cluster-template.yaml").code(), Code::kUnavailable) << "it may be either";
}

// Nothing is asked that isn't needed.
TEST_F(HttpFolders, AVersionThatIsNamedNeedsNoList_I18) {
  Remove("versions.txt");
  auto folder = Open("v2.1.0");
  ASSERT_TRUE(GetRelease({}, *folder, *api::Version::Parse("v2.1.0")).ok());
  EXPECT_THAT(asked(),
              ElementsAre("/capi/aws/v2.1.0/metadata.yaml", "/capi/aws/v2.1.0/infrastructure-components.yaml"));
  auto none = folder->Versions({});
  EXPECT_EQ(none.code(), Code::kNotFound);
  EXPECT_THAT(none.error().message, HasSubstr("/capi/aws/versions.txt isn't there"));
  EXPECT_THAT(none.error().message, HasSubstr("name the version (spec.version)"));
}

// U12: it says so of the server, which isn't asked for each version then.
TEST_F(HttpFolders, WhoIsRefusedAsksOnce_I18_U12) {
  AnswerBy([this](const std::string& path) CAPI_REQUIRES(mu_) {
    return path.ends_with("versions.txt") ? OrElse(404, path) : TextResponse(401, "");
  });
  EXPECT_EQ(NewerVersions({}, *Open(), *api::Version::Parse("v1.0.0")).code(), Code::kUnauthenticated);
  EXPECT_EQ(asked().size(), 2u);
}

// T14: as beside the files of any folder.
TEST_F(HttpFolders, SignaturesLieBesideTheFiles_I18_T14) {
  Put("v2.1.0/metadata.yaml.sig", "bWV0YQ==");
  Put("v2.1.0/infrastructure-components.yaml.sigstore.json", "{}");
  auto release = GetRelease({}, *Open(), *api::Version::Parse("v2.1.0"), true);
  ASSERT_TRUE(release.ok()) << release.error().message;
  EXPECT_EQ(release->signatures.at("metadata.sig"), "bWV0YQ==");
  EXPECT_EQ(release->signatures.at("components.sigstore.json"), "{}");
}

TEST_F(HttpFolders, AnswersThatAreNoneSayWhatIsWrong_I18) {
  const std::tuple<int, const char*, Code, const char*> cases[] = {
      {401, "", Code::kUnauthenticated, "without credentials"},
      {403, "", Code::kPermissionDenied, "HTTP 403: the server forbids it to who sends no credentials"},
      {404, "", Code::kNotFound, "HTTP 404"},
      {429, "", Code::kRateLimited, "limits requests"},
      {503, "", Code::kUnavailable, "is in trouble"},
      {418, "", Code::kInvalidArgument, "answered HTTP 418"},
      {200, "<!DOCTYPE html><html></html>", Code::kInvalidArgument, "HTML"},
  };
  for (const auto& [status, body, code, words] : cases) {
    AnswerBy([status = status, body = body](const std::string&) { return TextResponse(status, body); });
    auto release = GetRelease({}, *Open(), *api::Version::Parse("v2.1.0"));
    ASSERT_FALSE(release.ok()) << status;
    EXPECT_EQ(release.code(), code) << status;
    EXPECT_THAT(release.error().message, HasSubstr(words));
  }
}

// As of any server: what begins with "folder" is on this machine, and a bundle doesn't say where.
TEST_F(HttpFolders, SaysWhichServerItIsOn_I18_L27) { EXPECT_EQ(Open()->Describe(), server_->address() + "/capi/aws"); }

TEST_F(HttpFolders, AFileStaysInItsPlace_I18) {
  EXPECT_EQ(Open()->File({}, *api::Version::Parse("v2.1.0"), "../x").code(), Code::kInvalidArgument);
  EXPECT_THAT(asked(), IsEmpty());
}

}  // namespace
}  // namespace capi::fetch
