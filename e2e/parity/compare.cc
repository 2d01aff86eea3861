#include "e2e/parity/compare.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "e2e/parity/exceptions.h"

namespace capi::e2e {
namespace {

constexpr size_t kMostShown = 5;  // differences of one object

std::string NameOf(const Json& object) {
  return fmt::format("{} {}", GetString(object, {"kind"}), GetString(object, {"metadata", "name"}));
}

// Paths and values, as a JSON patch from the real one's object to ours.
std::string Describe(const Json& real, const Json& ours) {
  Json patch = Json::diff(real, ours);
  std::string out = NameOf(ours) + ":";
  for (size_t i = 0; i < patch.size() && i < kMostShown; ++i) out += "\n  " + ToJsonText(patch[i]).substr(0, 300);
  if (patch.size() > kMostShown) out += fmt::format("\n  and {} more", patch.size() - kMostShown);
  return out;
}

void CompareObjects(Json real, const Json& ours, Verdict& verdict) {
  std::set<std::string> used;
  DropEmptyParts(real, ours);
  for (const ParityException& exception : ParityExceptions()) {
    if (real == ours) break;
    if (exception.amend != nullptr && exception.amend(real, ours)) used.emplace(exception.name);
  }
  if (real == ours) {
    verdict.exceptions.merge(used);
  } else {
    verdict.differences.push_back(Describe(real, ours));
  }
}

Verdict CompareFailures(const Printed& real, const Printed& ours, Mode mode) {
  Verdict verdict;
  if (real.exit_code == ours.exit_code && real.error == ours.error) {
    verdict.failed = true;
    return verdict;
  }
  for (const ParityException& exception : ParityExceptions()) {
    if (exception.fails == nullptr || !exception.fails(real, ours, mode)) continue;
    verdict.exceptions.emplace(exception.name);
    return verdict;
  }
  verdict.differences.push_back(fmt::format("the real one ends with {} and \"{}\", ours with {} and \"{}\"",
                                            real.exit_code, real.error, ours.exit_code, ours.error));
  return verdict;
}

}  // namespace

std::string Verdict::Cell() const {
  if (!differences.empty()) return "different";
  if (failed) return "fails";
  if (exceptions.empty()) return "equal";
  return Join(std::vector<std::string>(exceptions.begin(), exceptions.end()), ", ");
}

Verdict Compare(const Printed& real, const Printed& ours, Mode mode) {
  if (real.exit_code != 0 || ours.exit_code != 0) return CompareFailures(real, ours, mode);
  Verdict verdict;
  if (real.objects.size() != ours.objects.size()) {
    verdict.differences.push_back(
        fmt::format("the real one prints {} objects, ours {}", real.objects.size(), ours.objects.size()));
    return verdict;
  }
  for (size_t i = 0; i < ours.objects.size(); ++i) CompareObjects(real.objects[i], ours.objects[i], verdict);
  return verdict;
}

}  // namespace capi::e2e
