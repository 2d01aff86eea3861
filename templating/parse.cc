#include "templating/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/yaml.h"
#include "base/yaml_places.h"
#include "templating/field_types.h"

namespace capi::templating {
namespace {

using Steps = std::vector<std::string>;

// Each costs a look into the text; a variable's is among the first, or its neighbours are just as wrong.
constexpr size_t kMostWrongTypes = 20;

Error Invalid(std::string message) {
  return Error{Code::kInvalidArgument, "failed to parse yaml: " + std::move(message), {}};
}

// What keeps a value from being an object, and the field that is at fault; "" when nothing does.
struct Defect {
  std::string_view what;
  Steps field;
};

Defect DefectOf(const Json& value) {
  if (!value.is_object()) return {"is no map", {}};
  if (GetString(value, {"kind"}).empty()) return {"has no kind", {"kind"}};
  if (GetString(value, {"apiVersion"}).empty()) return {"has no apiVersion", {"apiVersion"}};
  const Json* metadata = Find(value, {"metadata"});
  if (metadata != nullptr && !metadata->is_object() && !metadata->is_null()) {
    return {"has metadata that is no map", {"metadata"}};
  }
  if (GetString(value, {"metadata", "name"}).empty()) return {"has no name", {"metadata", "name"}};
  return {};
}

// kubectl's List, and what a server answers to a list request ("ConfigMapList"): no object, but several.
bool IsList(const Json& value) {
  if (!value.is_object() || !GetString(value, {"metadata", "name"}).empty()) return false;
  std::string kind = GetString(value, {"kind"});
  if (kind == "List") return true;
  const Json* items = Find(value, {"items"});
  return kind.ends_with("List") && items != nullptr && items->is_array();
}

// One text's objects.
class ObjectParser {
 public:
  ObjectParser(const Source& source, const Substituted& substituted, const RenderLimits& limits, bool check_types)
      : source_(source), substituted_(substituted), limits_(limits), check_types_(check_types) {}

  Result<ParsedObjects> Run() {
    std::string_view text = substituted_.text;
    YamlLimits limits;
    limits.max_documents = limits_.objects;
    limits.max_memory = limits_.memory;
    auto documents = ParseYamlStream(text, limits);
    if (!documents.ok()) {
      return Invalid(ExplainYamlError(documents.error().message, text, substituted_.segments, source_));
    }
    for (size_t i = 0; i < documents->size(); ++i) {
      YamlDocument& document = (*documents)[i];
      begin_ = document.offset;
      yaml_.reset();
      size_t end = i + 1 < documents->size() ? (*documents)[i + 1].offset : text.size();
      has_variables_ = HasVariable(substituted_.segments, begin_, end);
      TRY(Take(std::move(document.value), {ToSource(substituted_.segments, begin_), ""}, {}));
    }
    if (out_.objects.empty()) return Invalid("there is no object in it");
    return std::move(out_);
  }

 private:
  // An object, or a List at `path` of the document; nests no deeper than the parser lets it.
  Status Take(Json value, ObjectPlace place, const Steps& path) {
    if (IsList(value)) return TakeItems(value, place, path);
    Defect defect = DefectOf(value);
    if (!defect.what.empty()) return Refuse(defect, place, path);
    if (out_.objects.size() >= limits_.objects) {
      return Invalid(fmt::format("the {} is one of more than {} objects", Describe(place), limits_.objects));
    }
    if (check_types_ && has_variables_) TRY(CheckTypes(value, place, path));
    out_.objects.emplace_back(std::move(value));
    out_.places.push_back(std::move(place));
    return Ok();
  }

  Status TakeItems(Json& list, const ObjectPlace& place, const Steps& path) {
    Json* items = Find(list, {"items"});
    if (items == nullptr || items->is_null()) return Ok();
    if (!items->is_array()) return Refuse({"is a List whose items are no list", {"items"}}, place, path);
    for (size_t i = 0; i < items->size(); ++i) {
      Steps below = path;
      below.insert(below.end(), {"items", std::to_string(i)});
      std::string item = fmt::format("{}{}{}", place.item, place.item.empty() ? "" : ".", i + 1);
      TRY(Take(std::move((*items)[i]), {place.offset, std::move(item)}, below));
    }
    return Ok();
  }

  Error Refuse(const Defect& defect, const ObjectPlace& place, const Steps& path) {
    std::string message = fmt::format("the {} {}", Describe(place), defect.what);
    std::string variables = Join(VariablesOf(path, defect.field), ", ");
    if (!variables.empty()) message += fmt::format(" once the value of {} is filled in", variables);
    return Invalid(std::move(message));
  }

  // Types that are wrong in the release itself are the API server's to refuse: it names them all.
  Status CheckTypes(const Json& object, const ObjectPlace& place, const Steps& path) {
    size_t looked_at = 0;
    for (const WrongType& wrong : FindWrongTypes(object)) {
      if (++looked_at > kMostWrongTypes) break;
      std::string variables = Join(VariablesOf(path, wrong.path), ", ");
      if (variables.empty()) continue;
      return Invalid(fmt::format("the {}: the value of {} makes {} {}, and it has to be {}{}", Describe(place),
                                 variables, wrong.Field(), wrong.is, wrong.wanted,
                                 wrong.wanted == "a text" ? ": give the value in quotes of its own" : ""));
    }
    return Ok();
  }

  std::string Describe(const ObjectPlace& place) const {
    std::string line = source_.PlaceOfLine(place.offset);
    return place.item.empty() ? "document on " + line : fmt::format("item {} of the List on {}", place.item, line);
  }

  // Names of the variables that make the field; none where it isn't there.
  std::vector<std::string> VariablesOf(Steps path, const Steps& field) {
    if (!has_variables_) return {};
    path.insert(path.end(), field.begin(), field.end());
    if (!yaml_) yaml_.emplace(substituted_.text.substr(begin_));
    auto at = yaml_->PositionOf(path);
    return at ? VariablesAt(begin_, *at, substituted_.text, substituted_.segments) : std::vector<std::string>();
  }

  const Source& source_;
  const Substituted& substituted_;
  const RenderLimits& limits_;
  const bool check_types_;
  ParsedObjects out_;
  // Of the document at hand: its offset, and where its fields are.
  size_t begin_ = 0;
  bool has_variables_ = false;
  std::optional<YamlPlaces> yaml_;
};

}  // namespace

std::string ObjectPlace::In(const Source& source) const {
  std::string line = source.PlaceOfLine(offset);
  return item.empty() ? line : fmt::format("{}, item {}", line, item);
}

Result<ParsedObjects> ParseObjects(const Source& source, const Substituted& substituted, const RenderLimits& limits,
                                   bool check_types) {
  return ObjectParser(source, substituted, limits, check_types).Run();
}

}  // namespace capi::templating
