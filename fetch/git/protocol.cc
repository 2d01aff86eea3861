#include "fetch/git/protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/strings.h"
#include "fetch/pkt_line.h"

namespace capi::fetch {
namespace {

using Kind = PktLine::Kind;

constexpr std::string_view kTagsPrefix = "refs/tags/";
constexpr size_t kMostTags = 200'000;
constexpr std::string_view kAgent = "agent=capi-operator";

Error NoGit(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("what answers is no git server: {}", why), {}};
}

// The words aren't shown: what was sent to the server could stand in them.
Error Refused(Code code) { return Error{code, "the git server refuses what it is asked for", {}}; }

Error Unsupported(std::string_view why) { return Error{Code::kUnsupported, std::string(why), {}}; }

Result<PktLine> Take(std::string_view& text) {
  auto line = TakePktLine(text);
  if (!line.ok()) return NoGit(line.error().message);
  if (line->text.starts_with("ERR ")) return Refused(Code::kInvalidArgument);
  return line;
}

bool Names(std::string_view capabilities, std::string_view one) {
  const auto all = Split(capabilities, ' ');
  return std::find(all.begin(), all.end(), one) != all.end();
}

constexpr std::string_view kNoShallow = "the git server can't give one commit without its history (shallow)";
constexpr std::string_view kSha256 =
    "the repository names its objects by SHA-256, which isn't supported: use one of SHA-1";

Status ReadCapability(std::string_view line, GitServer& server, bool& fetches) {
  if (line.starts_with("object-format=")) {
    if (line != "object-format=sha1") return Unsupported(kSha256);
    server.names_hash = true;
  }
  constexpr std::string_view kFetch = "fetch=";
  if (line.starts_with(kFetch)) {
    line.remove_prefix(kFetch.size());
    if (!Names(line, "shallow")) return Unsupported(kNoShallow);
    server.filters = Names(line, "filter");
    fetches = true;
  }
  return Ok();
}

Status ReadCapabilities(std::string_view text, GitServer& server) {
  bool fetches = false;
  while (true) {
    const PktLine line = TRY(Take(text));
    if (line.kind == Kind::kFlush) break;
    if (line.kind != Kind::kText) return NoGit("it says something else than what it can do");
    TRY(ReadCapability(line.words(), server, fetches));
  }
  if (!text.empty()) return NoGit("it goes on behind its end");
  if (!fetches) return Unsupported(kNoShallow);
  return Ok();
}

// "{id} {name}" with more behind it; nullopt for what is none.
std::optional<std::pair<ObjectId, std::string_view>> RefIn(std::string_view line) {
  const size_t space = std::min(line.find(' '), line.size());
  const auto id = IdFromHex(line.substr(0, space));
  if (!id || space == line.size()) return std::nullopt;
  line.remove_prefix(space + 1);
  return std::pair{*id, line.substr(0, line.find_first_of(std::string_view(" \0", 2)))};
}

Status AddTag(std::string_view line, GitTags& tags) {
  const auto ref = RefIn(line);
  if (!ref) return line.starts_with("unborn ") ? Ok() : Status(NoGit("a line names nothing"));
  std::string_view name = ref->second;
  if (!name.starts_with(kTagsPrefix) || name.ends_with("^{}")) return Ok();
  if (tags.size() >= kMostTags) return NoGit("it has more tags than any repository");
  tags.emplace(name.substr(kTagsPrefix.size()), ref->first);
  return Ok();
}

// What a server of version 0 can do stands behind the first ref.
Status CheckCapabilities(std::string_view line, GitServer& server) {
  const size_t end = line.find('\0');
  if (end == line.npos) return NoGit("it doesn't say what it can do");
  // An object's name of the other length says the same.
  if (line.find("object-format=sha256") != line.npos || line.find(' ') == 64) return Unsupported(kSha256);
  const std::string_view all = line.substr(end + 1);
  if (!Names(all, "shallow")) return Unsupported(kNoShallow);
  for (const char* word : {"multi_ack_detailed", "multi_ack"}) {
    if (server.multi_ack.empty() && Names(all, word)) server.multi_ack = word;
  }
  if (!Names(all, "side-band-64k")) return Unsupported("the git server is too old (side-band-64k)");
  return Ok();
}

Status ReadRefs(std::string_view first, std::string_view text, GitServer& server) {
  TRY(CheckCapabilities(first, server));
  std::string_view line = first;
  while (true) {
    if (!line.starts_with("shallow ")) TRY(AddTag(line, server.tags));
    const PktLine next = TRY(Take(text));
    if (next.kind == Kind::kFlush) break;
    if (next.kind != Kind::kText) return NoGit("it says something else than what it has");
    line = next.words();
  }
  if (!text.empty()) return NoGit("it goes on behind its end");
  return Ok();
}

}  // namespace

