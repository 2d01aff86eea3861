#include "cli/local/operator_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "api/schema/crds.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/version.h"
#include "cli/local/managers.h"
#include "cli/operator_manifests/installation.h"
#include "cli/operator_manifests/manifests.h"
#include "fetch/oci/image_name.h"
#include "kube/meta/kind.h"
#include "local/node/pod_status.h"
#include "local/plane/programs.h"
#include "local/programs/executable.h"
#include "local/programs/named.h"

namespace capi::cli {
namespace {

constexpr char kProgram[] = "capi-operator";
constexpr Millis kPause{500};
constexpr int kPagePort = 8444;  // of the operator's container

Result<std::string> Image() { return OperatorImage("", {}); }

// The one of them that is for that image, as the node looks for it. What can't be read is told by who opens them.
std::optional<std::string> OperatorOf(const std::vector<std::string>& binaries, const std::string& image) {
  const auto named = local::ReadNamed(binaries, "--binary");
  const auto name = fetch::ParseImageName(image);
  const local::Named* found = named.ok() && name.ok() ? local::FindNamed(*named, *name) : nullptr;
  return found == nullptr ? std::nullopt : std::optional(binaries[static_cast<size_t>(found - named->data())]);
}

// An earlier run may have named it: those of this one are checked.
Status CheckNamed(const std::string& entry) {
  const size_t equals = entry.find('=');
  const Status runs = local::CheckRuns(entry.substr(equals + 1));
  if (runs.ok()) return Ok();
  return Error{runs.code(),
               fmt::format("the operator's program: {0}. `--binary {1}=` takes it back, and `--binary {1}=PATH` names "
                           "another one",
                           runs.error().message, entry.substr(0, equals)),
               {}};
}

Status CheckNotNewer(const std::string& what, const api::Version& version) {
  if (version <= OwnVersion()) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("{} {}, newer than this clusterctl ({}): use a clusterctl of v{}.{}", what,
                           version.ToString(), OwnVersion().ToString(), version.major, version.minor),
               {}};
}

// There is no cert-manager: the operator makes the certificates that releases ask for (I19). And it serves the status
// page, which the node leads to a free port of loopback, as it does with all that the container declares (G5).
Status SuitThePlane(std::vector<kube::Object>& objects) {
  for (kube::Object& object : objects) {
    if (!kube::IsDeployment(object)) continue;
    Json* containers = Find(object.json(), {"spec", "template", "spec", "containers"});
    if (containers == nullptr || !containers->is_array() || containers->size() != 1) break;
    Json& container = containers->front();
    container["args"].push_back("--certificates=builtin");
    container["args"].push_back(fmt::format("--ui-address=:{}", kPagePort));
    container["ports"].push_back({{"name", "ui"}, {"containerPort", kPagePort}});
    return Ok();
  }
  return Error{Code::kInternal, "the program's own manifests have no Deployment of one container", {}};
}

// What is said of the ports of another run's processes stays until they are begun again.
bool RunsUnder(pid_t supervisor, const kube::Object& pod) {
  const auto processes = ProcessesOf(pod);
  return std::any_of(processes.begin(), processes.end(),
                     [&](const local::ProcessState& one) { return AsOfRun(one, supervisor).pid > 0; });
}

// An API server that has just started on a busy machine doesn't answer all requests in time.
template <typename Call>
auto Patiently(const Context& ctx, const Call& call) {
  for (;;) {
    auto done = call();
    if (done.ok() || !done.error().Transient() || !ctx.Check().ok()) return done;
    ctx.clock->Sleep(ctx.stop, kPause);
  }
}

}  // namespace

std::vector<std::string> WithOperator(std::vector<std::string> binaries, const std::string& beside,
                                      const Getenv& getenv) {
  auto image = Image();
  if (!image.ok() || OperatorOf(binaries, *image)) return binaries;
  // With its tag: it never stands for the operator of another version, which a plane may have still.
  const std::string path = local::FindProgram(kProgram, beside, getenv);
  if (!path.empty()) binaries.push_back(fmt::format("{}={}", *image, path));
  return binaries;
}

Status CheckOperatorProgram(const std::vector<std::string>& binaries, const std::string& beside, const Getenv& getenv) {
  const std::string image = TRY(Image());
  if (const auto named = OperatorOf(binaries, image)) return CheckNamed(*named);
  if (OperatorOf(WithOperator(binaries, beside, getenv), image)) return Ok();
  return Error{Code::kNotFound,
               fmt::format("{} not found: it is neither in {}, where clusterctl is, nor in PATH. Name it with "
                           "--binary {}=PATH (`make build` makes it)",
                           kProgram, beside, image),
               {}};
}

Status CheckVersion(const local::PlaneFolder& folder) {
  const auto text = ReadFile(folder.Version(), 1u << 10);
  if (!text.ok() && text.code() == Code::kNotFound) return Ok();
  if (!text.ok()) return text.error();
  const api::Version version = TRY_WITH(api::Version::Parse(Trim(*text)), folder.Version());
  return CheckNotNewer(fmt::format("the plane in {} is of", folder.path()), version);
}

Status BringUpOperator(const Context& ctx, kube::Client& client, const local::PlaneFolder& folder, Notes& notes) {
  auto there = TRY(Patiently(ctx, [&] { return FindOperator(ctx, client); }));
  if (there && there->version) TRY(CheckNotNewer("the plane's operator is", *there->version));
  const std::string image = TRY(Image());
  auto objects = TRY(OperatorObjects(image));
  TRY(SuitThePlane(objects));
  const std::string ns(api::kOperatorNamespace);
  if (!there) notes.Say(0, "Installing the operator", {{"version", kProjectVersion}, {"targetNamespace", ns}});
  TRY(WriteFile(folder.Version(), std::string(kProjectVersion) + "\n", 0600));
  TRY_WITH(Patiently(ctx, [&] { return ApplyOperator(ctx, client, objects); }), "failed to install the operator");
  if (!there || !there->available) notes.Say(0, "Waiting for the operator to be available...");
  return AwaitOperator(ctx, client, ns);
}

std::string PageAddress(const std::vector<kube::Object>& pods, pid_t supervisor) {
  for (const kube::Object& pod : pods) {
    if (pod.ns() != api::kOperatorNamespace || pod.deleting()) continue;
    const auto ports = local::PortsIn(pod);
    const auto page = ports.find(kPagePort);
    if (page != ports.end() && RunsUnder(supervisor, pod)) return fmt::format("http://127.0.0.1:{}/", page->second);
  }
  return "";
}

}  // namespace capi::cli
