// docs/flags.md has the flags as --help tells them. It is made here (CAPI_WRITE_DOCS=1 writes it).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/environment.h"
#include "operator/options.h"

namespace capi::ops {
namespace {

constexpr std::string_view kPage = "docs/flags.md";
constexpr size_t kColumn = 30;  // where the words about a flag begin

constexpr std::string_view kBegin = R"(# Flags of the operator

`capi-operator --help` prints them; this page has the same words. How to give one:

- With the manifests, in an overlay of your own that adds it to the Deployment's `args`:
  [an example](adopting.md#with-the-manifests).
- With Helm, by the chart's [value](../charts/capi-operator/values.yaml) of that name: `logLevel` is `--v`, `watchNamespace` is
  `--namespace`, `leaderElection` has the three durations, `webhooks` the port and who makes the certificate, `clusterctlConfig` is
  what the file says, and the others are written alike (`--github-url` is `githubUrl`). `--kubeconfig`, `--kubeconfig-context`,
  `--leader-elect-namespace` and `--webhook-hosts` have no value: in the chart's pod their defaults are right.

A flag that is given in a way that can't be carried out ends the operator at once, with exit code 2 and a line that says why.
Durations are written as `15s`, `1m30s` or `10h`.

| Flag | Default | Meaning |
| --- | --- | --- |
)";

constexpr std::string_view kPeer = R"(
## Flags of cluster-api-operator

These are taken so that an existing Deployment can keep its `args`. Each asks for what happens here anyway; any other value is
refused, with the reason that stands here. Its other flags (`--kubeconfig`, `--namespace`, `--concurrency`, `--sync-period`,
`--diagnostics-address`, `--insecure-diagnostics`, `--health-addr`, `--webhook-port`, `--webhook-cert-dir`, `--v` and those of
the leader's election) mean the same here and there.

| Flag | Why |
| --- | --- |
)";

struct Flag {
  std::string name, preset, meaning;
  bool of_the_peer = false;
};

// "-v,--v INT=0" or "--concurrency INT:INT in [1 - 64]=4": the names, and what stands behind the last =.
Flag FlagOf(std::string_view words) {
  Flag out;
  size_t space = words.find(' '), equals = words.rfind('=');
  out.name = words.substr(0, space);
  if (space == words.npos || equals == words.npos) return out;
  out.preset = Trim(words.substr(equals + 1));
  if (out.preset.ends_with(" ...")) out.preset.resize(out.preset.size() - 4);
  if (out.preset.starts_with('[')) out.preset = out.preset.substr(1, out.preset.size() - 2);
  return out;
}

// What stands in [] at the end of a description is its default.
void TakeDefault(Flag& flag) {
  size_t begin = flag.meaning.rfind(" [");
  if (!flag.meaning.ends_with(']') || begin == flag.meaning.npos) return;
  flag.preset = flag.meaning.substr(begin + 2, flag.meaning.size() - begin - 3);
  flag.meaning.resize(begin);
}

// "  -v,--v INT=0               verbosity: ..."; a long name has its words on the next line.
std::vector<Flag> FlagsOf(std::string_view help) {
  const std::string indent(kColumn, ' ');
  std::vector<Flag> out;
  bool of_the_peer = false;
  std::vector<std::string> lines = Split(help, '\n');
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with("Compatibility:")) of_the_peer = true;
    if (!lines[i].starts_with("  -")) continue;
    bool words_below = i + 1 < lines.size() && lines[i + 1].starts_with(indent);
    size_t end = words_below ? lines[i].size() : std::min(lines[i].size(), kColumn);
    Flag flag = FlagOf(Trim(std::string_view(lines[i]).substr(0, end)));
    flag.meaning = Trim(words_below ? lines[i + 1] : lines[i].substr(end));
    flag.of_the_peer = of_the_peer;
    TakeDefault(flag);
    out.push_back(flag);
  }
  return out;
}

// As a table's cell has it: no new column, and no element of HTML.
std::string Cell(std::string text) {
  for (size_t at = 0; (at = text.find_first_of("|<", at)) != text.npos; at += 2) text.insert(at, "\\");
  return text;
}

std::string Page(const std::vector<Flag>& flags) {
  std::string own(kBegin), peer(kPeer);
  for (const Flag& flag : flags) {
    std::string_view meaning = flag.meaning;
    if (flag.of_the_peer) {
      peer += fmt::format("| `{}` | {} |\n", flag.name, Cell(std::string(meaning.substr(meaning.find("; ") + 2))));
    } else {
      std::string preset = flag.preset.empty() ? "" : fmt::format("`{}`", flag.preset);
      own += fmt::format("| `{}` | {} | {} |\n", flag.name, preset, Cell(flag.meaning));
    }
  }
  return own + peer;
}

TEST(FlagsPage, IsUpToDate) {
  const char* arguments[] = {"capi-operator", "--help"};
  auto parsed = ParseOptions(2, arguments, {});
  ASSERT_EQ(parsed.exit.code, 0);
  std::vector<Flag> flags = FlagsOf(parsed.exit.text);
  for (const Flag& flag : flags) EXPECT_FALSE(flag.meaning.empty()) << flag.name;
  ASSERT_GT(flags.size(), 30U) << parsed.exit.text;
  if (IsSet("CAPI_WRITE_DOCS")) ASSERT_TRUE(WriteFile(std::string(kPage), Page(flags)).ok());
  auto text = ReadFile(std::string(kPage));
  ASSERT_TRUE(text.ok()) << text.error().message << ": run this in the top folder of the tree";
  EXPECT_EQ(*text, Page(flags)) << "CAPI_WRITE_DOCS=1 writes it";
}

}  // namespace
}  // namespace capi::ops
