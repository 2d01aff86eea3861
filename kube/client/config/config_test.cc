// Kubeconfig files and in-cluster configuration.
#include "kube/client/config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "base/encoding.h"
#include "base/files.h"

namespace capi::kube {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class ConfigTest : public testing::Test {
 protected:
  ConfigTest() {
    std::string pattern = testing::TempDir() + "config_test_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    sources_.getenv = [this](const char* name) {
      auto it = env_.find(name);
      return it == env_.end() ? nullptr : it->second.c_str();
    };
    sources_.service_account_dir = folder_ + "/sa";
  }
  ~ConfigTest() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, std::string_view text) {
    std::string path = folder_ + "/" + name;
    fs::create_directories(fs::path(path).parent_path());
    EXPECT_TRUE(WriteFile(path, text).ok());
    return path;
  }
  Result<Config> Load(std::string_view text) {
    sources_.kubeconfig = Write("config", text);
    return LoadConfig(sources_);
  }
  static std::string Authorization(const Config& config, bool refresh = false) {
    CredentialSource::Credential old;
    auto credential = config.credentials->Get(Context{}, refresh ? &old : nullptr);
    return credential.ok() ? credential->authorization : "error: " + credential.error().message;
  }

  std::string folder_;
  std::map<std::string, std::string> env_;
  ConfigSources sources_;
};

// One context "c" with this cluster and user.
std::string OneContext(std::string_view cluster, std::string_view user) {
  return std::string(
             "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u, "
             "namespace: spot}\n") +
         "clusters:\n- name: k\n  cluster: " + std::string(cluster) +
         "\nusers:\n- name: u\n  user: " + std::string(user) + "\n";
}

TEST_F(ConfigTest, ReadsInlineDataAndToken) {
  auto config = Load(OneContext("{server: 'https://h:6443', certificate-authority-data: " + Base64Encode("CA") +
                                    ", tls-server-name: other, proxy-url: 'http://p:3128'}",
                                "{client-certificate-data: " + Base64Encode("CERT") + ", client-key-data: " +
                                    Base64Encode("KEY") + ", token: t, as: someone, as-groups: [a, b]}"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->server, "https://h:6443");
  EXPECT_EQ(config->tls.ca_pem, "CA");
  EXPECT_EQ(config->tls.cert_pem, "CERT");
  EXPECT_EQ(config->tls.key_pem, "KEY");
  EXPECT_EQ(config->tls.server_name, "other");
  EXPECT_EQ(config->proxy.url, "http://p:3128");
  EXPECT_TRUE(config->proxy.always);
  EXPECT_EQ(config->ns, "spot");
  EXPECT_EQ(config->context, "c");
  EXPECT_EQ(config->impersonate_user, "someone");
  EXPECT_THAT(config->impersonate_groups, testing::ElementsAre("a", "b"));
  EXPECT_EQ(Authorization(*config), "Bearer t");
}

// F8: the environment's proxy isn't for loopback addresses, nor for what NO_PROXY lists; the file's is for its server.
TEST_F(ConfigTest, TellsWhereAProxyComesFrom) {
  env_ = {{"HTTPS_PROXY", "http://env:1"}, {"HTTP_PROXY", "http://plain:2"}, {"NO_PROXY", "h"}};
  auto environment = Load(OneContext("{server: 'https://h'}", "{}"));
  ASSERT_TRUE(environment.ok()) << environment.error().message;
  EXPECT_EQ(environment->proxy.url, "http://env:1");
  EXPECT_EQ(environment->proxy.http_url, "http://plain:2") << "of a server that is named by http";
  EXPECT_EQ(environment->proxy.no_proxy, "h");
  EXPECT_FALSE(environment->proxy.always);
  auto named = Load(OneContext("{server: 'https://h', proxy-url: 'http://p:3128'}", "{}"));
  ASSERT_TRUE(named.ok()) << named.error().message;
  EXPECT_EQ(named->proxy.url, "http://p:3128");
  EXPECT_TRUE(named->proxy.always);
  for (std::string_view url : {"socks5://u:secret@p", "https://u:secret@p"}) {
    auto refused = Load(OneContext("{server: 'https://h', proxy-url: '" + std::string(url) + "'}", "{}"));
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), Code::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("clusters[k].cluster.proxy-url: a proxy that speaks "));
    EXPECT_THAT(refused.error().message, HasSubstr("name one that speaks plain HTTP"));
    EXPECT_THAT(refused.error().message, testing::Not(HasSubstr("secret")));
  }
}

