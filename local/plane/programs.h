// Where etcd, kube-apiserver and kube-controller-manager are on this machine.
#pragma once

#include <string>

#include "local/plane/plane_folder.h"

namespace capi::local {

// Paths. A value.
struct PlanePrograms {
  std::string etcd, apiserver;
  std::string controller_manager;  // "" where there is none: then nothing collects garbage
};

// Those of `folder` (--programs) alone; without one, "", each of the first place that has it: $KUBEBUILDER_ASSETS,
// `beside` (the folder of this program), PATH. Relative folders of PATH are passed over; kInvalidArgument where
// $KUBEBUILDER_ASSETS has one. kNotFound names what is missing, where it was looked for, and what to do.
Result<PlanePrograms> FindPlanePrograms(const std::string& folder, const std::string& beside, const Getenv& getenv);

// A program of that name in these places, relative ones passed over; "" for none.
std::string FindProgram(const std::string& name, const std::string& beside, const Getenv& getenv);

// The folder that this program lies in; "" where that isn't known.
std::string OwnFolder();

}  // namespace capi::local
