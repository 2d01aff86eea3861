#include "api/generated.h"

#include "api/reasons.h"

namespace capi::api {

std::map<std::string, std::string> GeneratedFiles() {
  std::map<std::string, std::string> out;
  out["docs/reasons.md"] = ReasonsMarkdown();
  return out;
}

}  // namespace capi::api
