#include "local/programs/image_user.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <limits>

#include "api/text.h"
#include "base/files.h"
#include "base/strings.h"

namespace capi::local {
namespace {

constexpr size_t kMostBytes = 1u << 20;

bool ReadId(std::string_view text, std::uint64_t& out) {
  return api::AllDigits(text) && api::ParseUint(text, out) && out < std::numeric_limits<uid_t>::max();
}

// The line "NAME:x:ID:..." of a file: its parts; empty where it has none of that name.
std::vector<std::string> LineOf(const std::string& file, std::string_view name, size_t column) {
  auto text = ReadFile(file, kMostBytes);
  if (!text.ok()) return {};
  for (const std::string& line : Split(*text, '\n')) {
    std::vector<std::string> parts = Split(line, ':');
    if (parts.size() > 3 && parts[column] == name) return parts;
  }
  return {};
}

}  // namespace

Result<std::optional<Program::UserIds>> UserOf(const std::string& user, const std::string& root) {
  if (user.empty()) return std::optional<Program::UserIds>();
  const size_t colon = user.find(':');
  const std::string name = user.substr(0, colon), group = colon == user.npos ? "" : user.substr(colon + 1);
  std::uint64_t uid = 0, gid = 0;
  const bool number = ReadId(name, uid);
  const auto line = LineOf(root + "/etc/passwd", name, number ? 2 : 0);
  const bool known = !line.empty() && ReadId(line[2], uid) && ReadId(line[3], gid);
  if (!known && !number)
    return Error{Code::kNotFound,
                 fmt::format("the image names the user {}, whom its etc/passwd doesn't have", api::GoQuote(name)),
                 {}};
  if (!group.empty() && !ReadId(group, gid)) {
    const auto entry = LineOf(root + "/etc/group", group, 0);
    if (entry.empty() || !ReadId(entry[2], gid))
      return Error{Code::kNotFound,
                   fmt::format("the image names the group {}, which its etc/group doesn't have", api::GoQuote(group)),
                   {}};
  }
  return std::optional(Program::UserIds{static_cast<uid_t>(uid), static_cast<gid_t>(gid)});
}

bool MayStart(const Program::UserIds& ids, const std::string& path) {
  if (ids.user == 0) return true;
  auto may = [&](const std::string& one, mode_t bits) {
    struct stat info {};
    if (stat(one.c_str(), &info) != 0) return false;
    const unsigned shift = info.st_uid == ids.user ? 6 : info.st_gid == ids.group ? 3 : 0;
    return ((info.st_mode >> shift) & bits) == bits;
  };
  constexpr mode_t kEnter = 1, kReadAndExecute = 5;
  for (size_t slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    if (!may(slash == 0 ? "/" : path.substr(0, slash), kEnter)) return false;
  }
  return may(path, kReadAndExecute);
}

}  // namespace capi::local
