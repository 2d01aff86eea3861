// clusterctl's configuration file: what is refused says where; what is taken gives the same answers twice, and expands
// no variable but those of the environment it was given.
#include "base/fuzz.h"
#include "cli/frame/config.h"

CAPI_FUZZ(config, "cli/frame",
          {"providers:\n- {name: mine, url: /releases/mine/latest/core-components.yaml, type: CoreProvider}\n",
           "images:\n  all: {repository: example.org/mirror}\n  cert-manager/acmesolver: {tag: v1.2.3}\n",
           "AWS_REGION: eu-west-1\nNUMBER: 1.10\nEMPTY: ''\nTRUTH: true\n",
           "overridesFolder: ${HOME}/overrides\nproviders: '- {name: a, url: \"${HOME}/x\", type: CoreProvider}'\n",
           "providers: {}\nimages: []\n", "- a", "{\"json\": [1, 2"}) {
  using namespace capi;
  auto home = [](const std::string& name) -> std::optional<std::string> {
    if (name == "HOME") return "/home/someone";
    return std::nullopt;
  };
  auto config = cli::Config::Parse({"clusterctl.yaml", std::string(input)}, home);
  if (!config.ok()) {
    FUZZ_REQUIRE(config.code() == Code::kInvalidArgument);
    FUZZ_REQUIRE(config.error().message.find("clusterctl.yaml") != std::string::npos);
    return;
  }
  auto providers = config->Providers(), again = config->Providers();
  FUZZ_REQUIRE(providers.ok() == again.ok());
  if (providers.ok()) {
    FUZZ_REQUIRE(providers->size() == again->size());
    for (const auto& provider : *providers) {
      auto found = config->FindProvider(provider.type, provider.name);
      FUZZ_REQUIRE(found.ok() && found->url == provider.url);
    }
  }
  for (const char* key : {"AWS_REGION", "NUMBER", "EMPTY", "HOME", "overridesFolder"}) {
    auto value = config->Get(key), twice = config->Get(key);
    FUZZ_REQUIRE(value.ok() == twice.ok());
    if (value.ok()) FUZZ_REQUIRE(*value == *twice);
  }
  auto folder = config->OverridesFolder();
  FUZZ_REQUIRE(folder.ok() || !folder.error().message.empty());
  auto images = config->Images();
  FUZZ_REQUIRE(images.ok() || !images.error().message.empty());
}
