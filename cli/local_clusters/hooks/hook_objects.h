// What a hook is given, and what it may change. Pure.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cli/local_clusters/manifest_folder.h"

namespace capi::cli::local_clusters {

// A stream of documents, as kubectl takes it: YAML, each written as JSON where that is the same, on one line, in which
// a value of many lines, or a long one, can be found.
std::string ToStream(const std::vector<kube::Object>& objects);

// Which object it is, where those that name no namespace are of `ns`; of a cluster's own kinds that is no namespace at
// all, but tells them apart as well.
kube::ObjectId IdIn(const kube::Object& object, const std::string& ns);

// What the hook pre-provision printed takes the place of the manifests that it changes. What names no namespace is of
// `ns`. kInvalidArgument for an object
// that isn't among them, and for what is no object; no error repeats a value.
Status TakeChanged(std::string_view printed, const std::string& ns, std::vector<Manifest>& manifests);

// "namespace/name" of every bootstrap Secret that a machine of the manifests names.
std::set<std::string> BootstrapSecrets(const std::vector<Manifest>& manifests);
// Where one that no manifest has is written back.
std::string FileOfSecret(const std::string& name);
bool IsBootstrapSecret(const kube::Object& object, const std::set<std::string>& names);

// What the hook ignition printed: bootstrap Secrets, which take the place of those of `secrets`, or are added. Those of
// `begun`, of machines that are there, are passed over. Which it were. kInvalidArgument for any other object, by its
// name alone.
Result<std::set<kube::ObjectId>> TakeSecrets(std::string_view printed, const std::set<std::string>& names,
                                             const std::set<std::string>& begun, std::vector<Manifest>& secrets);

}  // namespace capi::cli::local_clusters
