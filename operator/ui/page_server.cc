#include "operator/ui/page_server.h"

#include <fmt/core.h>

#include "base/encoding.h"
#include "base/http/certificate.h"
#include "base/http/proxy.h"
#include "base/yaml/yaml.h"
#include "operator/servers.h"
#include "operator/ui/page_files.h"
#include "operator/ui/viewers.h"

namespace capi::ops::ui {
namespace {

using http::Response;
using http::ServerRequest;
using http::ServerResponse;

constexpr size_t kOfViewer = 2;  // connections: of its events, and of what it fetches
constexpr size_t kOthers = 64;   // connections beside those of viewers
constexpr std::string_view kHtml = "text/html; charset=utf-8", kJson = "application/json",
                           kText = "text/plain; charset=utf-8";

constexpr std::string_view kNoProvider = "there is no such provider, or you may not get it";

// Nothing comes from another host, nothing goes to one, and no text is ever a program or markup.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri "
    "'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'";

Response Answer(int status, std::string body, std::string_view type) {
  Response response;
  response.status = status;
  response.body = std::move(body);
  response.headers.Set("Content-Type", type);
  response.headers.Set("Content-Security-Policy", kPolicy);
  response.headers.Set("X-Content-Type-Options", "nosniff");
  response.headers.Set("X-Frame-Options", "DENY");
  response.headers.Set("Referrer-Policy", "no-referrer");
  response.headers.Set("Cross-Origin-Opener-Policy", "same-origin");
  response.headers.Set("Cross-Origin-Resource-Policy", "same-origin");
  response.headers.Set("Cache-Control", "no-store");
  return response;
}

Response Text(int status, std::string_view text) { return Answer(status, std::string(text) + "\n", kText); }

std::string_view TypeOf(std::string_view path) {
  if (path.ends_with(".html")) return kHtml;
  if (path.ends_with(".js")) return "text/javascript; charset=utf-8";
  return path.ends_with(".css") ? "text/css; charset=utf-8" : kText;
}

// A file is asked for again each time, and sent again once it is another one.
std::optional<Response> FileOf(const ServerRequest& request) {
  const std::string path = request.path == "/" ? "index.html" : request.path.substr(1);
  for (const PageFile& file : PageFiles()) {
    if (file.path != path) continue;
    const std::string tag = '"' + Sha256Hex(file.content).substr(0, 16) + '"';
    const bool same = request.headers.Get("If-None-Match") == tag;
    Response response = Answer(same ? 304 : 200, same ? "" : std::string(file.content), TypeOf(path));
    response.headers.Set("Cache-Control", "no-cache");
    response.headers.Set("ETag", tag);
    return response;
  }
  return std::nullopt;
}

// A page of somebody else can have its own name lead here, and then reads what only this machine is to see: the name
// tells them apart.
bool IsOfLoopback(std::string host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && (!host.starts_with('[') || host[colon - 1] == ']');
  return IsLoopback(has_port ? host : host + ":80");
}

// "id=KIND/NAMESPACE/NAME", none of which needs an escape.
std::string IdIn(const std::string& query) { return query.starts_with("id=") ? query.substr(3) : ""; }

ServerResponse Events(const ServerRequest& request, Feed& feed, View view) {
  // It has no body: a stream would hold a viewer's place for nobody.
  if (request.method == "HEAD") return Answer(200, "", "text/event-stream");
  auto stream = feed.Join(std::move(view.sees), std::move(view.unasked));
  if (stream == nullptr) return Text(503, "too many look at this page already: try again later");
  ServerResponse response = Answer(200, "", "text/event-stream");
  response.stream = std::move(stream);
  return response;
}

ServerResponse Data(const ServerRequest& request, Feed& feed, View view) {
  if (request.path == "/events") return Events(request, feed, std::move(view));
  const Sees& sees = view.sees;
  if (request.path == "/data.json") return Answer(200, feed.Snapshot(sees), kJson);
  const std::string id = IdIn(request.query);
  if (request.path == "/provider.json") {
    auto details = feed.Details(id, sees);
    return details ? Answer(200, *std::move(details), kJson) : Text(404, kNoProvider);
  }
  kube::ObjectPtr object = feed.Object(id, sees);
  if (object == nullptr) return Text(404, kNoProvider);
  return Answer(200, ToYaml(object->json()), kText);
}

// A browser says so of what another site has it fetch, be it one at another port of this machine: such a site reads
// nothing, but it would take viewers' places.
bool IsOfAnotherSite(const ServerRequest& request) {
  const std::string site = request.headers.Get("Sec-Fetch-Site");
  return site == "cross-site" || site == "same-site";
}

bool IsData(const std::string& path) {
  return path == "/data.json" || path == "/events" || path == "/provider.json" || path == "/provider.yaml";
}

}  // namespace

Result<std::unique_ptr<http::Server>> ServePage(const std::string& address, Feed& feed, kube::Client& client,
                                                Logger log, std::function<bool()> ready) {
  const bool local = IsLoopback(address);
  http::ServerOptions options;
  options.address = address;
  options.threads = Viewers::kThreads;
  options.limits.body = 0;
  options.limits.connections = kOfViewer * FeedOptions().viewers + kOthers;
  if (!local) {
    auto certificate = TRY(http::MakeSelfSigned({"localhost"}));
    options.cert_pem = certificate.cert_pem;
    options.key_pem = certificate.key_pem;
  }
  auto viewers = std::make_shared<Viewers>(client, SystemClock(), log);
  return http::Server::Start(options, [=, &feed](const ServerRequest& request) -> ServerResponse {
    if (request.method != "GET" && request.method != "HEAD") return Text(405, "this page is read-only: use GET");
    if (local && !IsOfLoopback(request.headers.Get("Host"))) {
      return Text(421, "this page is for this machine alone: use localhost or 127.0.0.1 as its name");
    }
    if (auto file = FileOf(request)) return *std::move(file);
    if (!IsData(request.path)) return Text(404, "there is no such page");
    if (local && IsOfAnotherSite(request)) return Text(403, "another site may not ask for this");
    if (!ready()) return Text(503, "the operator has just started and reads what there is: try again in a moment");
    if (local) return Data(request, feed, {.sees = [](const api::ProviderId&) { return true; }});
    View view = viewers->Of(request.stop, request.headers.Get("Authorization"), feed.Ids());
    if (view.status != 0) {
      ServerResponse refusal = Answer(view.status, std::move(view.text), kText);
      if (view.status == 401) refusal.headers.Set("WWW-Authenticate", "Bearer");
      return refusal;
    }
    return Data(request, feed, std::move(view));
  });
}

}  // namespace capi::ops::ui
