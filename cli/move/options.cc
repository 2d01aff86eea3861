#include "cli/move/options.h"

#include <fmt/format.h>

namespace capi::cli::move {
namespace {

Status Exclusive(std::string_view a, bool has_a, std::string_view b, bool has_b) {
  if (!has_a || !has_b) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("if any flags in the group [{0} {1}] are set none of the others can be; [{0} {1}] were all set", a,
                  b),
      {}};
}

}  // namespace

Status CheckOptions(const MoveOptions& options) {
  const bool into = !options.to_directory.empty(), out_of = !options.from_directory.empty();
  const bool has_target = !options.to.kubeconfig.empty();
  TRY(Exclusive("to-directory", into, "to-kubeconfig", has_target));
  TRY(Exclusive("from-directory", out_of, "to-directory", into));
  TRY(Exclusive("from-directory", out_of, "kubeconfig", !options.from.kubeconfig.empty()));
  TRY(Exclusive("include-providers", options.include_providers, "to-directory", into));
  TRY(Exclusive("include-providers", options.include_providers, "from-directory", out_of));
  if (into || out_of || has_target) return Ok();
  if (!options.dry_run) {
    return Error{
        Code::kInvalidArgument,
        "please specify a target cluster using the --to-kubeconfig flag when not using --dry-run, --to-directory "
        "or --from-directory",
        {}};
  }
  return Ok();
}

std::vector<std::string> Meaningless(const MoveOptions& options) {
  const bool into = !options.to_directory.empty(), out_of = !options.from_directory.empty();
  const bool has_context = !options.to.context.empty();
  std::vector<std::string> out;
  auto say = [&](bool given, const char* flag, const char* where) {
    if (given) out.push_back(fmt::format("--{} means nothing {}", flag, where));
  };
  say(out_of && !options.ns.empty(), "namespace", "with --from-directory: all that is in the files is restored");
  say(out_of && !options.from.context.empty(), "kubeconfig-context", "with --from-directory, which is the source");
  say(into && has_context, "to-kubeconfig-context", "with --to-directory, which is the target");
  say(!into && !out_of && has_context && options.to.kubeconfig.empty(), "to-kubeconfig-context",
      "without --to-kubeconfig");
  return out;
}

}  // namespace capi::cli::move
