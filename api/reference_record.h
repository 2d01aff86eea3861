// The record of who was found to be allowed a provider's references into other namespaces: the value of its annotation
// operator.cluster.x-k8s.io/allowed-references (behaviour.md T1; docs/formats.md, "Allowed references"). Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/validate/validate.h"

namespace capi::api {

// The record that `user` may have these references in this provider. `key`: the installation's, at least 32 random
// bytes; who doesn't have it can't make a record, nor use one for another object, user or set of references.
std::string MakeReferenceRecord(std::string_view key, const ProviderId& provider,
                                const std::vector<ForeignReference>& references, std::string_view user);

// Whether `record` was made with `key` for this provider and exactly these references, in any order. False for
// whatever else an annotation holds.
bool RecordCovers(std::string_view record, std::string_view key, const ProviderId& provider,
                  const std::vector<ForeignReference>& references);

}  // namespace capi::api
