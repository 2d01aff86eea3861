// Kubeconfig files: errors name the file; merging a file with itself changes nothing; what is accepted can be used.
#include "base/fuzz.h"
#include "kube/client/config/kubeconfig.h"

namespace capi::kube {
namespace {

// Nothing of this process's, and no file but what the input names: those of exec plugins are read by an exec plugin
// alone.
ConfigSources Sources() {
  return {.kubeconfig = "", .context = "", .getenv = [](const char*) -> const char* { return nullptr; }};
}

void CheckMerge(const Kubeconfig& file) {
  Kubeconfig merged = file;
  MergeKubeconfig(merged, file);
  FUZZ_REQUIRE(merged.current_context == file.current_context);
  FUZZ_REQUIRE(merged.clusters.size() == file.clusters.size() && merged.users.size() == file.users.size());
  FUZZ_REQUIRE(merged.contexts.size() == file.contexts.size());
}

}  // namespace
}  // namespace capi::kube

CAPI_FUZZ(kubeconfig, "kube/client/config",
          {"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\n"
           "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority: ca, proxy-url: 'http://p'}}]\n"
           "users: [{name: u, user: {token: t, client-certificate: c, client-key: k, as: a, as-groups: [g]}}]\n",
           "current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u}}]\n"
           "clusters: [{name: k, cluster: {server: 'https://h', certificate-authority-data: Q0E=}}]\n"
           "users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [a],\n"
           "  env: [{name: A, value: b}], interactiveMode: Never}}}]\n",
           "users: [{name: u, user: {username: a, password: b, tokenFile: f}}]\n", "kind: Other\n",
           "clusters: [{name: a}, {}]"}) {
  using namespace capi;
  auto file = kube::ParseKubeconfig(input, "/f/config");
  if (!file.ok()) {
    FUZZ_REQUIRE(file.code() == Code::kInvalidArgument && file.error().message.starts_with("/f/config: "));
    return;
  }
  kube::CheckMerge(*file);
  if (input.find("provideClusterInfo") != input.npos) return;  // the files it names would be read
  auto config = kube::FromKubeconfig(*file, kube::Sources());
  if (!config.ok()) {
    FUZZ_REQUIRE(config.code() == Code::kInvalidArgument && !config.error().message.empty());
    return;
  }
  FUZZ_REQUIRE(!config->server.empty() && !config->ns.empty() && !config->context.empty());
  const auto& tls = config->tls;
  bool cert = !tls.cert_pem.empty() || !tls.cert_file.empty(), key = !tls.key_pem.empty() || !tls.key_file.empty();
  FUZZ_REQUIRE(cert == key);
  for (const std::string& path : {tls.ca_file, tls.cert_file, tls.key_file})
    FUZZ_REQUIRE(path.empty() || path[0] == '/');
}
