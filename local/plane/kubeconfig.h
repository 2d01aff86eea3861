// The kubeconfig of a plane that people work with, and other tools write into (behaviour.md G1).
#pragma once

#include <string>

#include "base/result.h"

namespace capi::local {

// Brings the entries of `own` (KubeconfigText) into the file at `path`: as its whole text where there is none or
// nothing else in it; else those alone are put right, and what others have put there stays, their current-context, too.
// Where nothing differs nothing is written. kInvalidArgument where it is no kubeconfig: then it stays as it is.
Status PutIntoKubeconfig(const std::string& path, const std::string& own);

}  // namespace capi::local
