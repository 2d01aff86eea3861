#include "local/programs/go_build.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>

#include "api/text.h"
#include "api/version.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/processes/process.h"
#include "base/strings.h"
#include "local/programs/executable.h"
#include "local/programs/scratch.h"

namespace capi::local {
namespace {

constexpr std::string_view kClusterApi = "sigs.k8s.io/cluster-api";
constexpr size_t kLogLines = 5;
constexpr Millis kLook{100}, kGrace{5000};  // and how long the kernel may take to end it

Error Invalid(const std::string& text, std::string_view why) {
  return Error{Code::kInvalidArgument,
               fmt::format("{} {}: write MODULE[/PACKAGE]@VERSION, as in {}/bootstrap/kubeadm@v1.12.1",
                           api::GoQuote(text), why, kClusterApi),
               {}};
}

// As module paths have them; nothing that `go` would take for a flag.
bool IsPackagePath(std::string_view text) {
  const size_t slash = text.find('/');
  auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_' || c == '~' || c == '/';
  };
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text.front())) != 0 && text.find("..") == text.npos &&
         text.substr(0, slash).find('.') != text.npos && std::all_of(text.begin(), text.end(), fits);
}

bool IsThere(const std::string& target) {
  struct stat info {};
  return stat((target + "/program").c_str(), &info) == 0;
}

bool IsVersion(std::string_view text) { return text.starts_with('v') && api::Version::Parse(text).ok(); }

// A value.
struct Known {
  std::string_view name, package;
  bool replaces;  // its module replaces Cluster API's by its own checkout
};
constexpr Known kKnown[] = {
    {"cluster-api-controller", "", false},
    {"kubeadm-bootstrap-controller", "/bootstrap/kubeadm", false},
    {"kubeadm-control-plane-controller", "/controlplane/kubeadm", false},
    {"capd-manager", "/test/infrastructure/docker", true},
};
// Where Cluster API publishes its images.
constexpr std::string_view kPublished[] = {"registry.k8s.io/cluster-api/", "gcr.io/k8s-staging-cluster-api/"};

std::string PackageOf(const Known& known) { return fmt::format("{}{}", kClusterApi, known.package); }

// What Cluster API's own packages are built with, whoever names them: one version of one has one program.
void FillKnown(GoPackage& package) {
  for (const Known& known : kKnown) {
    if (package.package != PackageOf(known)) continue;
    if (known.replaces) package.also.emplace_back(kClusterApi);
    package.version_variables = fmt::format("{}/version", kClusterApi);
  }
}

std::string LinkFlags(const GoPackage& package) {
  std::string out = "-s -w";
  if (package.version_variables.empty()) return out;
  const auto version = api::Version::Parse(package.version);
  if (!version.ok()) return out;
  auto set = [&](std::string_view name, std::string_view value) {
    out += fmt::format(" -X {}.{}={}", package.version_variables, name, value);
  };
  const std::vector<std::string> parts = Split(package.version.substr(1), '.');
  set("gitVersion", package.version);
  set("gitMajor", parts[0]);
  set("gitMinor", parts[1]);
  set("gitTreeState", "clean");
  return out;
}

}  // namespace

std::string GoPackage::ToString() const { return package + "@" + version; }

Result<GoPackage> ParseGoPackage(const std::string& text) {
  const size_t at = text.find('@');
  if (at == text.npos) return Invalid(text, "names no version");
  GoPackage out{.package = text.substr(0, at), .version = text.substr(at + 1)};
  if (!IsPackagePath(out.package)) return Invalid(text, "names no Go module");
  if (!IsVersion(out.version)) return Invalid(text, "names no version");
  FillKnown(out);
  return out;
}

std::optional<GoPackage> KnownGoPackage(const api::OciReference& image) {
  const std::string full = image.host + "/" + image.repository;
  if (!IsVersion(image.tag) || !image.digest.empty()) return {};
  for (std::string_view place : kPublished) {
    for (const Known& known : kKnown) {
      if (full != fmt::format("{}{}", place, known.name)) continue;
      GoPackage out{.package = PackageOf(known), .version = image.tag};
      FillKnown(out);
      return out;
    }
  }
  return {};
}

std::string GoBuilds::FindGo() const {
  const std::string path = getenv_ ? getenv_("PATH").value_or("") : "";
  for (const std::string& folder : Split(path, ':')) {
    const std::string go = folder + "/go";
    if (folder.starts_with('/') && CheckRuns(go).ok()) return go;
  }
  return "";
}

