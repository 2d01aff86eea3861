// The operator of a local plane: the program beside this one, in the place of its image.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/context.h"
#include "cli/frame/world.h"
#include "kube/client/client.h"
#include "local/plane/plane_folder.h"

namespace capi::cli {

// `binaries` (IMAGE=PATH) with the operator's program of this version, where none of them is for the image that
// BringUpOperator runs and the program is in `beside` (the folder of this program) or in PATH.
std::vector<std::string> WithOperator(std::vector<std::string> binaries, const std::string& beside,
                                      const Getenv& getenv);

// kNotFound, with what to do, where `binaries` have none for that image and there is no program of it. One that is
// named and doesn't run is an error, too: without its operator nothing of a plane goes on.
Status CheckOperatorProgram(const std::vector<std::string>& binaries, const std::string& beside, const Getenv& getenv);

// kFailedPrecondition where a newer clusterctl has brought the plane's operator in: before anything of it is ended, or
// started, since this one's operator would run on the newer one's objects (behaviour.md G2).
Status CheckVersion(const local::PlaneFolder& folder);

// Applies the operator's manifests, its kinds first, whatever is there: a plane has the operator of the program that
// brings it up. Waits until it is available. kFailedPrecondition where a newer one is there.
Status BringUpOperator(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder, Notes& notes);

// Where the status page of that operator is on this machine: "http://127.0.0.1:38123/"; "" where none of the Pods that
// run under `supervisor` serves one: by now another program may have the port that an earlier run had (behaviour.md
// G8).
std::string PageAddress(const std::vector<kube::Object>& pods, pid_t supervisor);

}  // namespace capi::cli
