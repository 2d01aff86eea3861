#include <unistd.h>

#include <iostream>

#include "cli/clusterctl.h"
#include "cli/frame/live_lines.h"

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  return capi::cli::RunClusterctl(argc, argv,
                                  {&capi::cli::ProcessEnvironment, std::cin, std::cout, std::cerr,
                                   isatty(STDOUT_FILENO) == 1, capi::cli::SizeOfTerminal(STDERR_FILENO).columns});
}
