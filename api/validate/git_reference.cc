#include "api/validate/git_reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "api/text.h"
#include "base/strings.h"

namespace capi::api {
namespace {

using Scheme = GitReference::Scheme;

constexpr std::string_view kForm =
    "write https://git.example.com/org/repository.git, ssh://git@git.example.com/org/repository.git, or "
    "git@git.example.com:org/repository.git";
constexpr size_t kLongest = 2048;

Error Invalid(std::string_view what) { return Error{Code::kInvalidArgument, fmt::format("{}: {}", what, kForm), {}}; }

int OwnPort(Scheme scheme) { return scheme == Scheme::kHttps ? 443 : scheme == Scheme::kHttp ? 80 : 22; }

bool IsName(std::string_view text, std::string_view more) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return std::isalnum(c) || more.find(static_cast<char>(c)) != more.npos;
  });
}

// It goes into a request, and between quotes into a command: none of its characters means anything there.
bool IsPath(std::string_view path) {
  if (!IsName(path, "/._-~+@,=") || path.ends_with('/')) return false;
  const auto parts = Split(path.starts_with('/') ? path.substr(1) : path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
}

// "host", "host:22", "[::1]:22".
bool ReadHost(std::string_view text, GitReference& out) {
  std::string_view port;
  if (text.starts_with('[')) {
    const size_t end = text.find(']');
    if (end == text.npos) return false;
    out.host = ToLower(text.substr(1, end - 1));
    port = text.substr(end + 1);
    if (out.host.find(':') == out.host.npos || out.host.find_first_not_of("0123456789abcdef:.") != out.host.npos)
      return false;
  } else {
    const size_t colon = std::min(text.find(':'), text.size());
    out.host = ToLower(text.substr(0, colon));
    port = text.substr(colon);
    if (!IsName(out.host, ".-_")) return false;
  }
  out.port = OwnPort(out.scheme);
  if (port.empty()) return true;
  const char *begin = port.data() + 1, *last = port.data() + port.size();
  auto [end, failure] = std::from_chars(begin, last, out.port);
  return port.front() == ':' && failure == std::errc() && end == last && out.port > 0 && out.port < 65536;
}

bool TakeUser(std::string_view& text, GitReference& out) {
  const size_t at = text.rfind('@');
  out.user = at == text.npos ? "git" : text.substr(0, at);
  if (at != text.npos) text.remove_prefix(at + 1);
  return IsName(out.user, "._-+");
}

Status ReadUrl(std::string_view rest, GitReference& out) {
  const size_t slash = std::min(rest.find('/'), rest.size());
  std::string_view host = rest.substr(0, slash);
  out.path = rest.substr(slash);
  while (out.path.size() > 1 && out.path.ends_with('/')) out.path.pop_back();
  if (out.scheme != Scheme::kSsh && host.find('@') != host.npos)
    return Invalid("a user or a password doesn't belong into it, but into the Secret of secretRef");
  // What stands there may be a password: it isn't shown.
  if (out.scheme == Scheme::kSsh && !TakeUser(host, out)) return Invalid("its user is none (a password has no place)");
  if (!ReadHost(host, out)) return Invalid("it names no host");
  if (!IsPath(out.path)) return Invalid("its path names no repository");
  return Ok();
}

bool IsScheme(std::string_view text) {
  return text == "https" || text == "http" || text == "ssh" || text == "git" || text == "file";
}

// "git@host:path", as ssh's own programs have it.
Status ReadShort(std::string_view text, GitReference& out) {
  const size_t colon = text.find(':');
  std::string_view host = text.substr(0, colon);
  out.scheme = Scheme::kSsh;
  if (colon == text.npos || host.find('/') != host.npos || text.substr(colon).starts_with("://"))
    return Invalid("it is no URL of a git repository");
  // A URL that is miswritten, "user:password@host/path" and "https:/host/path", would ask another host, and tell the
  // password as a path.
  if (IsScheme(ToLower(host))) return Invalid("it is no URL of a git repository, or lacks a slash");
  if (text.find('@', colon) != text.npos)
    return Invalid("it has an \"@\" behind the host, where a password has no place");
  if (!TakeUser(host, out)) return Invalid("its user is none");
  if (!ReadHost(host, out)) return Invalid("it names no host");
  out.path = text.substr(colon + 1);
  if (!IsPath(out.path)) return Invalid("its path names no repository");
  return Ok();
}

Status ReadRepository(std::string_view text, GitReference& out) {
  if (text.size() > kLongest) return Invalid("it is too long");
  for (auto [name, scheme] : {std::pair{"https://", Scheme::kHttps}, std::pair{"http://", Scheme::kHttp},
                              std::pair{"ssh://", Scheme::kSsh}}) {
    if (!text.starts_with(name)) continue;
    out.scheme = scheme;
    return ReadUrl(text.substr(std::string_view(name).size()), out);
  }
  return ReadShort(text, out);
}

// A server reads the "~" of a home at the beginning alone: git leaves out the slash before it, over ssh, and so does
// this.
void NameHome(GitReference& out) {
  if (out.scheme == Scheme::kSsh && out.path.starts_with("/~")) out.path.erase(0, 1);
}

Status ReadFolder(std::string_view text, GitReference& out) {
  const std::string all(text);
  if (text.starts_with("./")) text.remove_prefix(2);
  if (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  if (text.empty() || text == ".") return Ok();
  const auto parts = Split(text, '/');
  const bool is_plain = text.size() <= kLongest && parts.size() <= 32 &&
                        std::all_of(text.begin(), text.end(), [](unsigned char c) { return c >= ' ' && c != 0x7f; });
  const bool stays = std::none_of(parts.begin(), parts.end(),
                                  [](const std::string& part) { return part.empty() || part == "." || part == ".."; });
  if (!is_plain || !stays) {
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is no folder of a repository: write one like releases/v1, without a slash before it "
                             "and without \"..\"",
                             GoQuote(Shorten(all, 100))),
                 {}};
  }
  out.folder = text;
  return Ok();
}

}  // namespace

std::string GitReference::HostPort() const {
  const std::string name = host.find(':') == host.npos ? host : "[" + host + "]";
  return port == OwnPort(scheme) ? name : fmt::format("{}:{}", name, port);
}

std::string GitReference::ToString() const {
  const std::string behind = folder.empty() ? "" : "//" + folder;
  if (scheme != Scheme::kSsh)
    return fmt::format("{}://{}{}{}", scheme == Scheme::kHttp ? "http" : "https", HostPort(), path, behind);
  if (path.starts_with('/')) return fmt::format("ssh://{}@{}{}{}", user, HostPort(), path, behind);
  if (path.starts_with('~')) return fmt::format("ssh://{}@{}/{}{}", user, HostPort(), path, behind);
  return fmt::format("{}@{}:{}{}", user, HostPort(), path, behind);
}

Result<GitReference> ParseGitReference(const GitSource& source, std::string* field) {
  GitReference out;
  if (field != nullptr) *field = "url";
  TRY(ReadRepository(source.url, out));
  NameHome(out);
  if (field != nullptr) *field = "path";
  TRY(ReadFolder(source.path, out));
  return out;
}

}  // namespace capi::api
