#include "api/schema/generated.h"

#include <fmt/format.h>

#include "api/reasons.h"
#include "api/schema/api_page.h"
#include "api/schema/crds.h"
#include "api/schema/webhooks.h"
#include "base/yaml/yaml.h"

namespace capi::api {

std::map<std::string, std::string> GeneratedFiles() {
  std::map<std::string, std::string> out;
  out["docs/api.md"] = ApiMarkdown();
  out["docs/reasons.md"] = ReasonsMarkdown();
  for (const ProviderKind& kind : kProviderKinds) {
    out[fmt::format("manifests/crds/{}_{}.yaml", kGroup, kind.plural)] =
        "# Printed from api/schema/*.cc by gen_crds; do not edit.\n" + ToYaml(CustomResourceDefinition(kind));
  }
  out["manifests/base/webhooks.yaml"] = "# Printed from api/schema/webhooks.cc by gen_crds; do not edit.\n" +
                                        ToYaml(MutatingWebhookConfiguration()) + "---\n" +
                                        ToYaml(ValidatingWebhookConfiguration());
  return out;
}

}  // namespace capi::api
