// The built clusterctl: its exit codes and streams, on releases of the set, and on a server that speaks GitHub's API.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/testing/variables.h"
#include "base/files.h"
#include "base/http/server/server.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "base/testing/vectors.h"
#include "base/yaml/yaml.h"
#include "e2e/support/clusterctl_programs.h"

namespace capi::e2e {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr Millis kPatience = Seconds(60);

struct Outcome {
  int code = -1;
  std::string out, err;
};

// A home of its own: no configuration of this machine is read.
class Program {
 public:
  Outcome Run(std::vector<std::string> arguments, const api::VariableValues& variables = {}) {
    capi::ProcessOptions options;
    options.argv = std::move(arguments);
    options.argv.insert(options.argv.begin(), OurClusterctlPath());
    std::string run = fmt::format("{}/{}", folder_.path(), ++runs_);
    options.output_file = run + ".out";
    options.log_file = run + ".err";
    options.environment = {"HOME=" + folder_.path(), "XDG_CONFIG_HOME=" + folder_.path(), "GITHUB_TOKEN="};
    for (const auto& [name, value] : variables) options.environment.push_back(name + "=" + value);
    auto process = capi::Process::Start(options);
    EXPECT_TRUE(process.ok()) << process.error().message;
    if (!process.ok()) return {};
    auto code = (*process)->Wait(kPatience);
    EXPECT_TRUE(code) << "it did not end";
    return {code.value_or(-1), ReadFile(options.output_file).value(), ReadFile(options.log_file).value()};
  }
  std::string Put(const std::string& name, std::string_view text) {
    std::string path = folder_.path() + "/" + name;
    EXPECT_TRUE(WriteFile(path, text).ok());
    return path;
  }

 private:
  TemporaryFolder folder_;
  int runs_ = 0;
};

std::string FlagOf(std::string_view type) {
  if (type == "ControlPlaneProvider") return "--control-plane";
  if (type == "RuntimeExtensionProvider") return "--runtime-extension";
  return "--" + ToLower(type.substr(0, type.find("Provider")));
}

// A configuration file with this one provider in the folder of releases.
std::string ConfigFor(const Json& c) {
  std::string id = GetString(c, {"id"});  // "infrastructure-aws/v2.0.2/infrastructure-components.yaml"
  return ToYaml({{"providers",
                  {{{"name", GetString(c, {"provider", "name"})},
                    {"type", GetString(c, {"provider", "type"})},
                    {"url", ReleasesDir() + "/" + id}}}}});
}

std::vector<std::string> Lines(const std::vector<YamlDocument>& documents) {
  std::vector<std::string> out;
  for (const YamlDocument& document : documents) {
    const Json& o = document.value;
    out.push_back(fmt::format("{} {} {} {}", GetString(o, {"apiVersion"}), GetString(o, {"kind"}),
                              GetString(o, {"metadata", "namespace"}, "-"), GetString(o, {"metadata", "name"})));
  }
  return out;
}

std::string ListIn(std::string_view title, const Json& items) {
  std::string out = items.empty() ? "" : fmt::format("{}\n", title);
  for (const Json& item : items) out += fmt::format("  - {}\n", item.get<std::string>());
  return out;
}

// One release of each contract and the largest; all of them are templating/render_corpus_test.cc's, in process.
bool IsSample(std::string_view id) {
  for (std::string_view sample : {"cluster-api/v0.4.2/", "cluster-api/v1.12.0/", "bootstrap-kubeadm/v1.8.0/",
                                  "infrastructure-aws/v2.11.1/", "infrastructure-azure/v1.13.0/", "addon-helm/"}) {
    if (id.starts_with(sample)) return true;
  }
  return false;
}

TEST(Clusterctl, PrintsRealReleases) {
  if (GetReleaseSet() != ReleaseSet::kVendors) GTEST_SKIP() << "the vectors are of the vendors' releases";
  if (std::string missing = MissingReleases({}); !missing.empty()) GTEST_SKIP() << missing;
  const Json cases = LoadCases("components-corpus.json");
  Program clusterctl;
  size_t printed = 0;
  for (const Json& c : cases) {
    std::string id = GetString(c, {"id"});
    if (!IsSample(id) || !MissingReleases({id.substr(0, id.rfind('/'))}).empty()) continue;
    SCOPED_TRACE(GetString(c, {"id"}));
    std::string config = clusterctl.Put("c.yaml", ConfigFor(c));
    std::vector<std::string> command = {
        "generate", "provider", FlagOf(GetString(c, {"provider", "type"})), GetString(c, {"provider", "name"}),
        "--config", config};
    api::VariableValues variables;
    if (c.contains("variables")) variables = c["variables"].get<api::VariableValues>();
    Outcome outcome = clusterctl.Run(command, variables);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err.empty(), !GetString(c, {"id"}).starts_with("cluster-api/v0.")) << outcome.err;
    auto documents = ParseYamlStream(outcome.out);
    ASSERT_TRUE(documents.ok());
    EXPECT_EQ(Lines(*documents), c["want"]["objects"].get<std::vector<std::string>>());

    command.push_back("--describe");
    outcome = clusterctl.Run(command);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, ::testing::EndsWith(ListIn("Variables:", c["want"]["variables"]) +
                                                 ListIn("Images:", c["want"]["images"]) + "\n"));
    ++printed;
  }
  if (printed == 0) GTEST_SKIP() << "no sample of components-corpus.json is in RELEASES_DIR";
}

