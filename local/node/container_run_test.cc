#include "local/node/container_run.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "local/node/api_testing.h"

namespace capi::local {
namespace {

// What runs is a shell.
class ShellOnly : public Programs {
 public:
  Result<Program> Find(const Context&, const std::string&) override { return Program{.path = "/bin/sh"}; }
};

// G3: of one that ends at once, again and again, the log was never looked at while it ran.
TEST(ContainerRun, ALogThatIsTooLongBeginsAnewWithEachStart_G3) {
  TempFolder folder;
  ShellOnly programs;
  ApiStandIn api;
  const NodeOptions options{.folder = folder / "pods", .volumes = folder / "volumes"};
  NodeParts node{
      .client = api.client(), .programs = programs, .options = options, .clock = SystemClock(), .wake = [] {}};
  Json container = {{"name", "c"}, {"image", "x"}, {"args", {"-c", "echo ends"}}};
  const kube::Object pod(Json{{"metadata", {{"name", "p"}, {"namespace", "n"}, {"uid", "u"}}},
                              {"spec", {{"automountServiceAccountToken", false}}}});
  PodFiles files(api.client(), options, SystemClock(), pod);
  ASSERT_TRUE(files.MakeFolders().ok());
  const std::string log = files.Log("c");
  ASSERT_TRUE(WriteFile(log, "was\n", 0600).ok());
  std::filesystem::resize_file(log, (32 << 20) + 1);

  FactsBoard board(PodFacts{.init = {ContainerFacts{.name = "c"}}});
  PodParts parts{.node = node, .pod = pod, .files = files, .board = board};
  ContainerRun(parts, container, 0, true).Run();  // one that comes first is done when it has succeeded
  EXPECT_EQ(board.Get().init[0].end->exit_code, 0);
  EXPECT_EQ(*ReadFile(log), "ends\n");
  EXPECT_EQ(std::filesystem::file_size(log + ".old"), (32u << 20) + 1);
}

}  // namespace
}  // namespace capi::local
