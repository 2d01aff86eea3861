// How a release lies in the cluster: the names, labels and contents of its ConfigMaps (behaviour.md I6, I14). Pure.
//
// Format: docs/formats.md, "Release ConfigMap". Names, labels and keys are those of existing tools, so that preloaded
// and air-gapped sets work unchanged.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/kinds.h"
#include "api/release.h"
#include "kube/meta/object.h"

namespace capi::api {

inline constexpr std::string_view kAnnotationParts = "operator.cluster.x-k8s.io/parts";
// The first characters of the SHA-256 of all parts together; further parts have them in their names.
inline constexpr std::string_view kAnnotationPartsDigest = "operator.cluster.x-k8s.io/parts-digest";
inline constexpr std::string_view kLabelPartOf = "operator.cluster.x-k8s.io/part-of";

// "infrastructure-aws-v2.0.2".
std::string ReleaseName(ProviderType type, std::string_view name, const Version& version);
// By these all releases of a provider are selected.
std::map<std::string, std::string> ReleaseSelector(const ProviderId& id);
// The value of label provider.cluster.x-k8s.io/version.
std::string ReleaseVersionLabel(const std::string& version);

// Names further parts: those of another content have other names, so that it can be written beside them. Without a
// digest: as earlier versions of the operator wrote them.
std::string ReleasePartName(std::string_view name, std::string_view digest, size_t number);
std::string ReleasePartsDigest(std::string_view packed);
bool IsReleasePartsDigest(std::string_view text);

// The ConfigMaps of a release in the provider's namespace: the first one carries `labels` and metadata, the others
// further parts, which are to be written before it. Plain up to 1 MiB, gzip above, in parts above that.
std::vector<kube::Object> PackRelease(const ProviderId& id, const Release& release,
                                      const std::map<std::string, std::string>& labels);

}  // namespace capi::api
