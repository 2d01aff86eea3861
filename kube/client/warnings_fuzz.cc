// Warning headers: bounded, whole characters, each once.
#include <set>

#include "base/fuzz.h"
#include "base/strings.h"
#include "kube/client/warnings.h"

CAPI_FUZZ(warnings, "kube/client",
          {"299 - \"unknown field \\\"spec.a\\\"\"", "299 a \"b\" \"date\", 299 - \"c\"", "299 - \"a\\",
           "199 - \"x\""}) {
  capi::http::Headers headers;
  headers.Add("Warning", input);
  headers.Add("Warning", input);
  std::set<std::string> seen;
  for (const std::string& warning : capi::kube::WarningsOf(headers)) {
    FUZZ_REQUIRE(!warning.empty() && warning.size() <= 1024 && capi::IsValidUtf8(warning));
    FUZZ_REQUIRE(seen.insert(warning).second);
  }
}
