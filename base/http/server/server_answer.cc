#include "base/http/server/server_answer.h"

#include <fmt/core.h>

#include "base/encoding.h"
#include "base/http/grammar.h"
#include "base/strings.h"

namespace capi::http {
namespace {

// Below this packing saves no packet.
constexpr size_t kWorthPacking = 1u << 10;

bool OneLine(const std::string& value) { return value.find_first_of(std::string_view("\r\n\0", 3)) == value.npos; }

bool CanBeSent(const Headers& headers) {
  for (const auto& [name, value] : headers.all()) {
    if (!IsToken(name) || !OneLine(value)) return false;
  }
  return true;
}

bool AcceptsGzip(const Headers& headers) {
  for (const std::string& item : Split(ToLower(headers.Get("Accept-Encoding")), ',')) {
    std::vector<std::string> parts = Split(item, ';');
    if (!parts.empty() && Trim(parts[0]) == "gzip") return parts.size() == 1 || Trim(parts[1]) != "q=0";
  }
  return false;
}

bool WorthPacking(const ServerRequest& request, const Response& response) {
  std::string type = response.headers.Get("Content-Type");
  bool text = type.starts_with("text/") || type.starts_with("application/json");
  return text && response.body.size() >= kWorthPacking && !response.headers.Has("Content-Encoding") &&
         AcceptsGzip(request.headers);
}

bool HasBody(int status) { return status >= 200 && status != 204 && status != 304; }

std::string HeadOf(Response& response) {
  for (const char* ours : {"Content-Length", "Transfer-Encoding", "Connection"}) response.headers.Remove(ours);
  int status = response.status == 0 ? 200 : response.status;
  std::string head = fmt::format("HTTP/1.1 {} \r\n", status);  // the phrase may be empty
  for (const auto& [name, value] : response.headers.all()) head += fmt::format("{}: {}\r\n", name, value);
  return head;
}

}  // namespace

std::string FormatAnswer(const ServerRequest& request, Response response, bool keep_alive) {
  if (!CanBeSent(response.headers)) response = {.status = 500, .headers = {}, .body = "bad answer\n"};
  if (WorthPacking(request, response)) {
    response.body = Gzip(response.body);
    response.headers.Set("Content-Encoding", "gzip");
  }
  int status = response.status == 0 ? 200 : response.status;
  std::string head = HeadOf(response);
  if (HasBody(status)) head += fmt::format("Content-Length: {}\r\n", response.body.size());
  if (!keep_alive) head += "Connection: close\r\n";
  head += "\r\n";
  if (!HasBody(status) || request.method == "HEAD") return head;
  response.body.insert(0, head);
  return std::move(response.body);
}

std::string FormatStreamHead(Response response) {
  if (!CanBeSent(response.headers)) return FormatAnswer({}, std::move(response), false);
  return HeadOf(response) + "Connection: close\r\n\r\n";
}

}  // namespace capi::http
