// The operator of a local plane: the program beside this one, in the place of its image.
#pragma once

#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/world.h"
#include "kube/client/client.h"

namespace capi::cli {

// `binaries` (IMAGE=PATH) with the operator's program, where none of them is its image and the program is beside this
// one or in PATH.
std::vector<std::string> WithOperator(std::vector<std::string> binaries, const Getenv& getenv);

// kNotFound, with what to do, where `binaries` have none for the operator's image and there is no program of it.
Status CheckOperatorProgram(const std::vector<std::string>& binaries, const Getenv& getenv);

// Applies the operator's manifests, its kinds first, whatever is there: a plane has the operator of the program that
// brings it up. Waits until it is available. kFailedPrecondition where a newer one is there.
Status BringUpOperator(const Context& ctx, kube::Client& client, Notes& notes);

}  // namespace capi::cli
