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
  Sources(ProgramsOptions options, std::vector<Named> named)
      : options_(std::move(options)),
        named_(std::move(named)),
        images_(options_.cache + "/images", options_.registry ? options_.registry : Anonymous),
        go_(options_.cache + "/builds", options_.getenv, options_.environment) {}

  Result<Program> Find(const Context& ctx, const std::string& image) override {
    api::OciReference reference = TRY_WITH(fetch::ParseImageName(image), "image " + image);
    reference.plain_http = IsOnThisMachine(reference.host);
    const Named* named = FindNamed(named_, reference);
    if (named != nullptr && !named->is_module) {
      TRY_WITH(CheckRuns(named->text), "--binary " + image);
      return Program{.path = named->text, .source = "--binary"};
    }
    if (options_.cache.empty())
      return Error{Code::kFailedPrecondition,
                   fmt::format("no program for image {}: there is no folder for what is pulled and built: set HOME, or "
                               "XDG_CACHE_HOME, or name the program with --binary {}=PATH",
                               image, image),
                   {}};
    if (named != nullptr) {
      const GoPackage package = TRY(ParseGoPackage(named->text));
      return TRY_WITH(go_.Find(ctx, package), "--build " + image);
    }
    return FromOutside(ctx, image, reference);
  }
  std::string cache() const override { return options_.cache; }

 private:
  Result<Program> FromOutside(const Context& ctx, const std::string& image, const api::OciReference& reference) {
    std::vector<std::string> tried;
    Error all{Code::kNotFound, "", {}};
    auto note = [&](std::string_view what, const Error& error) {
      tried.push_back(fmt::format("{}: {}", what, Shorten(error.message, kMostOfReason)));
      if (tried.size() == 1 || error.Transient()) all.code = error.code;
      if (error.retry_after) all.retry_after = error.retry_after;
    };
    const auto known = options_.builds_known ? KnownGoPackage(reference) : std::nullopt;
    // What is here is started again without a registry, be it away for ever.
    const bool built = known && go_.IsBuilt(*known) && !(options_.pulls && images_.Has(reference));
    if (options_.pulls && !built) {
      auto program = images_.Find(ctx, reference);
      if (program.ok()) return program;
      TRY(ctx.Check());
      note("its image", program.error());
    }
    if (known) {
      auto program = go_.Find(ctx, *known);
      if (program.ok()) return program;
      TRY(ctx.Check());
      note("a build of " + known->ToString(), program.error());
    }
    if (!known) tried.emplace_back("no Go module is known for it");
    all.message = fmt::format(
        "no program for image {}: {}. Name one with --binary {}=PATH, or a Go module with --build "
        "{}=MODULE[/PACKAGE]@VERSION",
        image, Join(tried, "; "), image, image);
    return all;
  }

  const ProgramsOptions options_;
  const std::vector<Named> named_;
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
  } else if (program.entrypoint_error) {
    return program.entrypoint_error->With("the image's own entrypoint");
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
    if (options.checks_binaries) TRY_WITH(CheckRuns(one.text), "--binary " + one.image.ToString());
  }
  auto builds = TRY(ReadNamed(options.builds, "--build"));
  for (Named& one : builds) {
    one.is_module = true;
    TRY_WITH(ParseGoPackage(one.text), "--build " + one.image.ToString());
    binaries.push_back(std::move(one));
  }
  return std::unique_ptr<Programs>(std::make_unique<Sources>(std::move(options), std::move(binaries)));
}

std::string CacheFolder(const std::function<std::optional<std::string>(const std::string&)>& getenv) {
  const std::string base = getenv("XDG_CACHE_HOME").value_or("");
  if (base.starts_with('/')) return base + "/capi-operator";
  const std::string home = getenv("HOME").value_or("");
  return home.starts_with('/') ? home + "/.cache/capi-operator" : "";
}

}  // namespace capi::local
