// Where API servers read whom to trust as our webhook: CustomResourceDefinitions and webhook configurations.
#pragma once

#include <optional>
#include <string_view>

#include "kube/meta/object.h"
#include "kube/meta/resource.h"

namespace capi::ops {

// The annotation that has another injector, cert-manager's, fill in whom to trust; "" for none.
std::string_view OtherInjector(const kube::Object& target);

// What a server-side apply has to say so that all webhooks of `target` are trusted by `bundle_pem`, and nothing else;
// with the target's uid, so that one that is gone isn't made. nullopt where it says so already, calls no webhook, or is
// another injector's to fill. Pure.
std::optional<kube::Object> InjectionFor(const kube::Resource& resource, const kube::Object& target,
                                         std::string_view bundle_pem);

}  // namespace capi::ops
