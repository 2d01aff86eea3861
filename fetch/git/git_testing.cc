#include "fetch/git/git_testing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

std::string NewFolder() {
  // A path with two slashes in it names no repository.
  std::string pattern = std::filesystem::path(testing::TempDir()) / "git-XXXXXX";
  return mkdtemp(pattern.data());
}

std::string Quoted(std::string_view text) { return "'" + ReplaceAll(std::string(text), "'", "'\\''") + "'"; }

// What a shell's command writes; `ok` says whether it ends well.
std::string Run(const std::string& command, bool& ok) {
  std::string out;
  FILE* pipe = popen(command.c_str(), "r");  // NOLINT(cert-env33-c): of a test's own words
  if (pipe == nullptr) return out;
  char piece[4096];
  for (size_t size = 0; (size = fread(piece, 1, sizeof piece, pipe)) > 0;) out.append(piece, size);
  ok = pclose(pipe) == 0;
  return out;
}

// For `env`. Nobody's configuration counts, no repository of whose hook the test is a part, and all commits are of one
// time.
std::string Environment(const std::string& home) {
  return fmt::format(
      "-i PATH=\"$PATH\" HOME={} GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a "
      "GIT_COMMITTER_EMAIL=a@b GIT_AUTHOR_DATE=1700000000Z GIT_COMMITTER_DATE=1700000000Z",
      Quoted(home));
}

// Of a CGI program: headers, an empty line, and the body.
http::Response OfCgi(const std::string& text) {
  http::Response response;
  response.status = 200;
  const size_t end = text.find("\r\n\r\n");
  if (end == text.npos) {
    response.status = 500;
    return response;
  }
  for (const std::string& line : Split(std::string_view(text).substr(0, end), '\n')) {
    const size_t colon = line.find(':');
    if (colon == line.npos) continue;
    const std::string name = line.substr(0, colon), value(Trim(line.substr(colon + 1)));
    if (name == "Status") response.status = std::atoi(value.c_str());
    if (name != "Status") response.headers.Set(name, value);
  }
  response.body = text.substr(end + 4);
  return response;
}

}  // namespace

GitStandIn::GitStandIn(GitStandInOptions options) : options_(std::move(options)), folder_(NewFolder()) {
  bool ok = false;
  const std::string made = fmt::format("env {} git init -q --bare --object-format={} -b main {} 2>&1",
                                       Environment(folder_), options_.format, Quoted(folder()));
  const std::string said = Run(made, ok);
  EXPECT_TRUE(ok) << said;
  Git("config http.receivepack false");
  Git(fmt::format("config uploadpack.allowFilter {}", options_.filters));
  auto server = http::Server::Start({}, [this](const http::ServerRequest& request) { return Answer(request); });
  EXPECT_TRUE(server.ok());
  server_ = *std::move(server);
}

GitStandIn::~GitStandIn() {
  server_->Stop();
  std::filesystem::remove_all(folder_);
}

std::string GitStandIn::Git(const std::string& arguments) {
  bool ok = false;
  std::string said =
      Run(fmt::format("cd {} && env {} git {} 2>&1", Quoted(folder()), Environment(folder_), arguments), ok);
  EXPECT_TRUE(ok) << "git " << arguments << ": " << said;
  return std::string(Trim(said));
}

void GitStandIn::Release(const std::string& tag, const std::map<std::string, std::string>& files, bool annotated) {
  const std::string tree = folder_ + "/tree";
  std::filesystem::remove_all(tree);
  for (const auto& [path, text] : files) {
    std::filesystem::create_directories(std::filesystem::path(tree + "/" + path).parent_path());
    EXPECT_TRUE(WriteFile(tree + "/" + path, text).ok());
  }
  const std::string work = fmt::format("--work-tree={} ", Quoted(tree));
  Git(work + "add -A .");
  Git(work + "commit -q --allow-empty -m " + Quoted(tag));
  Git(annotated ? fmt::format("tag -a -m {} {}", Quoted(tag), Quoted(tag)) : "tag " + Quoted(tag));
}

std::string GitStandIn::url() const { return fmt::format("http://{}/org/repository.git", server_->address()); }

std::unique_ptr<Repository> GitStandIn::Open(const std::string& path, const std::map<std::string, std::string>& secret,
                                             const HttpOptions& options, GitFiles files) const {
  auto repository = OpenGit({url(), path, {}}, secret, api::ProviderType::kInfrastructure, "aws", options, files);
  EXPECT_TRUE(repository.ok()) << repository.error().message;
  return *std::move(repository);
}

std::vector<std::string> GitStandIn::seen() const {
  MutexLock lock(mu_);
  return seen_;
}

http::Response GitStandIn::Serve(const http::ServerRequest& request) const {
  std::string pattern = folder_ + "/body-XXXXXX";
  close(mkstemp(pattern.data()));
  EXPECT_TRUE(WriteFile(pattern, request.body).ok());
  const std::string protocol = options_.speaks_v2 ? request.headers.Get("Git-Protocol") : "";
  bool ok = false;
  const std::string answer = Run(
      fmt::format("env {} GIT_PROJECT_ROOT={} GIT_HTTP_EXPORT_ALL=1 PATH_INFO={} QUERY_STRING={} REQUEST_METHOD={} "
                  "CONTENT_TYPE={} CONTENT_LENGTH={} GIT_PROTOCOL={} git http-backend < {}",
                  Environment(folder_), Quoted(folder_), Quoted(request.path), Quoted(request.query), request.method,
                  Quoted(request.headers.Get("Content-Type")), request.body.size(), Quoted(protocol), Quoted(pattern)),
      ok);
  std::filesystem::remove(pattern);
  return OfCgi(answer);
}

http::Response GitStandIn::Answer(const http::ServerRequest& request) {
  const std::string authorization = request.headers.Get("Authorization");
  {
    MutexLock lock(mu_);
    seen_.push_back(std::string(Trim(fmt::format("{} {} {}", request.method, request.path, authorization))));
  }
  if (fault_) {
    if (auto answer = fault_(request)) return *std::move(answer);
  }
  if (!options_.authorization.empty() && authorization != options_.authorization) {
    http::Response refused;
    refused.status = 401;
    refused.body = "told: " + authorization;
    return refused;
  }
  return Serve(request);
}

std::map<std::string, std::string> AwsRelease(const std::string& folder, const std::string& mark) {
  const std::string before = folder.empty() ? "" : folder + "/";
  return {{before + "metadata.yaml",
           "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n- {major: 1, minor: 0, "
           "contract: v1beta1}\n"},
          {before + "infrastructure-components.yaml", "kind: Namespace\nmetadata: {name: " + mark + "}\n"}};
}

}  // namespace capi::fetch
