#include "cli/local/operator_program.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/schema/crds.h"
#include "base/version.h"
#include "cli/operator_manifests/installation.h"
#include "cli/operator_manifests/manifests.h"
#include "local/plane/programs.h"

namespace capi::cli {
namespace {

constexpr char kProgram[] = "capi-operator";
constexpr Millis kPause{500};

// "capi-operator" of "capi-operator:v0.1.0=/path", and of the one in a registry.
bool IsOperators(const std::string& entry) {
  std::string image = entry.substr(0, entry.find('='));
  image = image.substr(image.rfind('/') == image.npos ? 0 : image.rfind('/') + 1);
  return image.substr(0, image.find_first_of(":@")) == kProgram;
}

bool HasOperator(const std::vector<std::string>& binaries) {
  return std::any_of(binaries.begin(), binaries.end(), IsOperators);
}

// An API server that has just started on a busy machine doesn't answer all requests in time.
Status Apply(const Context& ctx, kube::Client& client, const std::vector<kube::Object>& objects) {
  for (;;) {
    Status done = ApplyOperator(ctx, client, objects);
    if (done.ok() || !done.error().Transient() || !ctx.Check().ok()) return done;
    ctx.clock->Sleep(ctx.stop, kPause);
  }
}

}  // namespace

std::vector<std::string> WithOperator(std::vector<std::string> binaries, const Getenv& getenv) {
  if (HasOperator(binaries)) return binaries;
  const std::string path = local::FindProgram(kProgram, "", local::OwnFolder(), getenv);
  if (!path.empty()) binaries.push_back(fmt::format("{}={}", kProgram, path));
  return binaries;
}

Status CheckOperatorProgram(const std::vector<std::string>& binaries, const Getenv& getenv) {
  if (HasOperator(WithOperator(binaries, getenv))) return Ok();
  return Error{Code::kNotFound,
               fmt::format("{0} not found: it is neither in {1}, where clusterctl is, nor in PATH. Name it with "
                           "--binary {0}=PATH (`make build` makes it)",
                           kProgram, local::OwnFolder()),
               {}};
}

Status BringUpOperator(const Context& ctx, kube::Client& client, Notes& notes) {
  auto there = TRY(FindOperator(ctx, client));
  if (there && there->version && *there->version > OwnVersion()) {
    return Error{
        Code::kFailedPrecondition,
        fmt::format("the plane's operator is {}, newer than this clusterctl ({}): use a clusterctl of v{}.{}",
                    there->version->ToString(), OwnVersion().ToString(), there->version->major, there->version->minor),
        {}};
  }
  const std::string image = TRY(OperatorImage("", {}));
  auto objects = TRY(OperatorObjects(image));
  const std::string ns(api::kOperatorNamespace);
  if (!there) notes.Say(0, "Installing the operator", {{"version", kProjectVersion}, {"targetNamespace", ns}});
  TRY_WITH(Apply(ctx, client, objects), "failed to install the operator");
  if (!there || !there->available) notes.Say(0, "Waiting for the operator to be available...");
  return AwaitOperator(ctx, client, ns);
}

}  // namespace capi::cli
