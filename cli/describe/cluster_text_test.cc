#include "cli/describe/cluster_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/strings.h"
#include "cli/describe/cluster_testing.h"

namespace capi::cli::describe {
namespace {

using testing::HasSubstr;
using testing::Not;

// A tree of a cluster, a control plane and machines with long messages.
ClusterNode Tree(std::string_view filter = "", ConditionStyle style = ConditionStyle::kV1Beta2) {
  TreeOptions options;
  options.conditions = ConditionFilter::Parse(filter).value();
  options.style = style;
  FakeExternals externals;
  ClusterParts parts;
  parts.cluster.object = Obj("Cluster", "c", {Con("Available", "False", "NotAvailable", "* one:\n  * two")});
  parts.cluster.object.counts = {.current = 1, .desired = 3, .available = 0, .ready = {}, .up_to_date = {}};
  parts.cluster.control_plane = {"c.x", "Kcp", "k"};
  ClusterObject kcp = Obj("Kcp", "k",
                          {Con("Ready", "False"), Con("Available", "True", "Fine", "one\ntwo"),
                           Con("Paused", "True", "P", "held\nback"), Con("Deleting", "False", "D")});
  kcp.counts = {.current = 1, .desired = 1, .available = 1, .ready = 1, .up_to_date = 1};
  externals.control_planes[parts.cluster.control_plane] = {kcp, {}};
  MachineObject machine = MachineOf("", "m", {Con("Ready", "Unknown", "Who", "knows\nthis")});
  machine.object.deleting = true;
  machine.of_control_plane = true;
  parts.machines = {machine, MachineOf("", "x", {}), MachineOf("", "y", {}), MachineOf("", "z", {})};
  for (size_t i = 1; i < parts.machines.size(); ++i)
    parts.machines[i].object.controller = {"cluster.x-k8s.io", "MachinePool", "p"};
  parts.pools = {MakerOf("MachinePool", "p")};
  parts.pools[0].object.counts.desired = 3;
  return BuildClusterTree(parts, options, externals);
}

std::string Text(const ClusterNode& root, TextOptions options = {}) {
  options.now = kNow;
  std::string out = ClusterTreeText(root, options);
  for (std::string before; before != out;) {  // what stands behind a line is blank
    before = out;
    out = ReplaceAll(out, " \n", "\n");
  }
  return out;
}

// L15: what Cluster API's clusterctl prints (tools/clusterctl_describe_e2e_test.py compares them).
TEST(ClusterText, HasALineForEachNodeAndEachLineOfItsMessage) {
  EXPECT_EQ(Text(Tree()),
            R"(NAME                         REPLICAS AVAILABLE READY UP TO DATE STATUS   REASON        SINCE MESSAGE
Cluster/c                    1/3      0                          False    NotAvailable  10d   * one:
│                                                                                               * two
├─ControlPlane - Kcp/k       1/1      1         1     1          True     Fine          10d   one
│ │                                                                                           two
│ └─!! DELETED !! Machine/m  1        0         0     0          Unknown  Who           10d   knows
│                                                                                             this
└─Workers
  └─MachinePool/p
    └─3 Machines...                   0         0     0                                       See x, y, ...
)");
}

TEST(ClusterText, ShowsConditionsBelowTheirObject) {
  EXPECT_EQ(Text(Tree("kcp,Cluster")),
            R"(NAME                         REPLICAS AVAILABLE READY UP TO DATE STATUS   REASON        SINCE MESSAGE
Cluster/c                    1/3      0
│           └─Available                                          False    NotAvailable  10d   * one:
│                                                                                               * two
├─ControlPlane - Kcp/k       1/1      1         1     1
│ │           ├─Ready                                            False    R             10d
│ │           ├─Available                                        True     Fine          10d   one
│ │           │                                                                               two
│ │           ├─Paused                                           True     P             10d   held
│ │           │                                                                               back
│ │           └─Deleting                                         False    D             10d
│ └─!! DELETED !! Machine/m  1        0         0     0          Unknown  Who           10d   knows
│                                                                                             this
└─Workers
  └─MachinePool/p
    └─3 Machines...                   0         0     0                                       See x, y, ...
)");
  std::string notable = Text(Tree("kcp+"));
  EXPECT_THAT(notable, HasSubstr("─Ready "));
  EXPECT_THAT(notable, HasSubstr("─Paused "));
  EXPECT_THAT(notable, Not(HasSubstr("─Deleting ")));
}

// L15: --v1beta2=false.
TEST(ClusterText, OfTheOldContract) {
  TreeOptions options;
  options.style = ConditionStyle::kV1Beta1;
  options.conditions = ConditionFilter::Parse("Cluster").value();
  FakeExternals externals;
  ClusterParts parts;
  Condition ready = Con("Ready", "False", "Scaling", std::string(120, 'x'));
  ready.severity = "Warning";
  parts.cluster.object = Obj("Cluster", "c", {ready, Con("Z", "True"), Con("A", "False", "R", "two\nlines")});
  ClusterNode root = BuildClusterTree(parts, options, externals);
  EXPECT_EQ(Text(root, {.style = options.style}),
            "NAME            READY SEVERITY REASON  SINCE MESSAGE\n"
            "Cluster/c       False Warning  Scaling 10d   " +
                std::string(100, 'x') +
                " ...\n"
                "            ├─A False          R       10d   two\n"
                "                                             lines\n"
                "            └─Z True           R       10d\n");
}

TEST(ClusterText, Colours) {
  std::string text = ClusterTreeText(Tree("kcp"), {.colours = true, .now = kNow});
  for (const char* part : {"\x1b[90m\x1b[0mCluster/\x1b[1mc\x1b[22m ", "\x1b[31mFalse\x1b[0m ", "\x1b[32mTrue\x1b[0m ",
                           "\x1b[90m├─\x1b[0mControlPlane - \x1b[90mKcp/\x1b[1mk\x1b[22m\x1b[0m ",
                           "\x1b[31m!! DELETED !!\x1b[0m Machine/\x1b[1mm\x1b[22m ", "\x1b[33mUnknown\x1b[0m",
                           "\x1b[37;1m3 Machines...\x1b[0;22m", "\x1b[90mSee x, y, ...\x1b[0m", "\x1b[36mPaused\x1b[0m",
                           "\x1b[31mTrue\x1b[0m", "\x1b[32mFalse\x1b[0m"})
    EXPECT_THAT(text, HasSubstr(part));
}

// L15: no status steers the terminal of whoever reads it.
TEST(ClusterText, EscapesOfOthersAreNotPrinted) {
  TreeOptions options;
  FakeExternals externals;
  ClusterParts parts;
  parts.cluster.object = Obj("Cluster", "c", {Con("Available", "False", "R\x1b[2J", "\x1b]0;title\x07 m")});
  for (const char* filter : {"", "all"}) {
    options.conditions = ConditionFilter::Parse(filter).value();
    std::string text = Text(BuildClusterTree(parts, options, externals));
    EXPECT_THAT(text, HasSubstr("R?[2J"));
    EXPECT_THAT(text, HasSubstr("?]0;title? m"));
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  }
}

}  // namespace
}  // namespace capi::cli::describe