Result<GitServer> ReadGitServer(std::string_view text, bool over_http) {
  GitServer server;
  PktLine line = TRY(Take(text));
  if (over_http && line.words() == "# service=git-upload-pack") {
    line = TRY(Take(text));
    if (line.kind != Kind::kFlush) return NoGit("it doesn't begin as one");
    line = TRY(Take(text));
  }
  if (line.kind == Kind::kFlush) return NoGit("it has nothing at all, not even a branch");  // of version 0
  if (line.kind != Kind::kText) return NoGit("it doesn't begin as one");
  server.speaks_v2 = line.words() == "version 2";
  if (server.speaks_v2) {
    TRY(ReadCapabilities(text, server));
    return server;
  }
  if (line.words() == "version 1") line = TRY(Take(text));
  TRY(ReadRefs(line.words(), text, server));
  return server;
}

std::string AskForTags(const GitServer& server) {
  std::string out = AsPktLine("command=ls-refs\n");
  out += AsPktLine(kAgent);
  if (server.names_hash) out += AsPktLine("object-format=sha1");
  out += kPktDelimiter;
  out += AsPktLine(fmt::format("ref-prefix {}\n", kTagsPrefix));
  out += kPktFlush;
  return out;
}

Result<GitTags> ReadGitTags(std::string_view answer) {
  GitTags tags;
  while (true) {
    const PktLine line = TRY(Take(answer));
    if (line.kind == Kind::kFlush) break;
    if (line.kind != Kind::kText) return NoGit("it lists something else than tags");
    TRY(AddTag(line.words(), tags));
  }
  if (!answer.empty()) return NoGit("it goes on behind its end");
  return tags;
}

std::string AskForObjects(const GitServer& server, const GitWants& wants) {
  std::string out;
  if (server.speaks_v2) {
    out = AsPktLine("command=fetch") + AsPktLine(kAgent);
    if (server.names_hash) out += AsPktLine("object-format=sha1");
    out += kPktDelimiter;
    out += AsPktLine("no-progress") + AsPktLine("ofs-delta");
  }
  std::string capabilities = server.speaks_v2
                                 ? ""
                                 : fmt::format("{}{} side-band-64k ofs-delta shallow no-progress {}",
                                               server.multi_ack.empty() ? "" : " ", server.multi_ack, kAgent);
  for (const ObjectId& id : wants.ids) {
    out += AsPktLine(fmt::format("want {}{}\n", ToHex(id), capabilities));
    capabilities.clear();
  }
  if (wants.without_history) out += AsPktLine("deepen 1\n");
  if (wants.without_files && server.filters) out += AsPktLine("filter blob:none\n");
  if (!server.speaks_v2) return out + std::string(kPktFlush) + AsPktLine("done\n");
  return out + AsPktLine("done\n") + std::string(kPktFlush);
}

int SectionsOfObjects(const GitServer& server, const GitWants& wants) {
  return !server.speaks_v2 && wants.without_history ? 2 : 1;
}

Status KeepPack(std::string& answer) {
  // Each piece goes to the front of the same text: there is no room for a second one.
  std::string_view rest = answer;
  size_t kept = 0;
  bool begun = false;
  while (true) {
    auto line = TakePktLine(rest);
    if (!line.ok()) return Error{Code::kUnavailable, "what the git server sends is cut off", {}};
    // It has named the tag before: it has too much to do, or the tag was moved meanwhile.
    if (line->text.starts_with("ERR ")) return Refused(Code::kUnavailable);
    if (line->kind == Kind::kFlush && begun) break;
    if (line->kind != Kind::kText || line->text.empty()) continue;
    const char channel = line->text.front();
    if (channel == 3) return Refused(Code::kUnavailable);
    if (channel != 1) continue;  // what is said before it, and of its progress
    begun = true;
    std::memmove(answer.data() + kept, line->text.data() + 1, line->text.size() - 1);
    kept += line->text.size() - 1;
  }
  answer.resize(kept);
  return Ok();
}

}  // namespace capi::fetch
