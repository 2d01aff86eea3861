#include "fetch/oci/oci_testing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/encoding.h"
#include "base/json.h"
#include "base/testing/value_or_abort.h"

namespace capi::fetch {
namespace {

constexpr std::string_view kRoot = "/v2/", kBase = "/v2/org/provider/";
constexpr std::string_view kTitle = "org.opencontainers.image.title";
constexpr std::string_view kUploads = "blobs/uploads/";
constexpr size_t kTagsPerPage = 2;
constexpr char kToPush[] = "-to-push", kToDelete[] = "-to-delete";  // in a token that was asked for with these rights

std::string DigestOf(std::string_view text) { return "sha256:" + Sha256Hex(text); }

// As the peer's `publish` writes it, or as a manifest of artifacts was before there was `artifactType`.
std::string ManifestOf(const OciArtifact& artifact) {
  Json files = Json::array();
  for (const auto& [title, text] : artifact.files) {
    Json layer{{"mediaType", "application/vnd.test.file"}, {"digest", DigestOf(text)}, {"size", text.size()}};
    if (!title.empty()) layer["annotations"] = {{kTitle, title}};
    files.push_back(std::move(layer));
  }
  if (artifact.as_blobs) {
    return ToJsonText({{"mediaType", "application/vnd.oci.artifact.manifest.v1+json"}, {"blobs", files}});
  }
  return ToJsonText({{"schemaVersion", 2},
                     {"mediaType", "application/vnd.oci.image.manifest.v1+json"},
                     {"artifactType", "application/vnd.acme.config"},
                     {"config", {{"mediaType", "application/vnd.oci.empty.v1+json"}, {"size", 2}}},
                     {"layers", files}});
}

// Where a path has what is asked of a repository: behind the repository's name.
size_t EndOfName(const std::string& path) {
  for (std::string_view part : {"/manifests/", "/blobs/", "/tags/"}) {
    if (size_t at = path.find(part); at != path.npos) return at + 1;
  }
  return path.npos;
}

// By which the manifest of a tag or a digest is kept; those of "org/provider" as they are called.
std::string KeyOf(std::string_view base, std::string_view which) {
  return base == kBase || which.starts_with("sha256:") ? std::string(which) : fmt::format("{}:{}", base, which);
}

std::unique_ptr<http::Server> Serve(http::Server::Handler handler) {
  http::ServerOptions options;
  options.limits.body = 32u << 20;  // the largest that is sent at once, and more
  options.limits.held = 128u << 20;
  return ValueOrAbort(http::Server::Start(options, std::move(handler)), "a server of the stand-in for a registry");
}

http::Response Unauthorized(const std::string& challenge) {
  http::Response response = OciAnswer(401, R"({"errors":[{"code":"UNAUTHORIZED","message":"s3cret words"}]})");
  response.headers.Set("WWW-Authenticate", challenge);
  return response;
}

http::Response NotFound(std::string_view code) {
  return OciAnswer(404, fmt::format(R"({{"errors":[{{"code":"{}"}}]}})", code));
}

}  // namespace

http::Response OciAnswer(int status, std::string body) {
  http::Response response;
  response.status = status;
  response.headers.Set("Content-Type", "application/json");
  response.body = std::move(body);
  return response;
}

OciArtifact PlainArtifact(std::string components) {
  return {.files = {{"metadata.yaml", std::string(kOciMetadata)}, {"components.yaml", std::move(components)}}};
}

OciStandIn::OciStandIn(std::map<std::string, OciArtifact> artifacts, OciAuth auth) : auth_(auth) {
  MutexLock lock(mu_);
  for (const auto& [tag, artifact] : artifacts) {
    tags_.push_back(tag);
    for (const auto& [title, text] : artifact.files) blobs_[DigestOf(text)] = text;
    manifests_[tag] = ManifestOf(artifact);
    manifests_[DigestOf(manifests_[tag])] = manifests_[tag];
  }
  store_ = Serve([this](const http::ServerRequest& request) { return Store(request); });
  tokens_ = Serve([this](const http::ServerRequest& request) { return Tokens(request); });
  registry_ = Serve([this](const http::ServerRequest& request) { return Registry(request); });
}

OciStandIn::~OciStandIn() = default;

std::string OciStandIn::host() const { return registry_->address(); }

std::string OciStandIn::token_host() const { return tokens_->address(); }

std::string OciStandIn::reference(std::string_view rest) const {
  return fmt::format("http://{}/org/provider{}", registry_->address(), rest);
}

std::string OciStandIn::digest(const std::string& tag) const { return DigestOf(manifest(tag)); }

std::string OciStandIn::manifest(const std::string& which) const {
  MutexLock lock(mu_);
  auto found = manifests_.find(which);
  return found == manifests_.end() ? "" : found->second;
}

std::string OciStandIn::blob(const std::string& digest) const {
  MutexLock lock(mu_);
  auto found = blobs_.find(digest);
  return found == blobs_.end() ? "" : found->second;
}

std::unique_ptr<Repository> OciStandIn::Open(std::string_view rest, OciOptions options) const {
  options.user_agent = "capi-operator/test";
  return ValueOrAbort(OpenOci(reference(rest), api::ProviderType::kInfrastructure, "custom", options), "repository");
}

size_t OciStandIn::uploads() const {
  MutexLock lock(mu_);
  return uploads_.size();
}

std::vector<OciRequest> OciStandIn::seen() const {
  MutexLock lock(mu_);
  return seen_;
}

void OciStandIn::ExpireTokens() {
  MutexLock lock(mu_);
  ++generation_;
}

void OciStandIn::Note(std::string_view host, const http::ServerRequest& request) {
  MutexLock lock(mu_);
  std::string target = request.query.empty() ? request.path : request.path + "?" + request.query;
  seen_.push_back({std::string(host), request.method, target, request.headers.Get("Authorization"), request.body});
}

// Of who comes without what is needed.
std::optional<http::Response> OciStandIn::Refusal(const http::ServerRequest& request) const {
  const std::string sent = request.headers.Get("Authorization");
  if (auth_ == OciAuth::kNone) return std::nullopt;
  if (auth_ == OciAuth::kBasic) {
    if (sent == "Basic " + Base64Encode(fmt::format("{}:{}", kOciUser, kOciPassword))) return std::nullopt;
    return Unauthorized("Basic realm=\"a registry\"");
  }
  MutexLock lock(mu_);
  const bool deletes = request.method == "DELETE", writes = request.method != "GET" && request.method != "HEAD";
  auto may = [&sent](const char* right) { return sent.find(right) != sent.npos; };
  if (!sent.starts_with(fmt::format("Bearer token-{}", generation_)) || (deletes && !may(kToDelete))) {
    return Unauthorized(fmt::format(
        R"(Basic realm="x", Bearer realm="http://{}/token?a=b",service="registry \"one\"",scope="repository:org/provider:{}")",
        tokens_->address(), deletes ? "delete" : "pull"));
  }
  if (writes && !deletes && !may(kToPush)) return OciAnswer(403, R"({"errors":[{"code":"DENIED"}]})");
  return std::nullopt;
}

http::Response OciStandIn::Registry(const http::ServerRequest& request) {
  Note("registry", request);
  if (registry_fault_) {
    if (auto response = registry_fault_(request)) return *response;
  }
  if (auto refusal = Refusal(request)) return *refusal;
  const size_t end = EndOfName(request.path);
  if (!request.path.starts_with(kRoot) || end == request.path.npos) return NotFound("NAME_UNKNOWN");
  const std::string base = request.path.substr(0, end), rest = request.path.substr(end);
  if (rest == "tags/list") return Tags(request);
  if ((request.method != "GET" && request.method != "HEAD") || rest.starts_with(kUploads))
    return Write(request, base, rest);
  if (rest.starts_with("manifests/")) return Manifest(KeyOf(base, rest.substr(10)));
  MutexLock lock(mu_);
  if (!rest.starts_with("blobs/") || !blobs_.contains(rest.substr(6))) return NotFound("BLOB_UNKNOWN");
  http::Response response = OciAnswer(307, "");
  response.headers.Set("Location", fmt::format("http://{}/{}", store_->address(), rest));
  return response;
}

http::Response OciStandIn::Tags(const http::ServerRequest& request) const {
  size_t at = request.query.find("last=");
  const std::string last = at == std::string::npos ? "" : request.query.substr(at + 5);
  auto from = std::upper_bound(tags_.begin(), tags_.end(), last);
  auto left = static_cast<size_t>(tags_.end() - from);
  auto to = from + static_cast<std::ptrdiff_t>(std::min(left, kTagsPerPage));
  Json page{{"name", "org/provider"}, {"tags", std::vector<std::string>(from, to)}};
  http::Response response = OciAnswer(200, ToJsonText(page));
  if (left > kTagsPerPage)
    response.headers.Set("Link", fmt::format("<{}tags/list?n=2&last={}>; rel=\"next\"", kBase, *(to - 1)));
  return response;
}

http::Response OciStandIn::Manifest(const std::string& which) const {
  const std::string text = manifest(which);
  if (text.empty()) return NotFound("MANIFEST_UNKNOWN");
  http::Response response = OciAnswer(200, text);
  response.headers.Set("Docker-Content-Digest", DigestOf(text));
  return response;
}

http::Response OciStandIn::Write(const http::ServerRequest& request, const std::string& base, const std::string& rest) {
  constexpr size_t kLargestPiece = 4u << 20;
  MutexLock lock(mu_);
  if (rest.starts_with("manifests/")) return PutManifest(KeyOf(base, rest.substr(10)), request.body);
  if (request.headers.Has("Content-Range") && request.body.size() > kLargestPiece)
    return OciAnswer(416, R"({"errors":[{"code":"REQUESTED_RANGE_NOT_SATISFIABLE"}]})");
  return WriteBlob(request, base, rest);
}

http::Response OciStandIn::WriteBlob(const http::ServerRequest& request, const std::string& base,
                                     const std::string& rest) {
  std::string place = rest;
  const bool begins = request.method == "POST", ends = request.method == "PUT";
  if (begins) place += fmt::format("{}", ++begun_);
  if (begins) uploads_[place];
  auto upload = uploads_.find(place);
  if (upload == uploads_.end()) return NotFound("BLOB_UPLOAD_UNKNOWN");
  std::string& bytes = upload->second;
  auto state = [&bytes] { return fmt::format("state=a%2F{}", bytes.size()); };
  if (!begins && request.method != "GET" && !request.query.starts_with(state()))
    return OciAnswer(416, R"({"errors":[{"code":"RANGE_INVALID"}]})");
  // As the distribution specification has it; some take one without it for the first of another upload.
  const bool is_part = request.method == "PATCH" || (ends && !bytes.empty());
  const std::string range = fmt::format("{}-{}", bytes.size(), bytes.size() + request.body.size() - 1);
  if (is_part && request.headers.Get("Content-Range") != range)
    return OciAnswer(416, R"({"errors":[{"code":"BLOB_UPLOAD_INVALID"}]})");
  const std::string query = state() + "&digest=";
  const bool breaks_off = is_part && breaks_off_ && breaks_off_(request);
  bytes += request.body.substr(0, breaks_off ? request.body.size() / 2 : request.body.npos);
  if (breaks_off) return OciAnswer(502);
  if (request.method == "DELETE") uploads_.erase(upload);
  if (request.method == "DELETE") return OciAnswer(204, "");
  if (!ends) {
    http::Response response = OciAnswer(request.method == "GET" ? 204 : 202, "");
    response.headers.Set("Location", fmt::format("{}{}?{}", base, place, state()));
    if (!least_piece_.empty()) response.headers.Set("OCI-Chunk-Min-Length", least_piece_);
    return response;
  }
  const std::string whole = std::exchange(bytes, ""), digest = DigestOf(whole);
  uploads_.erase(upload);
  if (request.query != query + PercentEscape(digest))
    return OciAnswer(400, R"({"errors":[{"code":"DIGEST_INVALID"}]})");
  blobs_[digest] = whole;
  return OciAnswer(201, "");
}

http::Response OciStandIn::PutManifest(const std::string& tag, const std::string& text) {
  const Json manifest = ValueOrAbort(ParseJson(text), "a manifest that was pushed");
  Json named = manifest.value("layers", Json::array());
  if (manifest.contains("config")) named.push_back(manifest.at("config"));
  for (const Json& one : manifest.value("manifests", Json::array())) {
    if (!manifests_.contains(GetString(one, {"digest"})))
      return OciAnswer(400, R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN"}]})");
  }
  for (const Json& one : named) {
    if (!blobs_.contains(GetString(one, {"digest"})))
      return OciAnswer(400, R"({"errors":[{"code":"MANIFEST_BLOB_UNKNOWN"}]})");
  }
  manifests_[tag] = manifests_[DigestOf(text)] = text;
  http::Response response = OciAnswer(201, "");
  response.headers.Set("Docker-Content-Digest", DigestOf(text));
  return response;
}

std::string OciStandIn::PutImageManifest(const std::string& layer, const std::string& platform) {
  const size_t slash = platform.find('/');
  const std::string config =
      ToJsonText({{"os", platform.substr(0, slash)}, {"architecture", platform.substr(slash + 1)}, {"author", layer}});
  blobs_[DigestOf(layer)] = layer;
  blobs_[DigestOf(config)] = config;
  const std::string text = ToJsonText(
      {{"schemaVersion", 2},
       {"mediaType", "application/vnd.docker.distribution.manifest.v2+json"},
       {"config", {{"mediaType", "x"}, {"digest", DigestOf(config)}, {"size", config.size()}}},
       {"layers", Json::array({{{"mediaType", "y"}, {"digest", DigestOf(layer)}, {"size", layer.size()}}})}});
  manifests_[DigestOf(text)] = text;
  return text;
}

std::string OciStandIn::PutImage(const std::string& repository, const std::string& tag,
                                 const std::vector<std::string>& platforms, const std::string& layer) {
  MutexLock lock(mu_);
  std::string text;
  Json index{{"schemaVersion", 2}, {"manifests", Json::array()}};
  for (const std::string& platform : platforms) {
    text = PutImageManifest(layer + platform, platform);
    const size_t slash = platform.find('/');
    index["manifests"].push_back(
        {{"digest", DigestOf(text)},
         {"size", text.size()},
         {"platform", {{"os", platform.substr(0, slash)}, {"architecture", platform.substr(slash + 1)}}}});
  }
  text = platforms.empty() ? PutImageManifest(layer, "linux/amd64") : ToJsonText(index);
  manifests_[KeyOf(fmt::format("{}{}/", kRoot, repository), tag)] = manifests_[DigestOf(text)] = text;
  return DigestOf(text);
}

http::Response OciStandIn::Tokens(const http::ServerRequest& request) {
  Note("tokens", request);
  if (token_fault_) {
    if (auto response = token_fault_(request)) return *response;
  }
  const std::string basic = "Basic " + Base64Encode(fmt::format("{}:{}", kOciUser, kOciPassword));
  const bool by_refresh = request.body.find(fmt::format("refresh_token={}", kOciRefresh)) != std::string::npos;
  if (!by_refresh && request.headers.Get("Authorization") != basic) return OciAnswer(401);
  const std::string& asked = by_refresh ? request.body : request.query;
  std::string rights = asked.find(PercentEscape(":pull,push")) == std::string::npos ? "" : kToPush;
  if (asked.find(PercentEscape(":delete")) != std::string::npos) rights += kToDelete;
  const char* member = by_refresh ? "access_token" : "token";
  MutexLock lock(mu_);
  return OciAnswer(200, ToJsonText({{member, fmt::format("token-{}{}", generation_, rights)}, {"expires_in", 300}}));
}

http::Response OciStandIn::Store(const http::ServerRequest& request) {
  Note("store", request);
  if (store_fault_) {
    if (auto response = store_fault_(request)) return *response;
  }
  return OciAnswer(200, blob(request.path.substr(std::string_view("/blobs/").size())));
}

}  // namespace capi::fetch
