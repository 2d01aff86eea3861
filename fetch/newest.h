// The newest versions of a repository that are releases (behaviour.md I3): a tag may be there before its release is, or
// without one.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fetch/repository.h"

namespace capi::fetch {

// A version, and its metadata.yaml. A value.
struct Newest {
  api::Version version;
  std::string metadata;
};

// Versions that the source says are releases; nullopt where it says no more than which versions there are.
Result<std::optional<std::vector<api::Version>>> Released(const Context& ctx, Repository& repository);

using Fits = std::function<bool(const api::Version&)>;

// The first with metadata.yaml among the five newest of `versions` that `fits` takes, stable ones before prereleases;
// nullopt where none of them has it.
Result<std::optional<Newest>> FirstWithMetadata(const Context& ctx, Repository& repository,
                                                std::vector<api::Version> versions, const Fits& fits);
// The same; where none has it, of those that the source says are releases.
Result<std::optional<Newest>> FirstReleased(const Context& ctx, Repository& repository,
                                            std::vector<api::Version> versions, const Fits& fits);

}  // namespace capi::fetch
