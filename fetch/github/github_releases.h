// What GitHub's API says of releases. Of an answer only what is asked for is kept, as it is read: a page with a hundred
// releases is 6 MB of text, most of it notes and assets, which would take several times as much in memory (F2).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace capi::fetch {

// A value.
struct Asset {
  std::int64_t id = 0;
  std::int64_t size = -1;  // -1 where unknown
  std::string digest;      // "sha256:<hex>" or ""
};

// A value.
struct ListedRelease {
  std::string tag;
  bool draft = false;
  std::map<std::string, Asset> assets;  // by name, of those that were asked for
};

// The releases of a list, one after the other, with those of their assets that are in `files`. kInvalidArgument for
// what is no such list; some of its releases may have been visited by then.
Status ReadReleases(std::string_view list, const std::vector<std::string>& files,
                    const std::function<void(const ListedRelease&)>& visit);

// The same of an answer that is one release.
Result<ListedRelease> ReadRelease(std::string_view text, const std::vector<std::string>& files);

// Whether Shortened keeps assets of that name: what may be a release's file, or lie beside one to verify it by (T14).
bool IsKept(std::string_view asset);

// An answer of either kind, with what is read of it alone, of all assets that IsKept says. kInvalidArgument for what is
// neither, and for more than any repository has.
Result<std::string> Shortened(std::string_view answer);

}  // namespace capi::fetch
