#include "kube/client/status_error.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <chrono>

#include "base/strings.h"

namespace capi::kube {
namespace {

constexpr std::chrono::seconds kLongestWait(24 * 3600);
constexpr size_t kLongestBody = 500;
constexpr std::string_view kAdmission = "failed calling webhook";
constexpr std::string_view kConversion = "conversion webhook for";
// Before what the answer says that isn't a Status.
constexpr std::string_view kNoStatus = "HTTP ";
constexpr std::string_view kInitializing = "storage is (re)initializing";
// How a server-side apply of a field that the schema doesn't have, or of a value of another type, is refused: with a
// plain 500 and no reason, as if the server were in trouble.
constexpr std::string_view kNotOfItsSchema = "failed to create typed patch object (";
// How a server tells that its etcd is away: with a 500, too, in etcd's words or in those of the connection to it. (In
// etcd's words it also says that an object is too large, which stays so.)
constexpr std::string_view kEtcdIsAway[] = {
    "etcdserver: leader changed",    "etcdserver: no leader",
    "etcdserver: request timed out", "etcdserver: mvcc: database space exceeded",
    "etcdserver: server stopped",    "etcdserver: too many requests"};
constexpr std::string_view kNoConnection[] = {"rpc error: code = Unavailable", "rpc error: code = DeadlineExceeded",
                                              "transport is closing"};
// It tells of its connection to a plugin that encrypts Secrets in the same words, after these.
constexpr std::string_view kNotToEtcd[] = {"Internal error occurred: ", "encrypt", "decrypt", "KMS", "kms"};
constexpr std::string_view kGroupIsAway = "the API of its group doesn't answer now";
// Where these words are in what tells of an outage, it is none of the API server: a part of it is away, which others
// don't need. The last three are those of its proxy to aggregated APIs, and of whoever fails by a plain 500.
constexpr std::string_view kOfAPart[] = {kAdmission,
                                         kConversion,
                                         kInitializing,
                                         kGroupIsAway,
                                         "HTTP 503: \"service unavailable\"",
                                         "error trying to reach service",
                                         "HTTP 500"};

struct ReasonCode {
  std::string_view reason;
  Code code;
};
constexpr ReasonCode kByReason[] = {
    {"NotFound", Code::kNotFound},
    {"AlreadyExists", Code::kAlreadyExists},
    {"Conflict", Code::kConflict},
    {"Invalid", Code::kInvalidArgument},
    {"BadRequest", Code::kInvalidArgument},
    {"RequestEntityTooLarge", Code::kInvalidArgument},
    {"Unauthorized", Code::kUnauthenticated},
    {"Forbidden", Code::kPermissionDenied},
    {"Expired", Code::kGone},
    {"Gone", Code::kGone},
    {"TooManyRequests", Code::kRateLimited},
    {"Timeout", Code::kUnavailable},
    {"ServerTimeout", Code::kUnavailable},
    {"ServiceUnavailable", Code::kUnavailable},
    {"StorageReadError", Code::kInternal},
    {"UnsupportedMediaType", Code::kUnsupported},
    {"NotAcceptable", Code::kUnsupported},
    {"MethodNotAllowed", Code::kUnsupported},
    {"InternalError", Code::kInternal},
};

Code CodeOf(std::string_view reason, std::int64_t http_status) {
  for (const ReasonCode& entry : kByReason) {
    if (entry.reason == reason) return entry.code;
  }
  switch (http_status) {
    case 400:
    case 413:
    case 422: return Code::kInvalidArgument;
    case 401: return Code::kUnauthenticated;
    case 403: return Code::kPermissionDenied;
    case 404: return Code::kNotFound;
    case 405:
    case 406:
    case 415:
    case 501: return Code::kUnsupported;
    case 408: return Code::kUnavailable;
    case 409: return Code::kConflict;
    case 410: return Code::kGone;
    case 429: return Code::kRateLimited;
    default: break;
  }
  return http_status >= 500 ? Code::kUnavailable : Code::kInternal;
}

bool HasCause(const Json& status, std::string_view reason) {
  const Json* causes = Find(status, {"details", "causes"});
  if (causes == nullptr || !causes->is_array()) return false;
  for (const Json& cause : *causes) {
    if (GetString(cause, {"reason"}) == reason) return true;
  }
  return false;
}

// By a webhook or a policy, and not for what the object is. These choose the reason, and the HTTP status, themselves.
bool IsDenied(std::string_view message) {
  auto says = [&](std::string_view words) { return message.find(words) != message.npos; };
  return (says("admission webhook \"") && says("denied the request")) ||
         (says("AdmissionPolicy '") && says("denied request: "));
}

bool NamesWebhook(std::string_view message) {
  return message.find(kAdmission) != message.npos || message.find(kConversion) != message.npos;
}

bool EtcdIsAway(std::string_view message) {
  auto says = [&](std::string_view words) { return message.find(words) != message.npos; };
  return std::any_of(std::begin(kEtcdIsAway), std::end(kEtcdIsAway), says) ||
         (std::any_of(std::begin(kNoConnection), std::end(kNoConnection), says) &&
          std::none_of(std::begin(kNotToEtcd), std::end(kNotToEtcd), says));
}

// What the reason alone doesn't tell.
Code Refine(Code code, const Json& status, std::string_view message) {
  if (GetString(status, {"reason"}).empty() && message.starts_with(kNotOfItsSchema)) return Code::kFailedPrecondition;
  if (code == Code::kRateLimited && message.find(kInitializing) != message.npos) return Code::kUnavailable;
  if (code == Code::kInternal && NamesWebhook(message)) return Code::kUnavailable;
  const std::int64_t http_status = GetInt(status, {"code"});
  if (http_status == 500 && EtcdIsAway(message)) return Code::kUnavailable;
  if (http_status == 500 && GetString(status, {"reason"}).empty() && !NamesWebhook(message)) return Code::kInternal;
  bool retried = code == Code::kRateLimited || http_status >= 500;
  if (!retried && IsDenied(message)) return Code::kPermissionDenied;
  if (code == Code::kPermissionDenied && HasCause(status, "NamespaceTerminating")) return Code::kFailedPrecondition;
  return code;
}

std::string MessageOf(const Json& status, std::string_view reason) {
  std::string message = GetString(status, {"message"});
  if (const Json* causes = Find(status, {"details", "causes"}); causes != nullptr && causes->is_array()) {
    std::string more;
    for (const Json& cause : *causes) {
      std::string text = GetString(cause, {"message"}), field = GetString(cause, {"field"});
      if (text.empty() || message.find(text) != message.npos) continue;
      if (!more.empty()) more += ", ";
      more += field.empty() ? text : field + ": " + text;
    }
    if (!more.empty()) message += message.empty() ? more : " (" + more + ")";
  }
  if (message.empty()) message = reason.empty() ? "the server gave no reason" : std::string(reason);
  return message;
}

// What isn't a Status, on one line in valid UTF-8. A page of a proxy's, say, is told by its size: a part of it could
// end with a part of a secret's value, which nobody would find in it (I7).
std::string Quoted(std::string_view body) {
  if (body.empty()) return "";
  if (body.size() > kLongestBody) return fmt::format(", with a body of {} bytes", body.size());
  return ": " + Json(std::string(body)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

bool IsNoSuchPath(const Error& error) { return error.code == Code::kNotFound && error.message.starts_with(kNoStatus); }

bool IsGone(const Error& error) { return error.code == Code::kNotFound && !IsNoSuchPath(error); }

bool StorageInitializing(const Error& error) {
  return error.code == Code::kUnavailable && error.message.find(kInitializing) != error.message.npos;
}

bool IsOutage(const Error& error) {
  if (error.code != Code::kUnavailable && error.code != Code::kRateLimited) return false;
  auto says = [&](std::string_view words) { return error.message.find(words) != error.message.npos; };
  return std::none_of(std::begin(kOfAPart), std::end(kOfAPart), says) && !IsDenied(error.message);
}

Error GroupIsAway(std::string_view what) { return {Code::kUnavailable, fmt::format("{}: {}", what, kGroupIsAway), {}}; }

bool ConversionIsAway(const Error& error) {
  return StorageInitializing(error) ||
         (error.code == Code::kUnavailable && error.message.find(kConversion) != error.message.npos);
}

Error ErrorFromStatus(const Json& status) {
  std::string reason = GetString(status, {"reason"});
  Error out;
  out.message = MessageOf(status, reason);
  out.code = Refine(CodeOf(reason, GetInt(status, {"code"})), status, out.message);
  std::int64_t seconds = std::min<std::int64_t>(GetInt(status, {"details", "retryAfterSeconds"}), kLongestWait.count());
  if (seconds > 0 && !StorageInitializing(out)) {
    out.retry_after = std::chrono::seconds(seconds);
  }
  return out;
}

Error ErrorFromResponse(const http::Response& response) {
  Error out;
  Result<Json> body = ParseJson(response.body);
  if (body.ok() && GetString(*body, {"kind"}) == "Status") {
    if (Find(*body, {"code"}) == nullptr) Ensure(*body, {"code"}) = response.status;
    out = ErrorFromStatus(*body);
  } else {
    out.code = CodeOf("", response.status);
    out.message = fmt::format("{}{}{}", kNoStatus, response.status, Quoted(Trim(response.body)));
  }
  if (StorageInitializing(out)) return out;
  std::string header = response.headers.Get("Retry-After");
  int seconds = 0;
  auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (error == std::errc() && end == header.data() + header.size() && seconds >= 0) {
    out.retry_after = std::min(std::chrono::seconds(seconds), kLongestWait);
  }
  return out;
}

}  // namespace capi::kube
