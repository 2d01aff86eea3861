#include <iostream>

#include "cli/clusterctl.h"

int main(int argc, char** argv) { return capi::cli::RunClusterctl(argc, argv, std::cout, std::cerr); }
