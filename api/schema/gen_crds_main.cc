// gen_crds: prints what is generated from this folder's tables into a tree: the CRDs and the page of reasons.
//
//   gen_crds            lists the files
//   gen_crds --write D  writes them below folder D
#include <cstdio>
#include <cstring>

#include "api/schema/generated.h"
#include "base/files.h"

int main(int argc, char** argv) {
  const char* root = argc == 3 && std::strcmp(argv[1], "--write") == 0 ? argv[2] : nullptr;
  if (argc != 1 && root == nullptr) {
    std::fprintf(stderr, "usage: gen_crds [--write FOLDER]\n");
    return 2;
  }
  for (const auto& [path, text] : capi::api::GeneratedFiles()) {
    std::printf("%s\n", path.c_str());
    if (root == nullptr) continue;
    if (auto written = capi::WriteFile(std::string(root) + "/" + path, text); !written.ok()) {
      std::fprintf(stderr, "%s: %s\n", path.c_str(), written.error().message.c_str());
      return 1;
    }
  }
  return 0;
}
