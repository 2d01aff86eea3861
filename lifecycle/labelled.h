// The objects of a provider, found by the two labels that clusterctl puts on what it installs, and those beside them.
#pragma once

#include <vector>

#include "api/kinds.h"
#include "base/context.h"
#include "kube/client/client.h"

namespace capi::lifecycle {

// Metadata alone. A value.
struct LabelledObjects {
  std::vector<kube::Object> items;  // one that the server has under two groups is there twice, with one uid
  std::vector<std::string> unread;  // what can't be read now, in words: kinds of other providers' CRDs, groups
};

// The two labels, of this provider.
std::string SelectorOf(const api::ProviderId& id);

// Of all kinds that the server can list and delete, but for those of the provider's own CRDs: these are users' objects.
// Kinds of other providers' CRDs are read at a version that they are stored at, since nobody may be there to convert
// them. Of a kind with namespaces those in the provider's own. Nothing is asked of a group whose server doesn't answer.
// An error where another kind can't be listed: it must not be taken for one without objects.
Result<LabelledObjects> ListLabelled(const Context& ctx, kube::Client& client, const api::ProviderId& id);

// Metadata of all that is in a namespace, of all kinds that the server can list and delete. An error where
// one can't be, or the server of a group doesn't answer.
Result<std::vector<kube::Object>> ListInNamespace(const Context& ctx, kube::Client& client, const std::string& ns);

// What a selector finds, whole, in all namespaces: of all kinds that the server can list and delete, but for those that
// CRDs bring; each object once, under Kubernetes' own group where the server has it under two. Nothing is asked of a
// group whose server doesn't answer.
Result<std::vector<kube::Object>> ListBuiltIn(const Context& ctx, kube::Client& client, const std::string& selector);

// The provider's CRDs, whole.
Result<std::vector<kube::Object>> ListCrds(const Context& ctx, kube::Client& client, const api::ProviderId& id);

}  // namespace capi::lifecycle