// GitHub as far as one release of "o/r" goes: its list of releases and its two files.
http::Response AnswerAsGitHub(const http::ServerRequest& request) {
  http::Response response;
  response.status = 200;
  if (request.path == "/repos/o/r/releases") {
    response.body = R"([{"tag_name":"v1.0.0"}])";
  } else if (request.path == "/o/r/releases/download/v1.0.0/metadata.yaml") {
    response.body =
        "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
        "- {major: 1, minor: 0, contract: v1beta2}\n";
  } else if (request.path == "/o/r/releases/download/v1.0.0/core-components.yaml") {
    response.body = "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"${NAME}\"}\n";
  } else {
    response.status = 404;
  }
  return response;
}

TEST(Clusterctl, PrintsReleasesFromGitHub) {
  auto server = http::Server::Start({}, AnswerAsGitHub);
  ASSERT_TRUE(server.ok());
  std::string url = "http://" + (*server)->address();
  Program clusterctl;
  std::string config = clusterctl.Put("c.yaml",
                                      "providers:\n- name: cluster-api\n  type: CoreProvider\n"
                                      "  url: https://github.com/o/r/releases/latest/core-components.yaml\n");
  api::VariableValues environment = {{"CLUSTERCTL_GITHUB_API_URL", url}, {"CLUSTERCTL_GITHUB_URL", url}};
  std::vector<std::string> command = {"generate", "provider", "--core", "cluster-api", "--config", config};
  Outcome missing = clusterctl.Run(command, environment);
  EXPECT_EQ(missing.code, 1);
  EXPECT_THAT(missing.out, IsEmpty());
  EXPECT_THAT(missing.err, StartsWith("Error: failed to perform variable substitution: value for variables [NAME]"));
  environment["NAME"] = "from-github";
  Outcome outcome = clusterctl.Run(command, environment);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("name: from-github\n"));
}

TEST(Clusterctl, SaysWhenItsOutputGoesNowhere) {
  CAPI_NEED_RELEASES("cluster-api/v1.12.0");
  Program clusterctl;
  std::string config = clusterctl.Put("c.yaml", fmt::format("providers:\n- name: cluster-api\n  type: CoreProvider\n"
                                                            "  url: {}/cluster-api/v1.12.0/core-components.yaml\n",
                                                            ReleasesDir()));
  Outcome outcome =
      clusterctl.Run({"generate", "provider", "--core", "cluster-api", "--config", config, "--write-to", "/dev/full"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("failed to write to destination file: /dev/full: No space left on device"));
}

#if CAPI_CLUSTERCTL_IS_STATIC  // not with sanitizers

// It starts quickly since it loads the C library alone (cmake/targets.cmake), with lld and the archives of tools/deps.
TEST(Clusterctl, LoadsTheCLibraryAlone) {
  auto loaded = capi::RunProgram({"/usr/bin/ldd", OurClusterctlPath()}, "", kPatience);
  ASSERT_TRUE(loaded.ok()) << loaded.error().message;
  EXPECT_THAT(*loaded, HasSubstr("libc.so"));
  for (const std::string& line : Split(*loaded, '\n')) {
    std::string_view name = Trim(line);
    bool known = name.empty() || name.starts_with("libc.so") || name.starts_with("libm.so") ||
                 name.starts_with("linux-vdso") || name.starts_with("/lib");
    EXPECT_TRUE(known) << line;
  }
}

#endif

}  // namespace
}  // namespace capi::e2e
