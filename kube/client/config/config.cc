#include "kube/client/config/config.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>

#include "base/encoding.h"
#include "base/files.h"
#include "base/http/proxy.h"
#include "base/strings.h"
#include "kube/client/config/credentials.h"
#include "kube/client/config/exec_credential.h"
#include "kube/client/config/kubeconfig.h"

namespace capi::kube {
namespace {

using GetEnv = std::function<const char*(const char*)>;

std::string Env(const GetEnv& getenv, const char* name) {
  const char* value = getenv ? getenv(name) : std::getenv(name);
  return value == nullptr ? "" : value;
}

// Server, CA and proxy out of a cluster entry.
Status ReadCluster(const KubeconfigEntry& cluster, const GetEnv& getenv, Config& out) {
  out.server = TRY(cluster.Text("server"));
  if (out.server.empty()) return cluster.Wrong("server", "is missing");
  out.tls.ca_pem = TRY(cluster.Data("certificate-authority-data"));
  if (out.tls.ca_pem.empty()) out.tls.ca_file = TRY(cluster.Text("certificate-authority"));
  out.tls.server_name = TRY(cluster.Text("tls-server-name"));
  out.tls.insecure_skip_verify = TRY(cluster.Flag("insecure-skip-tls-verify"));
  if (out.tls.insecure_skip_verify && !(out.tls.ca_pem.empty() && out.tls.ca_file.empty())) {
    return cluster.Wrong("insecure-skip-tls-verify", "contradicts a certificate authority");
  }
  out.proxy.url = TRY(cluster.Text("proxy-url"));
  if (out.proxy.url.empty()) {
    out.proxy = http::ProxyFromEnvironment(getenv ? getenv : GetEnv(::getenv));
    return Ok();
  }
  out.proxy.always = true;
  auto proxy = http::ParseProxyUrl(out.proxy.url);
  if (!proxy.ok()) return cluster.Wrong("proxy-url", proxy.error().message);
  return Ok();
}

// What an exec plugin with provideClusterInfo is told.
Json ClusterInfo(const KubeconfigEntry& cluster, const Config& config) {
  Json out = {{"server", config.server}};
  if (!config.tls.server_name.empty()) out["tls-server-name"] = config.tls.server_name;
  if (config.tls.insecure_skip_verify) out["insecure-skip-tls-verify"] = true;
  std::string ca = config.tls.ca_pem;
  if (ca.empty() && !config.tls.ca_file.empty()) {
    if (Result<std::string> file = ReadFile(config.tls.ca_file); file.ok()) ca = *file;
  }
  if (!ca.empty()) out["certificate-authority-data"] = Base64Encode(ca);
  if (std::string proxy = GetString(cluster.value, {"proxy-url"}); !proxy.empty()) out["proxy-url"] = proxy;
  const Json* extensions = Find(cluster.value, {"extensions"});
  if (extensions == nullptr || !extensions->is_array()) return out;
  for (const Json& item : *extensions) {
    const Json* extension = Find(item, {"extension"});
    if (GetString(item, {"name"}) == "client.authentication.k8s.io/exec" && extension != nullptr) {
      out["config"] = *extension;
    }
  }
  return out;
}

Status ReadExecMode(const KubeconfigEntry& exec, ExecPlugin& plugin) {
  std::string mode = TRY(exec.Text("interactiveMode"));
  if (mode.empty() && plugin.api_version.ends_with("/v1")) return exec.Wrong("interactiveMode", "is missing");
  if (mode.empty() || mode == "IfAvailable") {
    plugin.interactive = ExecPlugin::Interactive::kIfAvailable;
  } else if (mode == "Never") {
    plugin.interactive = ExecPlugin::Interactive::kNever;
  } else if (mode == "Always") {
    plugin.interactive = ExecPlugin::Interactive::kAlways;
  } else {
    return exec.Wrong("interactiveMode", "is not Never, IfAvailable or Always");
  }
  return Ok();
}

Result<ExecPlugin> ReadExec(const KubeconfigEntry& exec, const KubeconfigEntry& cluster, const Config& config) {
  ExecPlugin out;
  out.api_version = TRY(exec.Text("apiVersion"));
  if (out.api_version != "client.authentication.k8s.io/v1" &&
      out.api_version != "client.authentication.k8s.io/v1beta1") {
    return exec.Wrong("apiVersion",
                      fmt::format("\"{}\" is not client.authentication.k8s.io/v1 or v1beta1", out.api_version));
  }
  out.program.command = TRY(exec.Text("command"));
  if (out.program.command.empty()) return exec.Wrong("command", "is missing");
  out.program.args = TRY(exec.Texts("args"));
  out.install_hint = TRY(exec.Text("installHint"));
  if (const Json* env = Find(exec.value, {"env"}); env != nullptr && !env->is_null()) {
    if (!env->is_array()) return exec.Wrong("env", "is no list");
    for (const Json& entry : *env) {
      std::string name = GetString(entry, {"name"});
      if (name.empty()) return exec.Wrong("env", "holds an entry without a name");
      out.program.env.emplace_back(name, GetString(entry, {"value"}));
    }
  }
  TRY(ReadExecMode(exec, out));
  bool provide_cluster = TRY(exec.Flag("provideClusterInfo"));
  if (provide_cluster) out.cluster = ClusterInfo(cluster, config);
  return out;
}

Status ReadClientCertificate(const KubeconfigEntry& user, http::TlsOptions& tls) {
  tls.cert_pem = TRY(user.Data("client-certificate-data"));
  tls.key_pem = TRY(user.Data("client-key-data"));
  if (tls.cert_pem.empty()) tls.cert_file = TRY(user.Text("client-certificate"));
  if (tls.key_pem.empty()) tls.key_file = TRY(user.Text("client-key"));
  bool cert = !tls.cert_pem.empty() || !tls.cert_file.empty();
  bool key = !tls.key_pem.empty() || !tls.key_file.empty();
  if (cert && !key) return user.Wrong("client-key", "is missing beside client-certificate");
  if (key && !cert) return user.Wrong("client-certificate", "is missing beside client-key");
  return Ok();
}

Status ReadImpersonation(const KubeconfigEntry& user, Config& out) {
  out.impersonate_user = TRY(user.Text("as"));
  out.impersonate_uid = TRY(user.Text("as-uid"));
  out.impersonate_groups = TRY(user.Texts("as-groups"));
  bool without = out.impersonate_user.empty() && !(out.impersonate_uid.empty() && out.impersonate_groups.empty());
  if (without) return user.Wrong("as", "is missing beside as-uid or as-groups");
  if (Find(user.value, {"as-user-extra"}) != nullptr) return user.Wrong("as-user-extra", "is not supported");
  return Ok();
}

// One way to authenticate at most, beside a client certificate.
Status ReadUser(const KubeconfigEntry& user, const KubeconfigEntry& cluster, Config& out) {
  TRY(ReadClientCertificate(user, out.tls));
  TRY(ReadImpersonation(user, out));
  std::string token = TRY(user.Text("token"));
  std::string token_file = TRY(user.Text("tokenFile"));
  std::string username = TRY(user.Text("username"));
  std::string password = TRY(user.Text("password"));
  KubeconfigEntry exec = TRY(user.Child("exec"));
  if (Find(user.value, {"auth-provider"}) != nullptr) {
    return user.Wrong("auth-provider", "is not supported any more: use an exec plugin");
  }
  int ways = 0;
  if (!exec.value.is_null()) {
    ++ways;
    ExecPlugin plugin = TRY(ReadExec(exec, cluster, out));
    out.credentials = ExecCredentials(std::move(plugin));
  }
  if (!username.empty() || !password.empty()) ++ways, out.credentials = BasicAuth(username, password);
  if (!token_file.empty()) {
    ++ways, out.credentials = TokenFile(token_file, token);
  } else if (!token.empty()) {
    ++ways, out.credentials = BearerToken(token);
  }
  if (ways > 1) {
    return Error{Code::kInvalidArgument, user.where + ": more than one of token, username and exec", {}};
  }
  return Ok();
}

Result<const KubeconfigEntry*> Named(const std::map<std::string, KubeconfigEntry>& entries, const std::string& name,
                                     const std::string& where) {
  auto it = entries.find(name);
  if (it != entries.end()) return &it->second;
  return Error{Code::kInvalidArgument, fmt::format("{}: \"{}\" does not exist", where, name), {}};
}

}  // namespace

Result<Config> FromKubeconfig(const Kubeconfig& file, const ConfigSources& sources) {
  Config out;
  out.context = sources.context.empty() ? file.current_context : sources.context;
  if (out.context.empty()) return Error{Code::kInvalidArgument, file.files + ": current-context: is not set", {}};
  const KubeconfigEntry* context = TRY(Named(file.contexts, out.context, file.files + ": context"));
  std::string cluster_name = TRY(context->Text("cluster"));
  std::string user_name = TRY(context->Text("user"));
  if (std::string ns = TRY(context->Text("namespace")); !ns.empty()) out.ns = ns;
  const KubeconfigEntry* cluster = TRY(Named(file.clusters, cluster_name, context->where + ".cluster"));
  TRY(ReadCluster(*cluster, sources.getenv, out));
  if (user_name.empty()) return out;
  const KubeconfigEntry* user = TRY(Named(file.users, user_name, context->where + ".user"));
  TRY(ReadUser(*user, *cluster, out));
  return out;
}

namespace {

bool InCluster(const ConfigSources& sources) {
  return !Env(sources.getenv, "KUBERNETES_SERVICE_HOST").empty() &&
         !Env(sources.getenv, "KUBERNETES_SERVICE_PORT").empty();
}

Result<Config> FromCluster(const ConfigSources& sources) {
  std::string host = Env(sources.getenv, "KUBERNETES_SERVICE_HOST");
  if (host.find(':') != host.npos) host = "[" + host + "]";
  Config out;
  out.server = fmt::format("https://{}:{}", host, Env(sources.getenv, "KUBERNETES_SERVICE_PORT"));
  out.tls.ca_file = sources.service_account_dir + "/ca.crt";
  out.credentials = TokenFile(sources.service_account_dir + "/token");
  Context now;
  TRY_WITH(out.credentials->Get(now, nullptr), "in-cluster configuration");
  if (Result<std::string> ns = ReadFile(sources.service_account_dir + "/namespace"); ns.ok() && !Trim(*ns).empty()) {
    out.ns = Trim(*ns);
  }
  out.proxy = http::ProxyFromEnvironment(sources.getenv ? sources.getenv : GetEnv(::getenv));
  return out;
}

}  // namespace

Result<Config> LoadConfig(const ConfigSources& sources) {
  if (!sources.kubeconfig.empty()) {
    Kubeconfig file = TRY_WITH(ReadKubeconfig(sources.kubeconfig), "kubeconfig");
    return FromKubeconfig(file, sources);
  }
  std::vector<std::string> paths;
  std::string list = Env(sources.getenv, "KUBECONFIG");
  std::string home = Env(sources.getenv, "HOME");
  if (!list.empty()) {
    paths = Split(list, ':');
  } else if (!home.empty()) {
    paths = {home + "/.kube/config"};
  }
  Kubeconfig merged;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    Result<Kubeconfig> file = ReadKubeconfig(path);
    if (!file.ok() && file.code() == Code::kNotFound) continue;  // as kubectl: the list may name what isn't there yet
    if (!file.ok()) return file.error().With("kubeconfig");
    MergeKubeconfig(merged, std::move(*file));
  }
  if (!merged.files.empty()) return FromKubeconfig(merged, sources);
  if (InCluster(sources)) return FromCluster(sources);
  return Error{Code::kNotFound,
               fmt::format("no kubeconfig: {} and this is no pod",
                           paths.empty() ? "neither KUBECONFIG nor HOME is set" : "there is no " + Join(paths, ", ")),
               {}};
}

}  // namespace capi::kube
