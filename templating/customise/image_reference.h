// A container image's name in its canonical form.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::templating {

// "registry.k8s.io/cluster-api/controller:v1@sha256:..." in parts. A value.
struct ImageReference {
  std::string repository;  // everything before the last path element: "registry.k8s.io/cluster-api"
  std::string name;        // "controller"
  std::string tag;         // "" for none
  std::string digest;      // "sha256:...", or ""

  // kInvalidArgument for what is no reference, and for one that leaves the registry to a default ("nginx:1").
  static Result<ImageReference> Parse(std::string_view text);
  std::string ToString() const;

  // Puts the parts that aren't "" in place of its own; a slash at the end of `new_repository` is none of it. The digest
  // stays.
  void Replace(std::string_view new_repository, std::string_view new_name, std::string_view new_tag);
};

}  // namespace capi::templating
