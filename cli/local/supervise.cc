#include "cli/local/supervise.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "cli/frame/interrupt.h"
#include "cli/frame/provider_release.h"
#include "cli/local/operator_program.h"
#include "local/plane/leftovers.h"
#include "local/plane/settings.h"
#include "local/plane/supervisor.h"

namespace capi::cli {
namespace {

// What every manager has of the environment: where programs are, and how others are reached.
constexpr const char* kPassedOn[] = {"PATH",        "HTTP_PROXY", "HTTPS_PROXY",   "NO_PROXY",    "http_proxy",
                                     "https_proxy", "no_proxy",   "SSL_CERT_FILE", "SSL_CERT_DIR"};

std::vector<std::string> EnvironmentOf(const local::Settings& settings, const Getenv& getenv) {
  std::vector<std::string> names(std::begin(kPassedOn), std::end(kPassedOn));
  names.insert(names.end(), settings.environment.begin(), settings.environment.end());
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (auto value = getenv(name)) out.push_back(fmt::format("{}={}", name, *value));
  }
  return out;
}

Status Run(const Context& ctx, const std::string& path, World& world) {
  local::PlaneFolder folder = TRY(local::PlaneFolder::Open(path));
  const local::Settings settings = TRY(local::ReadSettings(folder.Settings()));
  local::ProgramsOptions images;
  images.binaries = WithOperator(settings.binaries, local::OwnFolder(), world.getenv);
  images.checks_binaries = false;  // each Pod says so
  images.builds = settings.builds;
  images.cache = local::CacheFolder(world.getenv);
  images.getenv = world.getenv;
  // What outlives a build that was killed is known by it (behaviour.md G3).
  images.environment = {fmt::format("{}={}", local::kPlaneVariable, folder.id())};
  images.registry = [&world](const std::string&) { return OciOptionsOf(world.getenv); };
  auto programs = TRY(local::OpenPrograms(std::move(images)));
  const std::string private_folder = folder.Private(world.getenv);
  local::PlanePrograms plane = TRY(local::FindPlanePrograms(settings.programs, local::OwnFolder(), world.getenv));
  return local::Supervise(ctx, {.folder = std::move(folder),
                                .private_folder = private_folder,
                                .programs = std::move(plane),
                                .environment = EnvironmentOf(settings, world.getenv),
                                .images = *programs});
}

}  // namespace

Status SupervisePlane(const std::string& folder, World& world) {
  // Two `down`, say, end it in the same orderly way as one.
  Interrupt interrupt(NextSignal::kNothing);
  Context ctx = Context{}.WithStop(interrupt.token()).WithLog(Logger::Create(LogLevel::kInfo, LogFormat::kText));
  return Run(ctx, folder, world);
}

}  // namespace capi::cli
