#include "local/plane/settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/files.h"
#include "base/json.h"
#include "local/programs/named.h"

namespace capi::local {
namespace {

struct Field {
  const char* name;
  std::vector<std::string> Settings::*list;
};
constexpr Field kLists[] = {
    {"binaries", &Settings::binaries}, {"builds", &Settings::builds}, {"environment", &Settings::environment}};

void Merge(std::vector<std::string>& there, const std::vector<std::string>& asked) {
  for (const std::string& entry : asked) {
    std::erase_if(there, [&](const std::string& one) { return ImageOf(one) == ImageOf(entry); });
    if (!IsTakenBack(entry)) there.push_back(entry);
  }
  std::sort(there.begin(), there.end());
}

}  // namespace

bool IsTakenBack(const std::string& entry) { return entry.ends_with('=') && entry.find('=') + 1 == entry.size(); }

Result<Settings> ReadSettings(const std::string& path) {
  auto text = ReadFile(path, 1u << 20);
  if (!text.ok() && text.code() == Code::kNotFound) return Settings();
  if (!text.ok()) return text.error();
  const Json json = TRY_WITH(ParseJson(*text), path);
  Settings out;
  out.programs = GetString(json, {"programs"});
  for (const Field& field : kLists) {
    const Json* list = Find(json, {field.name});
    if (list == nullptr || !list->is_array())
      return Error{Code::kInvalidArgument, fmt::format("{}: {} is no list", path, field.name), {}};
    for (const Json& entry : *list) {
      if (!entry.is_string())
        return Error{Code::kInvalidArgument, fmt::format("{}: {} has what is no text", path, field.name), {}};
      (out.*field.list).push_back(entry.get<std::string>());
    }
  }
  return out;
}

Status WriteSettings(const std::string& path, const Settings& settings) {
  Json json = {{"programs", settings.programs}};
  for (const Field& field : kLists) json[field.name] = settings.*field.list;
  return WriteFile(path, json.dump(2) + "\n", 0600);
}

Settings Merged(const Settings& there, const Settings& asked) {
  Settings out = there;
  if (!asked.programs.empty()) out.programs = asked.programs == kUsualPlaces ? "" : asked.programs;
  for (const Field& field : kLists) Merge(out.*field.list, asked.*field.list);
  return out;
}

std::vector<std::string> TakenBackInVain(const Settings& there, const Settings& asked) {
  std::vector<std::string> out;
  auto add = [&out](const std::string& flag, const std::vector<std::string>& named,
                    const std::vector<std::string>& entries) {
    for (const std::string& entry : entries) {
      const bool is_named = std::any_of(named.begin(), named.end(),
                                        [&](const std::string& one) { return ImageOf(one) == ImageOf(entry); });
      if (IsTakenBack(entry) && !is_named) out.push_back(fmt::format("{} {}", flag, entry));
    }
  };
  add("--binary", there.binaries, asked.binaries);
  add("--build", there.builds, asked.builds);
  return out;
}

}  // namespace capi::local
