// The kubeconfig of a plane that people work with, and other tools write into (behaviour.md G1).
#pragma once

#include <string>

#include "base/result.h"

namespace capi::local {

// Brings the entries of `own` (KubeconfigText) into the file at `path`: as its whole text where there is none, or an
// empty one; else those alone are put right. What others have put there stays, their current-context and the namespace
// of the plane's context, too. Of a link the file that it leads to is written. Where nothing differs nothing is.
// kInvalidArgument where it is no kubeconfig: then it stays as it is.
Status PutIntoKubeconfig(const std::string& path, const std::string& own);

// Where the file at `path` leads who works with it.
enum class Leads {
  kToThePlane,
  kByItsContext,  // to the plane with the context kContext; the current one is another
  kElsewhere,     // its entries aren't the plane's, or it can't be read
};
Leads WhereLeads(const std::string& path, const std::string& own_path);

}  // namespace capi::local
