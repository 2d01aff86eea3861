// What people name on the command line for images: "IMAGE=SOMETHING". Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/validate/oci_reference.h"
#include "base/result.h"

namespace capi::local {

// A value.
struct Named {
  api::OciReference image;  // without a tag or a digest: of any
  std::string text;         // behind the "="
  bool is_module = false;   // of --build
};

// The entries of a flag. kInvalidArgument for one that isn't "IMAGE=SOMETHING", or names an image that another one
// names.
Result<std::vector<Named>> ReadNamed(const std::vector<std::string>& entries, const std::string& flag);

// What an entry names, by which others for the same image are known: "x:v1" and "docker.io/library/x:v1" are one.
std::string ImageOf(const std::string& entry);

// The one for an image: of those that fit the most exact, by its digest before by its tag before by its name alone, and
// of two alike the first. No tag and no digest of the image is "latest", as on a cluster. nullptr for none.
const Named* FindNamed(const std::vector<Named>& all, const api::OciReference& image);

}  // namespace capi::local
