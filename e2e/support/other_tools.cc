#include "e2e/support/other_tools.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/environment.h"
#include "base/testing/value_or_abort.h"
#include "e2e/support/cluster.h"
#include "e2e/support/clusterctl_programs.h"
#include "kube/testing/certificates.h"
#include "kube/testing/programs.h"

namespace capi::e2e {
namespace {

std::string Program(const std::string& name) {
  auto path = kube::FindProgram(name);
  EXPECT_TRUE(path.ok()) << path.error().message;
  return path.ok() ? *path : "";
}

// A port that nobody listens on now.
int FreePort() {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  socklen_t size = sizeof address;
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  bool ok = fd >= 0 && bind(fd, generic, size) == 0 && getsockname(fd, generic, &size) == 0;
  EXPECT_TRUE(ok) << "no free port";
  if (fd >= 0) close(fd);
  return ntohs(address.sin_port);
}

}  // namespace

RealClusterctl::RealClusterctl(const std::vector<std::string>& versions)
    : program_(ValueOrAbort(RealClusterctlPath(), "clusterctl")) {
  std::string providers = "providers:\n";
  std::error_code failed;
  for (const std::string& id : versions) {
    auto parts = Split(id, '/');
    ReleaseFolder release = GetRelease(parts.at(0), parts.at(1));
    const auto& kind = api::KindOf(release.type);
    std::string to = fmt::format("{}/repository/{}", folder_.path(), id);
    std::filesystem::create_directories(to, failed);
    std::filesystem::copy(release.path, to, std::filesystem::copy_options::recursive, failed);
    EXPECT_FALSE(failed) << id << ": " << failed.message();
    std::string entry = fmt::format("- {{name: {}, type: {}, url: \"{}/repository/{}/latest/{}\"}}\n", release.name,
                                    kind.kind, folder_.path(), parts[0], kind.components_file);
    if (providers.find(entry) == providers.npos) providers += entry;
  }
  EXPECT_TRUE(WriteFile(folder_.path() + "/clusterctl.yaml", providers).ok());
}

ToolRun RealClusterctl::Run(const std::string& kubeconfig, std::vector<std::string> arguments,
                            std::vector<std::string> environment) {
  capi::ProcessOptions options;
  options.argv = {program_, "--config", folder_.path() + "/clusterctl.yaml"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.argv.insert(options.argv.end(), {"--kubeconfig", kubeconfig});
  options.log_file = fmt::format("{}/run-{}.log", folder_.path(), ++runs_);
  options.environment = std::move(environment);
  for (std::string extra : {"HOME=" + folder_.path(), "XDG_CONFIG_HOME=" + folder_.path(),
                            std::string("CLUSTERCTL_DISABLE_VERSIONCHECK=true"), std::string("GOPROXY=off")}) {
    options.environment.push_back(extra);
  }
  auto started = capi::Process::Start(options);
  if (!started.ok()) return {-1, started.error().message};
  auto code = (*started)->Wait(Seconds(120));
  auto text = ReadFile(options.log_file);
  return {code.value_or(-1), text.ok() ? *text : ""};
}

std::string CommandsOf(const std::string& page, const std::string& heading) {
  auto text = ReadFile("docs/" + page);
  EXPECT_TRUE(text.ok()) << page;
  std::string script;
  bool in_section = false, in_block = false;
  for (const std::string& line : Split(text.ok() ? *text : "", '\n')) {
    std::string_view plain = Trim(line);
    if (line.starts_with("#")) {
      in_section = Trim(line.substr(line.find_first_not_of('#'))) == heading;
    } else if (plain.starts_with("```")) {
      in_block = in_section && plain == "```sh";
    } else if (in_block) {
      script += std::string(plain) + "\n";
    }
  }
  EXPECT_NE(script, "") << page << ": no commands under " << heading;
  return script;
}

ToolRun RunCommands(const std::string& kubeconfig, const std::string& script) {
  TemporaryFolder folder;
  std::string kubectl = Program("kubectl");
  std::string path = EnvironmentVariable("PATH");
  capi::ProcessOptions options;
  options.argv = {"/bin/sh", "-euxc", script};
  options.log_file = folder.path() + "/log";
  options.environment = {"KUBECONFIG=" + kubeconfig, fmt::format("PATH={}:{}", kubectl.substr(0, kubectl.rfind('/')),
                                                                 path.empty() ? "/bin" : path)};
  auto started = capi::Process::Start(options);
  if (!started.ok()) return {-1, started.error().message};
  auto code = (*started)->Wait(Seconds(60));
  auto text = ReadFile(options.log_file);
  return {code.value_or(-1), text.ok() ? *text : ""};
}

PeerOperator::PeerOperator(const std::string& kubeconfig) {
  // It wants a serving certificate, though nothing calls its webhooks.
  auto pair = kube::MakeCertificate({.common_name = "localhost"});
  EXPECT_TRUE(pair.ok() && WriteFile(folder_.path() + "/tls.crt", pair->cert_pem).ok() &&
              WriteFile(folder_.path() + "/tls.key", pair->key_pem).ok());
  auto started =
      capi::Process::Start({.argv = {Program("peer"), "--kubeconfig=" + kubeconfig, "--diagnostics-address=127.0.0.1:0",
                                     "--insecure-diagnostics", "--health-addr=127.0.0.1:0",
                                     "--profiler-address=", fmt::format("--webhook-port={}", FreePort()),
                                     "--webhook-cert-dir=" + folder_.path()},
                            .log_file = folder_.path() + "/peer.log",
                            .environment = {"KUBECONFIG=" + kubeconfig, "POD_NAMESPACE=default"}});
  EXPECT_TRUE(started.ok()) << started.error().message;
  if (started.ok()) process_ = std::move(started).value();
}

void PeerOperator::Stop() {
  if (process_) process_->Stop();
}

}  // namespace capi::e2e
