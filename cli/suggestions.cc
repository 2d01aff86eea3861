#include "cli/suggestions.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/strings.h"
#include "cli/clusters/commands.h"

namespace capi::cli {

size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

std::string UnknownCommand(const CLI::App& command, const std::string& name) {
  std::string whole = NameOf(command);
  // Cluster API's clusterctl had it up to v1.10.
  if (whole == "clusterctl alpha" && name == "topology") return std::string(kNoTopologyPlan);
  constexpr size_t kNear = 2;
  std::string near;
  std::string wanted = ToLower(Shorten(name, 100));
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); })) {
    const std::string& known = sub->get_name();
    if (Distance(known, wanted) <= kNear || known.starts_with(wanted)) near += fmt::format("\t{}\n", known);
  }
  std::string message = fmt::format("unknown command \"{}\" for \"{}\"\n", name, whole);
  if (!near.empty()) message += fmt::format("\nDid you mean this?\n{}\n", near);
  return message + fmt::format("Run '{} --help' for usage.", whole);
}

bool IsAway(const Error& error, const std::string& server) {
  const bool late = error.code == Code::kUnavailable || error.code == Code::kDeadlineExceeded;
  return late && error.message.find(server + "/") != std::string::npos;
}

}  // namespace capi::cli
