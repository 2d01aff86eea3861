#include "cli/cert_manager/decision.h"

#include <fmt/format.h>

#include <algorithm>
#include <compare>

#include "api/text.h"
#include "api/version.h"
#include "base/strings.h"
#include "lifecycle/plan/removal.h"
#include "templating/customise/images.h"

namespace capi::cli {
namespace {

// Of what clusterctl installed before it wrote versions down.
constexpr std::string_view kBeforeVersions = "v0.11.0";
constexpr std::string_view kFormerAnnotation = "certmanager.clusterctl.cluster.x-k8s.io/version";

// Of parts of build metadata: numbers by their size; of texts nobody knows which is the newer one.
std::partial_ordering CompareIdentifiers(const std::string& a, const std::string& b) {
  std::uint64_t first = 0, second = 0;
  bool a_number = api::AllDigits(a) && api::ParseUint(a, first),
       b_number = api::AllDigits(b) && api::ParseUint(b, second);
  if (a_number != b_number) return a_number ? std::partial_ordering::less : std::partial_ordering::greater;
  if (a_number) return first <=> second;
  return a == b ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
}

std::partial_ordering CompareBuilds(const std::string& a, const std::string& b) {
  std::vector<std::string> as = Split(a, '.'), bs = Split(b, '.');
  for (size_t i = 0; i < std::min(as.size(), bs.size()); ++i) {
    auto order = CompareIdentifiers(as[i], bs[i]);
    if (order != std::partial_ordering::equivalent) return order;
  }
  return as.size() <=> bs.size();
}

std::partial_ordering Compare(const api::Version& a, const api::Version& b) {
  auto order = a <=> b;
  return order == 0 ? CompareBuilds(a.build, b.build) : std::partial_ordering(order);
}

std::vector<std::string> SortedImages(const std::vector<kube::Object>& objects) {
  std::vector<std::string> images = templating::ListImages(objects);
  std::sort(images.begin(), images.end());
  return images;
}

std::string VersionOf(const kube::Object& object) {
  std::string version = object.annotation(kCertManagerVersionAnnotation);
  return version.empty() ? object.annotation(kFormerAnnotation) : version;
}

}  // namespace

Result<CertManagerDecision> DecideCertManager(const std::string& desired, const std::vector<kube::Object>& installed,
                                              const std::vector<kube::Object>& to_install) {
  auto wanted = TRY_WITH(api::Version::ParseTolerant(desired),
                         fmt::format("failed to parse config version [{}] for cert-manager component", desired));
  std::vector<kube::Object> relevant;
  std::copy_if(installed.begin(), installed.end(), std::back_inserter(relevant),
               [](const kube::Object& one) { return !lifecycle::IsGenerated(one.id()); });
  bool same = relevant.size() == to_install.size() && SortedImages(relevant) == SortedImages(to_install);
  CertManagerDecision out;
  for (const kube::Object& object : relevant) {
    out.from = VersionOf(object);
    if (out.from.empty()) return CertManagerDecision{std::string(kBeforeVersions), true};
    auto version =
        TRY_WITH(api::Version::ParseTolerant(out.from),
                 fmt::format("failed to parse version for cert-manager component {}/{}", object.kind(), object.name()));
    auto order = Compare(version, wanted);
    bool lower = order == std::partial_ordering::less || order == std::partial_ordering::unordered;
    out.upgrade = lower || (order == std::partial_ordering::equivalent && !same);
    if (out.upgrade) return out;
  }
  return out;
}

}  // namespace capi::cli
