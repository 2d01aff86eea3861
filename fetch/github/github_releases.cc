#include "fetch/github/github_releases.h"

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

constexpr size_t kMostAssets = 1000;     // of a release, as GitHub has it
constexpr size_t kMostBytes = 1u << 20;  // of what is kept of an answer: a hundred releases take a fifth of it

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
  Reader(int top, std::function<bool(std::string_view)> wanted, const std::function<void(const ListedRelease&)>& visit)
      : top_(top), wanted_(std::move(wanted)), visit_(visit) {}

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
      if (assets_.size() > kMostAssets || !wanted_(name)) return;
      Asset asset{GetInt(value, {"id"}), GetInt(value, {"size"}, -1), GetString(value, {"digest"})};
      assets_.emplace(std::move(name), std::move(asset));
    } else if (depth == kRelease) {
      visit_({GetString(value, {"tag_name"}), GetBool(value, {"draft"}), std::exchange(assets_, {})});
    }
  }

  const int top_;
  const std::function<bool(std::string_view)> wanted_;
  const std::function<void(const ListedRelease&)>& visit_;
  std::map<std::string, Asset> assets_;  // of the release that is being read
};

std::function<bool(std::string_view)> AnyOf(const std::vector<std::string>& files) {
  return [&files](std::string_view name) { return std::find(files.begin(), files.end(), name) != files.end(); };
}

Json JsonOf(const ListedRelease& release) {
  Json assets = Json::array();
  for (const auto& [name, asset] : release.assets) {
    assets.push_back({{"name", name}, {"id", asset.id}, {"size", asset.size}, {"digest", asset.digest}});
  }
  return {{"tag_name", release.tag}, {"draft", release.draft}, {"assets", std::move(assets)}};
}

Result<Json> Read(std::string_view text, Reader reader) {
  return ParseJson(text, [&](int depth, Event event, Json& value) { return reader.Keep(depth, event, value); });
}

}  // namespace

Status ReadReleases(std::string_view list, const std::vector<std::string>& files,
                    const std::function<void(const ListedRelease&)>& visit) {
  Json left = TRY(Read(list, Reader(kList, AnyOf(files), visit)));
  if (!left.is_array()) return Error{Code::kInvalidArgument, "the answer is no list of releases", {}};
  return Ok();
}

Result<ListedRelease> ReadRelease(std::string_view text, const std::vector<std::string>& files) {
  ListedRelease release;
  const std::function<void(const ListedRelease&)> take = [&release](const ListedRelease& read) { release = read; };
  Json left = TRY(Read(text, Reader(kRelease, AnyOf(files), take)));
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

// Written release by release: nothing of an answer is a tree, whatever it is made of.
Result<std::string> Shortened(std::string_view answer) {
  const bool is_list = Trim(answer.substr(0, 100)).starts_with('[');
  std::string kept;
  kept.reserve(std::min(answer.size(), kMostBytes));
  bool too_large = false;
  const std::function<void(const ListedRelease&)> write = [&](const ListedRelease& release) {
    if (too_large) return;
    const std::string text = ToJsonText(JsonOf(release));
    too_large = kept.size() + text.size() >= kMostBytes || release.assets.size() > kMostAssets;
    if (!kept.empty()) kept += ',';
    if (!too_large) kept += text;
  };
  Json left = TRY(Read(answer, Reader(is_list ? kList : kRelease, IsKept, write)));
  if (too_large) return Error{Code::kInvalidArgument, "the answer names more than any repository has", {}};
  if (!left.is_structured()) return Error{Code::kInvalidArgument, "the answer is neither a release nor a list", {}};
  return is_list ? "[" + kept + "]" : kept;
}

}  // namespace capi::fetch
