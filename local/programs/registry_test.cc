// On the real registry, with a program that really runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/http/client.h"
#include "base/processes/process.h"
#include "base/testing/await.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "fetch/oci/push.h"
#include "kube/testing/ports.h"
#include "kube/testing/programs.h"
#include "local/programs/programs.h"
#include "local/programs/testing.h"

namespace capi::local {
namespace {

constexpr const char* kUser = "robot";
constexpr const char* kPassword = "s3cret-of-the-registry";
constexpr const char* kHash = "$2b$04$6fqsEDxG9tNrLhP.4qK9j.2ofn1WaQdBPLc.vLKZ5tLfexynYYyoG";  // bcrypt of it

// The distribution project's registry, which asks for user and password.
class Registry {
 public:
  Registry() : host_(fmt::format("127.0.0.1:{}", kube::FreePorts(1)[0])) {
    const std::string program = ValueOrAbort(kube::FindProgram("registry"), "the registry");
    const std::string config = fmt::format(
        "version: 0.1\nlog: {{level: info}}\nstorage: {{filesystem: {{rootdirectory: {0}/data}}}}\n"
        "http: {{addr: \"{1}\", secret: any}}\nauth: {{htpasswd: {{realm: tests, path: {0}/users}}}}\n",
        folder_.path(), host_);
    EXPECT_TRUE(WriteFile(folder_ / "config.yml", config).ok());
    EXPECT_TRUE(WriteFile(folder_ / "users", fmt::format("{}:{}\n", kUser, kHash)).ok());
    process_ =
        ValueOrAbort(Process::Start({.argv = {program, "serve", folder_ / "config.yml"}, .log_file = folder_ / "log"}),
                     "the registry");
    EXPECT_TRUE(Await([&] { return http::Fetch({}, "http://" + host_ + "/v2/", {}, {}).ok(); }, Seconds(60)))
        << process_->LogTail();
  }
  void Stop() { process_->Stop(); }
  std::string Image(const std::string& rest) const { return host_ + "/" + rest; }
  static fetch::OciOptions Options() {
    fetch::OciOptions options;
    options.credentials = {.username = kUser, .password = kPassword};
    return options;
  }
  std::string Push(const MadeImage& made, const std::string& rest) {
    auto reference = api::ParseOciReference("http://" + Image(rest)).value();
    fetch::OciOptions options = Options();
    options.writes = true;
    Status pushed = fetch::OciPush(reference, options).WriteImage({}, made.image, made.Pieces(), {}, {});
    EXPECT_TRUE(pushed.ok()) << pushed.error().message;
    return made.image.digest();
  }

 private:
  TempFolder folder_;
  const std::string host_;
  std::unique_ptr<Process> process_;
};

std::string OutputOf(const Program& program, const std::vector<std::string>& args, const std::string& folder) {
  ProcessOptions options{.argv = ArgumentsOf(program, {}, args).value(),
                         .log_file = folder + "/log",
                         .output_file = folder + "/output",
                         .folder = program.working_folder};
  for (const auto& [name, value] : program.environment) options.environment.push_back(name + "=" + value);
  auto process = ValueOrAbort(Process::Start(std::move(options)), "the program");
  EXPECT_EQ(process->Wait(Seconds(60)), 0) << process->LogTail();
  return ReadFile(folder + "/output").value();
}

// G9: a provider's image of a real registry runs here without a container runtime.
TEST(RealRegistry, AnImagesProgramRunsHere_G9) {
  Registry registry;
  const std::string program = ReadFile(CAPI_TESTING_MANAGER).value();
  const std::string lower =
      fetch::TestLayer({{"usr/bin/", '5'}, {"old", '0', "x"}, {"manager", '2', "", "/usr/bin/manager"}});
  const std::string upper = fetch::TestLayer({{"usr/bin/manager", '0', program, "", 0755}, {".wh.old"}, {"app/", '5'}});
  const MadeImage here = MakeImage(
      {lower, upper},
      {{"Entrypoint", {"/manager", "entry"}}, {"Cmd", {"cmd"}}, {"Env", {"GREETING=hello"}}, {"WorkingDir", "/app"}});
  const std::string other = Architecture() == "amd64" ? "arm64" : "amd64";
  const MadeImage index =
      MadeImage::Index({{other, MakeImage({lower}, {{"Cmd", {"/none"}}}, other)}, {Architecture(), here}});
  const std::string digest = registry.Push(index, "org/manager:v1.0.0");

  TempFolder folder;
  ProgramsOptions options;
  options.cache = folder / "cache";
  options.getenv = Only({});
  auto without = OpenPrograms(options).value();
  auto refused = without->Find({}, registry.Image("org/manager:v1.0.0"));
  EXPECT_EQ(refused.ok() ? Code::kInternal : refused.code(), Code::kUnauthenticated);
  options.registry = [](const std::string&) { return Registry::Options(); };
  auto programs = OpenPrograms(options).value();
  for (const std::string& name : {registry.Image("org/manager:v1.0.0"), registry.Image("org/manager@" + digest)}) {
    auto found = programs->Find({}, name);
    ASSERT_TRUE(found.ok()) << found.error().message;
    const std::string root = std::filesystem::canonical(found->root);
    EXPECT_EQ(OutputOf(*found, {}, folder.path()), fmt::format("entry\ncmd\nin {}/app, hello\n", root));
    std::filesystem::remove(folder / "output");
    EXPECT_EQ(OutputOf(*found, {"-v=2"}, folder.path()), fmt::format("entry\n-v=2\nin {}/app, hello\n", root));
    std::filesystem::remove(folder / "output");
    EXPECT_FALSE(std::filesystem::exists(found->root + "/old"));
  }
  // It is here now, whatever becomes of the registry.
  registry.Stop();
  EXPECT_TRUE(programs->Find({}, registry.Image("org/manager:v1.0.0")).ok());
  EXPECT_EQ(programs->Find({}, registry.Image("org/manager:v2.0.0")).code(), Code::kUnavailable);
}

}  // namespace
}  // namespace capi::local