TEST_F(ConfigTest, PathsAreRelativeToTheFile) {
  auto config = Load(OneContext("{server: 'https://h', certificate-authority: pki/ca.crt}",
                                "{client-certificate: ./c.crt, client-key: /abs/c.key, tokenFile: token}"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->tls.ca_file, folder_ + "/pki/ca.crt");
  EXPECT_EQ(config->tls.cert_file, folder_ + "/c.crt");
  EXPECT_EQ(config->tls.key_file, "/abs/c.key");
  EXPECT_THAT(Authorization(*config), HasSubstr("token file " + folder_ + "/token"));
}

TEST_F(ConfigTest, TokenFilesRotate) {
  auto config = Load(OneContext("{server: 'https://h'}", "{tokenFile: token, token: first}"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(Authorization(*config), "Bearer first");
  Write("token", "one\n");
  EXPECT_EQ(Authorization(*config), "Bearer one");
  Write("token", "two\n");
  EXPECT_EQ(Authorization(*config), "Bearer two");
  fs::remove(folder_ + "/token");
  EXPECT_EQ(Authorization(*config, true), "Bearer two") << "the last one serves while the file can't be read";
}

TEST_F(ConfigTest, BasicAuthentication) {
  auto config = Load(OneContext("{server: 'https://h', insecure-skip-tls-verify: true}", "{username: u, password: p}"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_TRUE(config->tls.insecure_skip_verify);
  EXPECT_EQ(Authorization(*config), "Basic " + Base64Encode("u:p"));
}

TEST_F(ConfigTest, MergesAListOfFilesTheFirstWins) {
  std::string a = Write("a/config", R"(
current-context: two
contexts: [{name: two, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: 'https://a', certificate-authority: ca}}]
)");
  std::string b = Write("b/config", R"(
current-context: one
contexts: [{name: one, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {server: 'https://b'}}]
users: [{name: u, user: {tokenFile: t}}]
)");
  Write("b/t", "T");
  env_["KUBECONFIG"] = a + ":" + folder_ + "/absent::" + b;
  auto config = LoadConfig(sources_);
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->context, "two");
  EXPECT_EQ(config->server, "https://a");
  EXPECT_EQ(config->tls.ca_file, folder_ + "/a/ca");
  EXPECT_EQ(Authorization(*config), "Bearer T");
  EXPECT_EQ(config->ns, "default");

  sources_.context = "one";
  EXPECT_EQ(LoadConfig(sources_)->context, "one");
}

TEST_F(ConfigTest, FallsBackToHomeThenToTheCluster) {
  env_ = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}, {"KUBERNETES_SERVICE_PORT", "443"}, {"HOME", folder_}};
  Write("sa/token", "in-cluster\n");
  Write("sa/namespace", "capi-system");
  Write("sa/ca.crt", "CA");
  auto pod = LoadConfig(sources_);
  ASSERT_TRUE(pod.ok()) << pod.error().message;
  EXPECT_EQ(pod->server, "https://10.0.0.1:443");
  EXPECT_EQ(pod->ns, "capi-system");
  EXPECT_EQ(pod->tls.ca_file, folder_ + "/sa/ca.crt");
  EXPECT_EQ(Authorization(*pod), "Bearer in-cluster");
  Write("sa/token", "rotated");
  EXPECT_EQ(Authorization(*pod), "Bearer rotated");

  env_["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(LoadConfig(sources_)->server, "https://[fd00::1]:443");

  Write(".kube/config", OneContext("{server: 'https://home'}", "{}"));
  EXPECT_EQ(LoadConfig(sources_)->server, "https://home");
}

TEST_F(ConfigTest, SaysWhereItLooked) {
  env_["HOME"] = folder_;
  auto config = LoadConfig(sources_);
  ASSERT_FALSE(config.ok());
  EXPECT_EQ(config.code(), Code::kNotFound);
  EXPECT_THAT(config.error().message, HasSubstr(folder_ + "/.kube/config"));
  sources_.kubeconfig = folder_ + "/absent";
  EXPECT_EQ(LoadConfig(sources_).code(), Code::kNotFound);
}

TEST_F(ConfigTest, ErrorsNameFileAndField) {
  struct Case {
    std::string text, message;
  };
  const Case cases[] = {
      {"a: [", "line 2, column 1"},
      {"[]", "is no kubeconfig"},
      {"kind: Deployment", "kind: is Deployment, not Config"},
      {"clusters: []", "current-context: is not set"},
      {"current-context: x", "context: \"x\" does not exist"},
      {"clusters: [{cluster: {}}]", "clusters[0]: has no name"},
      {"clusters: [{name: a, cluster: {}}, {name: a, cluster: {}}]", "clusters[a]: is there twice"},
      {"users: {}", "users: is no list"},
      {"current-context: c\ncontexts: [{name: c, context: {cluster: nope}}]", "cluster: \"nope\" does not exist"},
      {OneContext("{}", "{}"), "clusters[k].cluster.server: is missing"},
      {OneContext("{server: 7}", "{}"), "clusters[k].cluster.server: is no text"},
      {OneContext("{server: h, certificate-authority-data: '%'}", "{}"), "certificate-authority-data: is no base64"},
      {OneContext("{server: h, certificate-authority: f, insecure-skip-tls-verify: true}", "{}"), "contradicts"},
      {OneContext("{server: h}", "{client-certificate: f}"), "client-key: is missing beside client-certificate"},
      {OneContext("{server: h}", "{token: a, username: b}"), "more than one of token, username and exec"},
      {OneContext("{server: h}", "{auth-provider: {name: gcp}}"), "auth-provider: is not supported"},
      {OneContext("{server: h}", "{as-groups: [a]}"), "as: is missing beside"},
      {OneContext("{server: h}", "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1alpha1}}"),
       "exec.apiVersion: \"client.authentication.k8s.io/v1alpha1\" is not"},
      {OneContext("{server: h}", "{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}"),
       "exec.command: is missing"},
      {OneContext("{server: h}", "{exec: {command: x, apiVersion: client.authentication.k8s.io/v1}}"),
       "exec.interactiveMode: is missing"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.text);
    auto config = Load(c.text);
    ASSERT_FALSE(config.ok());
    EXPECT_EQ(config.code(), Code::kInvalidArgument);
    EXPECT_THAT(config.error().message, HasSubstr(folder_ + "/config"));
    EXPECT_THAT(config.error().message, HasSubstr(c.message));
  }
}

}  // namespace
}  // namespace capi::kube
