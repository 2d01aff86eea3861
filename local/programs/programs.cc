#include "local/programs/programs.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/strings.h"
#include "fetch/oci/image_name.h"
#include "local/programs/executable.h"
#include "local/programs/go_build.h"
#include "local/programs/image_store.h"
#include "local/programs/named.h"

namespace capi::local {
namespace {

constexpr size_t kMostOfReason = 700;

fetch::OciOptions Anonymous(const std::string&) { return {}; }

// As with container runtimes a registry on this machine itself speaks plain HTTP.
bool IsOnThisMachine(const std::string& host) {
  const std::string name = host.substr(0, host.rfind(':'));
  return name == "localhost" || name == "[::1]" ||
         (name.starts_with("127.") && name.find_first_not_of("0123456789.") == name.npos);
}

// One after the other; what none has, the message tells of all.
class Sources : public Programs {
 public:
  Sources(ProgramsOptions options, std::vector<Named> binaries, std::vector<Named> builds)
      : options_(std::move(options)),
        binaries_(std::move(binaries)),
        builds_(std::move(builds)),
        images_(options_.cache + "/images", options_.registry ? options_.registry : Anonymous),
        go_(options_.cache + "/builds", options_.getenv, options_.environment) {}

  Result<Program> Find(const Context& ctx, const std::string& image) override {
    api::OciReference reference = TRY_WITH(fetch::ParseImageName(image), "image " + image);
    reference.plain_http = IsOnThisMachine(reference.host);
    if (const Named* binary = FindNamed(binaries_, reference)) {
      TRY_WITH(CheckRuns(binary->text), "--binary " + image);
      return Program{.path = binary->text, .source = "--binary"};
    }
    if (const Named* build = FindNamed(builds_, reference)) {
      const GoPackage package = TRY(ParseGoPackage(build->text));
      return TRY_WITH(go_.Find(ctx, package), "--build " + image);
    }
    return FromOutside(ctx, image, reference);
  }

 private:
  Result<Program> FromOutside(const Context& ctx, const std::string& image, const api::OciReference& reference) {
    std::vector<std::string> tried;
    Code code = Code::kNotFound;
    auto note = [&](std::string_view what, const Error& error) {
      tried.push_back(fmt::format("{}: {}", what, Shorten(error.message, kMostOfReason)));
      if (tried.size() == 1 || error.Transient()) code = error.code;
    };
    if (options_.pulls) {
      auto program = images_.Find(ctx, reference);
      if (program.ok()) return program;
      TRY(ctx.Check());
      note("its image", WithoutCredentials(program.error(), reference.host));
    }
    const auto known = options_.builds_known ? KnownGoPackage(reference) : std::nullopt;
    if (known) {
      auto program = go_.Find(ctx, *known);
      if (program.ok()) return program;
      TRY(ctx.Check());
      note("a build of " + known->ToString(), program.error());
    }
    if (!known) tried.emplace_back("no Go module is known for it");
    return Error{code,
                 fmt::format("no program for image {}: {}. Name one with --binary {}=PATH, or a Go module with --build "
                             "{}=MODULE[/PACKAGE]@VERSION",
                             image, Join(tried, "; "), image, image),
                 {}};
  }

  // Says so where there are none to give, since a registry's own words would ask for them.
  Error WithoutCredentials(Error error, const std::string& host) const {
    const bool wanted = error.code == Code::kUnauthenticated || error.code == Code::kPermissionDenied;
    if (wanted && (!options_.registry || options_.registry(host).credentials.empty()))
      error.message = fmt::format(
          "registry {} has none for everybody, and is asked without credentials (imagePullSecrets aren't read)", host);
    return error;
  }

  const ProgramsOptions options_;
  const std::vector<Named> binaries_, builds_;
  ImageStore images_;
  GoBuilds go_;
};

}  // namespace

Result<std::vector<std::string>> ArgumentsOf(const Program& program, const std::vector<std::string>& command,
                                             const std::vector<std::string>& args) {
  std::vector<std::string> out;
  auto append = [&](const std::vector<std::string>& words) { out.insert(out.end(), words.begin(), words.end()); };
  if (!command.empty() && !program.root.empty()) {
    std::string search;
    for (const auto& [name, value] : program.environment) {
      if (name == "PATH") search = value;
    }
    const std::string folder =
        program.working_folder.starts_with(program.root) ? program.working_folder.substr(program.root.size()) : "/";
    std::string path = TRY(ProgramIn(program.root, command.front(), folder, search));
    if (path != program.path) TRY(CheckRuns(path));
    out.push_back(std::move(path));
  } else if (program.path.empty()) {
    return Error{Code::kNotFound, "the image says nothing of what is to be started: give the container a command", {}};
  } else {
    out.push_back(program.path);
  }
  if (!command.empty()) {
    out.insert(out.end(), command.begin() + 1, command.end());
    append(args);
    return out;
  }
  append(program.entrypoint_arguments);
  append(args.empty() ? program.cmd : args);
  return out;
}

Result<std::unique_ptr<Programs>> OpenPrograms(ProgramsOptions options) {
  auto binaries = TRY(ReadNamed(options.binaries, "--binary"));
  for (Named& one : binaries) {
    std::error_code error;
    one.text = std::filesystem::absolute(one.text, error).string();
    TRY_WITH(CheckRuns(one.text), "--binary " + one.image.ToString());
  }
  auto builds = TRY(ReadNamed(options.builds, "--build"));
  for (const Named& one : builds) TRY_WITH(ParseGoPackage(one.text), "--build " + one.image.ToString());
  return std::unique_ptr<Programs>(
      std::make_unique<Sources>(std::move(options), std::move(binaries), std::move(builds)));
}

std::string CacheFolder(const std::function<std::optional<std::string>(const std::string&)>& getenv) {
  const std::string base = getenv("XDG_CACHE_HOME").value_or("");
  if (base.starts_with('/')) return base + "/capi-operator";
  const std::string home = getenv("HOME").value_or("");
  return home.starts_with('/') ? home + "/.cache/capi-operator" : "";
}

}  // namespace capi::local
