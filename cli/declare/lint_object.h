// What can be said of one Provider object by looking at it alone: what the API server and the operator's webhook would.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/types.h"
#include "cli/declare/manifest_files.h"

namespace capi::cli {

// Whether a registry says where this provider's releases are (api::Validate).
using IsKnown = std::function<bool(const api::ProviderId& id)>;

// "InfrastructureProvider capa-system/aws": the object of a finding.
std::string NameOf(const kube::Object& object);

// A Provider object of the files. A value.
struct DeclaredProvider {
  Document document;
  api::Provider provider;    // as v1alpha2
  bool old_version = false;  // written as v1alpha1
  std::string Name() const;  // NameOf
  // Of a path of v1alpha2, wherever v1alpha1 has that field.
  YamlPlace PlaceOfPath(std::string_view path) const;
  Finding At(std::string_view path, std::string_view rule, std::string message) const;
};

// Whether the document is one of the seven kinds of this project's API, in whatever version.
bool IsProvider(const kube::Object& object);

// What is wrong with an object that looks as if it were one and isn't; "" for any other.
std::string MistakenKind(const kube::Object& object);

// Appends what is wrong with it. nullopt where it can't be read any further.
std::optional<DeclaredProvider> LintObject(const Document& document, const IsKnown& known, std::vector<Finding>& out);

}  // namespace capi::cli
