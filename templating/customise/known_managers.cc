#include "templating/customise/known_managers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "templating/customise/args.h"

namespace capi::templating {
namespace {

using Series = std::pair<std::uint64_t, std::uint64_t>;

struct VerifiedSeries {
  std::string_view manager;
  std::uint64_t major, minor, first_patch, last_patch;

  Series series() const { return {major, minor}; }
  bool Covers(const api::Version& version) const {
    return version.major == major && version.minor == minor && version.patch >= first_patch &&
           version.patch <= last_patch && version.prerelease.empty() && version.build.empty();
  }
};

struct FlagRow {
  std::string_view manager, name;
  bool deprecated;
  Series first, last;
};

#include "templating/customise/known_managers.inc"

constexpr std::string_view kGates = "gates";
constexpr std::string_view kConcurrency = "-concurrency";
// How many clusters' caches are connected at once: no controller.
constexpr std::string_view kNoController = "clustercache";

// The row that tells about `version`: its own series', else the newest older one's; null for none.
const VerifiedSeries* RowFor(std::string_view manager, const api::Version& version) {
  const VerifiedSeries* best = nullptr;
  for (const VerifiedSeries& row : kVerified) {
    if (row.manager == manager && row.series() <= Series(version.major, version.minor)) best = &row;
  }
  return best;
}

bool Has(std::string_view manager, std::string_view name, const Series& series) {
  return std::any_of(std::begin(kFlags), std::end(kFlags), [&](const FlagRow& row) {
    return row.manager == manager && row.name == name && row.first <= series && series <= row.last;
  });
}

}  // namespace

std::string KnownManager::Source() const { return fmt::format("v{}.{}", series_.first, series_.second); }

bool KnownManager::HasFlag(std::string_view flag) const { return Has(provider_, FlagName(flag), series_); }

bool KnownManager::HasGate(std::string_view gate) const { return Has(kGates, gate, series_); }

std::vector<std::string> KnownManager::ConcurrencyFlags() const {
  std::vector<std::string> out;
  for (const FlagRow& row : kFlags) {
    bool has = row.manager == provider_ && row.first <= series_ && series_ <= row.last && !row.deprecated;
    if (has && row.name.ends_with(kConcurrency) && !row.name.starts_with(kNoController)) {
      out.push_back(fmt::format("--{}", row.name));
    }
  }
  return out;
}

std::optional<KnownManager> FindKnownManager(api::ProviderType type, std::string_view name,
                                             const api::Version& version) {
  std::string provider = api::ManifestLabel(type, name);
  const VerifiedSeries* row = RowFor(provider, version);
  if (row == nullptr) return std::nullopt;
  KnownManager out;
  out.provider_ = row->manager;
  out.series_ = row->series();
  out.verified_ = row->Covers(version);
  return out;
}

}  // namespace capi::templating
