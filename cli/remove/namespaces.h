// The Namespaces of providers: what else is in those that are to go, and the note of which providers are on their way
// out.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/context.h"
#include "cli/remove/targets.h"
#include "kube/client/client.h"

namespace capi::cli {

// default and kube-*: nobody's to delete.
bool IsOfKubernetes(const std::string& ns);

// What may be in a Namespace that goes. A value.
struct NamespaceOwners {
  std::vector<Target> targets;  // the providers in it
  bool with_operator = false;   // the operator lives there, and goes
};

// Of the objects of a Namespace those that are somebody else's, by name (L22). What is told to be of the providers,
// with what their objects own and what controllers put into each namespace, is added to `known` by its uid, and is
// theirs from then on: its owner may be gone when it is looked at again. Pure.
std::vector<std::string> Strangers(const std::vector<kube::Object>& objects, const NamespaceOwners& owners,
                                   std::set<std::string>& known);

// The note that a provider is being deleted (docs/formats.md), on its Namespace: by it a run that was broken off is
// completed by the same command though the provider itself is gone. Ok where there is no such Namespace.
Status NoteDeletion(const Context& ctx, kube::Client& client, const Target& target, bool going);
// Of Namespaces as the server has them. Pure.
std::vector<NotedProvider> NotedDeletions(const std::vector<kube::Object>& namespaces);

}  // namespace capi::cli
