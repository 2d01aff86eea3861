#include "cli/frame/confirm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "base/strings.h"

namespace capi::cli {

Status Confirm(std::string_view question, World& world) {
  if (&world.in != &std::cin || isatty(STDIN_FILENO) == 0) {
    return Error{
        Code::kInvalidArgument, fmt::format("{}: nobody can be asked here; with --yes it is done", question), {}};
  }
  world.err << question << "? [y/N] " << std::flush;
  std::string answer;
  std::getline(world.in, answer);
  answer = ToLower(Trim(answer));
  if (answer == "y" || answer == "yes") return Ok();
  return Error{Code::kCancelled, "nothing was written", {}};
}

}  // namespace capi::cli
