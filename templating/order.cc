#include "templating/order.h"

#include <algorithm>

#include "kube/meta/kind.h"

namespace capi::templating {
namespace {

enum class Rank { kNamespace, kCertManager, kRest };

Rank RankOf(const kube::Object& object) {
  if (IsNamespace(object)) return Rank::kNamespace;
  return object.group_version().group == "cert-manager.io" ? Rank::kCertManager : Rank::kRest;
}

}  // namespace

void SortForCreation(std::vector<kube::Object>& objects) {
  std::stable_sort(objects.begin(), objects.end(),
                   [](const kube::Object& a, const kube::Object& b) { return RankOf(a) < RankOf(b); });
  auto is_not = [](Rank rank) { return [rank](const kube::Object& object) { return RankOf(object) != rank; }; };
  auto first = std::find_if(objects.begin(), objects.end(), is_not(Rank::kNamespace));
  auto last = std::find_if(first, objects.end(), is_not(Rank::kCertManager));
  std::reverse(first, last);
}

}  // namespace capi::templating
