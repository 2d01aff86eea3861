// For what stands before another repository.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fetch/repository.h"

namespace capi::fetch {

// All that another one answers: what stands before it overrides what it changes, and forgets nothing of the rest.
// Thread-safe, as that one is.
class ForwardingRepository : public Repository {
 public:
  explicit ForwardingRepository(std::unique_ptr<Repository> repository) : inner_(std::move(repository)) {}

  std::string Describe() const override { return inner_->Describe(); }
  bool IsLocal() const override { return inner_->IsLocal(); }
  std::string ComponentsFile() const override { return inner_->ComponentsFile(); }
  Result<std::vector<api::Version>> Versions(const Context& ctx) override { return inner_->Versions(ctx); }
  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context& ctx) override {
    return inner_->ReleasedVersions(ctx);
  }
  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    return inner_->File(ctx, version, name);
  }
  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    return inner_->SignaturesOf(ctx, version, name);
  }

 protected:
  const Repository& inner() const { return *inner_; }
  Repository& inner() { return *inner_; }

 private:
  const std::unique_ptr<Repository> inner_;
};

}  // namespace capi::fetch
