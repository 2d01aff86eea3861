#include "api/plural.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace capi::api {
namespace {

constexpr std::string_view kSkip = "clusterctl.cluster.x-k8s.io/skip-crd-name-preflight-check";

struct Ending {
  std::string_view singular, plural;
};

// Of words and of what is built with them ("Metal3Data"): those that don't follow the rule at the end. The first
// counts.
constexpr Ending kEndings[] = {
    // no plural of their own, or plural already
    {"data", "data"},
    {"media", "media"},
    {"information", "information"},
    {"equipment", "equipment"},
    {"settings", "settings"},
    {"endpoints", "endpoints"},
    {"nodes", "nodes"},
    {"kubernetes", "kubernetes"},
    {"series", "series"},
    {"species", "species"},
    {"news", "news"},
    {"lens", "lens"},
    {"atlas", "atlas"},
    {"canvas", "canvas"},
    {"gas", "gas"},
    {"fish", "fish"},
    {"sheep", "sheep"},
    {"deer", "deer"},
    // Latin and Greek
    {"datum", "data"},
    {"medium", "media"},
    {"index", "indices"},
    {"vertex", "vertices"},
    {"matrix", "matrices"},
    {"criterion", "criteria"},
    {"phenomenon", "phenomena"},
    {"axis", "axes"},
    {"sis", "ses"},
    {"radius", "radii"},
    {"cactus", "cacti"},
    {"syllabus", "syllabi"},
    {"alumnus", "alumni"},
    // old English
    {"child", "children"},
    {"person", "people"},
    {"human", "humans"},
    {"man", "men"},
    {"foot", "feet"},
    {"tooth", "teeth"},
    {"goose", "geese"},
    {"mouse", "mice"},
    {"box", "boxes"},
    {"ox", "oxen"},
    {"leaf", "leaves"},
    {"knife", "knives"},
    {"life", "lives"},
    {"wolf", "wolves"},
    {"shelf", "shelves"},
    {"self", "selves"},
    {"half", "halves"},
    // doubled or added letters
    {"quiz", "quizzes"},
    {"hero", "heroes"},
    {"echo", "echoes"},
    {"potato", "potatoes"},
    {"metro", "metroes"},
    {"info", "infoes"},
};

bool IsVowel(char c) { return std::string_view("aeiou").find(c) != std::string_view::npos; }

}  // namespace

std::string Plural(std::string_view kind) {
  std::string word = ToLower(kind);
  for (const Ending& ending : kEndings) {
    if (!word.ends_with(ending.singular)) continue;
    return word.replace(word.size() - ending.singular.size(), ending.singular.size(), ending.plural);
  }
  for (std::string_view hiss : {"s", "x", "z", "ch", "sh"}) {
    if (word.ends_with(hiss)) return word + "es";
  }
  if (word.size() < 2 || word.back() != 'y' || IsVowel(word[word.size() - 2])) return word + "s";
  word.pop_back();
  return word + "ies";
}

Status CheckCrdName(const Json& crd) {
  if (Find(crd, {"metadata", "annotations", kSkip}) != nullptr) return Ok();
  std::string name = GetString(crd, {"metadata", "name"});
  std::string wanted =
      fmt::format("{}.{}", Plural(GetString(crd, {"spec", "names", "kind"})), GetString(crd, {"spec", "group"}));
  if (name == wanted) return Ok();
  return Error{
      Code::kInvalidArgument,
      fmt::format("CustomResourceDefinition {}: clusterctl expects the name {}; rename it, or set the annotation {}",
                  name, wanted, kSkip),
      {}};
}

}  // namespace capi::api
