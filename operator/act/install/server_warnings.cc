#include "operator/act/install/server_warnings.h"

#include <fmt/core.h>

#include <algorithm>

#include "api/reasons.h"

namespace capi::ops {
namespace {

constexpr size_t kMostOfObject = 10, kInFull = 10;

bool WasSent(const kube::Change& change) {
  return change.action == kube::Change::Action::kCreated || change.action == kube::Change::Action::kConfigured;
}

}  // namespace

bool ServerWarnings::Note(const std::string& provider, const std::vector<kube::Change>& changes,
                          const kube::Inventory& inventory) {
  MutexLock lock(mu_);
  bool sent = std::any_of(changes.begin(), changes.end(), WasSent);
  if (!sent && !warnings_.contains(provider)) return false;
  Warnings& known = warnings_[provider];
  for (const kube::Change& change : changes) {
    if (!WasSent(change)) continue;
    known.erase(change.id);
    if (change.warnings.empty()) continue;
    std::vector<std::string> texts = change.warnings;
    if (texts.size() > kMostOfObject) texts.resize(kMostOfObject);
    known[change.id] = std::move(texts);
  }
  std::erase_if(known, [&](const auto& item) {
    const kube::InventoryEntry* entry = inventory.Find(item.first);
    return entry == nullptr || entry->stale;
  });
  return true;
}

void ServerWarnings::AddTo(const std::string& provider, std::vector<std::string>& warnings) const {
  MutexLock lock(mu_);
  auto known = warnings_.find(provider);
  if (known == warnings_.end()) return;
  size_t count = 0;
  for (const auto& [id, texts] : known->second) {
    for (const std::string& text : texts) {
      if (++count <= kInFull) warnings.push_back(fmt::format("{}: {}", id.ToString(), text));
    }
  }
  if (count > kInFull) warnings.push_back(fmt::format("{} more warnings of the API server", count - kInFull));
}

void ServerWarnings::Forget(const std::string& provider) {
  MutexLock lock(mu_);
  warnings_.erase(provider);
}

bool AreTold(const api::ProviderStatus& status, const std::vector<std::string>& warnings) {
  const auto* told = kube::FindCondition(status.conditions, api::condition::kWarnings);
  if (told == nullptr) return false;
  return std::all_of(warnings.begin(), warnings.end(),
                     [&](const std::string& warning) { return told->message.find(warning) != std::string::npos; });
}

}  // namespace capi::ops
