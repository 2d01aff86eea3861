#include "fetch/github_releases.h"

#include <algorithm>
#include <utility>

#include "api/release.h"
#include "base/json_filter.h"
#include "base/strings.h"

namespace capi::fetch {
namespace {

using Event = Json::parse_event_t;

// How deep the parts of a list of releases are. Their members are one deeper.
constexpr int kList = 0, kRelease = 1, kAssets = 2, kAsset = 3;

bool IsWanted(int depth, std::string_view name) {
  if (depth == kRelease) return name == "tag_name" || name == "draft" || name == "assets";
  return depth == kAsset && (name == "name" || name == "id" || name == "size" || name == "digest");
}

// Whether a value is read, as it begins.
bool IsRead(int depth, Event event, const Json& value) {
  switch (event) {
    case Event::array_start: return depth == kList || depth == kAssets;
    case Event::object_start: return depth == kRelease || depth == kAsset;
    case Event::key: return IsWanted(depth - 1, value.get_ref<const std::string&>());
    case Event::value: return depth - 1 == kRelease || depth - 1 == kAsset;
    case Event::object_end:
    case Event::array_end: break;
  }
  return true;
}

// Asked by the parser for each value. Takes a release or an asset when it is complete, and drops it from the tree.
// Thread-compatible.
class Reader {
 public:
  // `top`: how deep the answer itself is, kList or kRelease.
  Reader(int top, const std::vector<std::string>& files, const std::function<void(const ListedRelease&)>& visit)
      : top_(top), files_(files), visit_(visit) {}

  bool Keep(int depth, Event event, const Json& value) {
    depth += top_;
    if (event != Event::object_end) return IsRead(depth, event, value);
    Take(depth, value);
    return depth == top_;
  }

 private:
  void Take(int depth, const Json& value) {
    if (depth == kAsset) {
      std::string name = GetString(value, {"name"});
      if (std::find(files_.begin(), files_.end(), name) == files_.end()) return;
      Asset asset{GetInt(value, {"id"}), GetInt(value, {"size"}, -1), GetString(value, {"digest"})};
      assets_.emplace(std::move(name), std::move(asset));
    } else if (depth == kRelease) {
      visit_({GetString(value, {"tag_name"}), GetBool(value, {"draft"}), std::exchange(assets_, {})});
    }
  }

  const int top_;
  const std::vector<std::string>& files_;
  const std::function<void(const ListedRelease&)>& visit_;
  std::map<std::string, Asset> assets_;  // of the release that is being read
};

Result<Json> Read(std::string_view text, Reader reader) {
  return ParseJson(text, [&](int depth, Event event, Json& value) { return reader.Keep(depth, event, value); });
}

}  // namespace

Status ReadReleases(std::string_view list, const std::vector<std::string>& files,
                    const std::function<void(const ListedRelease&)>& visit) {
  Json left = TRY(Read(list, Reader(kList, files, visit)));
  if (!left.is_array()) return Error{Code::kInvalidArgument, "the answer is no list of releases", {}};
  return Ok();
}

Result<ListedRelease> ReadRelease(std::string_view text, const std::vector<std::string>& files) {
  ListedRelease release;
  const std::function<void(const ListedRelease&)> take = [&release](const ListedRelease& read) { release = read; };
  Json left = TRY(Read(text, Reader(kRelease, files, take)));
  if (!left.is_object()) return Error{Code::kInvalidArgument, "the answer is no release", {}};
  return release;
}

bool IsKept(std::string_view asset) {
  for (std::string_view suffix : api::kSignatureSuffixes) {
    if (!asset.ends_with(suffix)) continue;
    asset.remove_suffix(suffix.size());
    break;
  }
  return asset.ends_with(".yaml") || asset.ends_with(".yml");
}

Result<std::string> Shortened(std::string_view answer) {
  const int top = Trim(answer.substr(0, 100)).starts_with('[') ? kList : kRelease;
  const Json kept = TRY(ParseJson(answer, [top](int depth, Event event, Json& value) {
    depth += top;
    if (event == Event::object_end && depth == kAsset) return IsKept(GetString(value, {"name"}));
    return IsRead(depth, event, value);
  }));
  return ToJsonText(kept);
}

}  // namespace capi::fetch