Status GoBuilds::BuildInTurn(const Context& ctx, const GoPackage& package, const std::string& target) {
  const Turns::Turn turn = TRY(building_.Take(ctx, ""));
  if (IsThere(target)) return Ok();  // who was before built it
  const std::string name = package.ToString(), go = FindGo();
  if (go.empty()) return Error{Code::kNotFound, fmt::format("there is no `go` in PATH to build {} with", name), {}};
  ctx.log.Info("building a program from its Go module", {{"package", name}, {"log at its end", target + ".log"}});
  Status built = Build(ctx.WithTimeout(longest_), go, package, target);
  if (built.ok() || built.code() != Code::kDeadlineExceeded || !ctx.Check().ok()) return built;
  return Error{Code::kFailedPrecondition,
               fmt::format("it takes longer than {} seconds, and was ended: {}.log tells how far it was",
                           longest_ / Seconds(1), target),
               {}};
}

// A home may be that of several kinds of machine.
std::string GoBuilds::TargetOf(const GoPackage& package) const {
  const std::string name = fmt::format("{} {}", package.ToString(), ThisPlatform());
  return fmt::format("{}/{}-{}", folder_, package.package.substr(package.package.rfind('/') + 1),
                     Sha256Hex(name).substr(0, 16));
}

bool GoBuilds::IsBuilt(const GoPackage& package) const { return IsThere(TargetOf(package)); }

Result<Program> GoBuilds::Find(const Context& ctx, const GoPackage& package) {
  const std::string target = TargetOf(package);
  if (!IsThere(target)) TRY(BuildInTurn(ctx, package, target));
  return Program{.path = target + "/program", .source = "Go module " + package.ToString()};
}

// In a module of its own: `go install` refuses packages whose module replaces others.
Status GoBuilds::Build(const Context& ctx, const std::string& go, const GoPackage& package, const std::string& target) {
  const std::unique_ptr<Scratch> scratch = TRY(Scratch::Create(folder_));
  const std::string work = scratch->path() + "/work";
  // Another process may build the same meanwhile.
  struct Log {
    const std::string path, kept;
    ~Log() { (void)std::rename(path.c_str(), kept.c_str()); }
  } log{scratch->path() + "/log", target + ".log"};
  std::error_code error;
  for (const std::string& made : {work, scratch->path() + "/tmp"}) {
    std::filesystem::create_directories(made, error);
    if (error) return FileError(made, error.value());
  }
  TRY(WriteFile(log.path, ""));
  TRY(WriteFile(work + "/go.mod", "module capi-operator.local/build\n"));
  std::vector<std::string> get = {go, "get", package.ToString()};
  for (const std::string& module : package.also) get.push_back(module + "@" + package.version);
  TRY(Run(ctx, get, scratch->path(), log.kept));
  TRY(Run(ctx,
          {go, "build", "-mod=mod", "-trimpath", "-buildvcs=false", "-ldflags", LinkFlags(package), "-o",
           scratch->path() + "/program", package.package},
          scratch->path(), log.kept));
  TRY(CheckRuns(scratch->path() + "/program"));
  (void)std::rename(log.path.c_str(), log.kept.c_str());
  for (const char* made : {"/work", "/tmp"}) std::filesystem::remove_all(scratch->path() + made, error);
  return scratch->Keep(target);
}

// What `go` starts (compilers, a linker) is in its process group, and ends with it: told to stop, `go` itself would
// wait for them.
Status GoBuilds::Run(const Context& ctx, const std::vector<std::string>& argv, const std::string& scratch,
                     const std::string& log) const {
  ProcessOptions options{.argv = argv, .log_file = scratch + "/log", .folder = scratch + "/work"};
  options.environment = environment_;
  // What it leaves when it is ended so lies where it is removed.
  const std::string platform(ThisPlatform());
  const size_t slash = platform.find('/');
  options.environment.push_back("GOOS=" + platform.substr(0, slash));
  options.environment.push_back("GOARCH=" + platform.substr(slash + 1));
  for (const std::string& entry : {std::string("GOFLAGS="), std::string("GOWORK=off"), std::string("GO111MODULE=on"),
                                   std::string("CGO_ENABLED=0"), "GOTMPDIR=" + scratch + "/tmp"})
    options.environment.push_back(entry);
  auto process = TRY(Process::Start(std::move(options)));
  std::optional<int> code;
  while (!(code = process->Wait(kLook))) {
    Status goes_on = ctx.Check();
    if (goes_on.ok()) continue;
    kill(-process->pid(), SIGKILL);
    process->Wait(kGrace);
    return goes_on;
  }
  if (*code == 0) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("`go {}` ends with {}: {} (all of it: {})", argv[1], *code,
                           Shorten(process->LogTail(kLogLines), 600), log),
               {}};
}

}  // namespace capi::local
