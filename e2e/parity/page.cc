#include "e2e/parity/page.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "e2e/parity/exceptions.h"

namespace capi::e2e {
namespace {

constexpr std::string_view kIntroduction = R"(# Parity with clusterctl

`clusterctl generate provider` of this project beside the real one, {}, on real releases of many vendors, in
five modes. Both programs are run as a user runs them, with a configuration file that points to a folder of releases; what they
print is parsed, and compared object by object, in order.

- *equal*: the same objects, once the empty parts are left out that Go's structures write: `status`, `spec.strategy`,
  `resources`, `admissionReviewVersions` and the like, empty, in Deployments, DaemonSets, CRDs and webhook configurations.
  Ours prints what the release has: they say nothing, and an applied `status` is in the way of its owner.
- *fails*: both fail, with the same exit code and the same message; for "none set", that is the list of missing variables.
- a name: equal except for that exception; all exceptions are in the next table.

This page is written by the test that fails when it is out of date, `e2e_parity_test`. `make test` compares the two on the
tree's own small releases and on Cluster API's own four; `make test-full` does so on all of this page. CI
does that for about one commit in four: the commit's id chooses which part of `make test-full` runs. To write the page, with the
vendors' releases in `RELEASES_DIR`, after `tools/build release e2e_parity_test`:

    CAPI_RELEASES=vendors CAPI_PARITY_WRITE=1 build/release/bin/e2e_parity_test

## Exceptions

Each has a test of its own in e2e/parity/exceptions_test.cc, on a small release made for it; not all occur in a real one.

| name | the real one | ours | why |
| --- | --- | --- | --- |
)";

std::vector<std::string> CellsOf(std::string_view line) {
  std::vector<std::string> cells;
  for (const std::string& cell : Split(line, '|')) cells.emplace_back(Trim(cell));
  return cells;
}

std::string ModesTable() {
  std::string out = "\n## Modes\n\n| mode | what it is |\n| --- | --- |\n";
  for (const ModeInfo& info : kModes) out += fmt::format("| {} | {} |\n", info.name, info.what);
  return out;
}

}  // namespace

ParityMatrix ReadParityPage(std::string_view page) {
  ParityMatrix out;
  for (const std::string& line : Split(page, '\n')) {
    auto cells = CellsOf(line);  // one before the first bar and one behind the last
    if (cells.size() != kModes.size() + 3 || !cells[1].ends_with(".yaml")) continue;
    for (size_t i = 0; i < kModes.size(); ++i) out[cells[1]][kModes[i].mode] = cells[i + 2];
  }
  return out;
}

std::string ParityPage(const ParityMatrix& matrix, const std::string& version) {
  std::string out = fmt::format(fmt::runtime(kIntroduction), version);
  for (const ParityException& e : ParityExceptions()) {
    out += fmt::format("| {} | {} | {} | {} |\n", e.name, e.real, e.ours, e.why);
  }
  out += ModesTable();
  out += "\n## Releases\n\n| components file |";
  std::string line = "\n| --- |";
  for (const ModeInfo& info : kModes) {
    out += fmt::format(" {} |", info.name);
    line += " --- |";
  }
  out += line + "\n";
  for (const auto& [row, cells] : matrix) {
    out += fmt::format("| {} |", row);
    for (const auto& [mode, cell] : cells) out += fmt::format(" {} |", cell);
    out += "\n";
  }
  return out;
}

}  // namespace capi::e2e
