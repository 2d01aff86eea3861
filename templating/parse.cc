#include "templating/parse.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "base/yaml/yaml_fields.h"
#include "templating/field_types.h"

namespace capi::templating {
namespace {

using Steps = YamlPath;

// A variable's is among the first of an object, or its neighbours are just as wrong.
constexpr size_t kMostOfObject = 20, kMostOfDocument = 1'000;

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

// A field that has a wrong type, maybe for a variable's value.
struct Suspect {
  ObjectPlace place;  // of the object
  Steps path;         // of the field in its document, which the object's is a part of
  size_t object_depth = 0;
  std::string_view is, wanted;
};

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
      end_ = i + 1 < documents->size() ? (*documents)[i + 1].offset : text.size();
      has_variables_ = HasVariable(substituted_.segments, begin_, end_);
      suspects_.clear();
      TRY(Take(std::move(document.value), {ToSource(substituted_.segments, begin_), ""}, {}));
      TRY(CheckSuspects());
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
    if (check_types_ && has_variables_) SuspectTypes(value, place, path);
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
    if (!has_variables_) return Invalid(std::move(message));
    Steps field = path;
    field.insert(field.end(), defect.field.begin(), defect.field.end());
    auto found = Look({&field, 1});
    auto variables = VariablesOf(found[0]);
    if (!variables.empty()) message += fmt::format(" once the value of {} is filled in", ListVariables(variables));
    return Invalid(std::move(message));
  }

  // Keeps what is wrong until the end of the document: one look into its text then tells whose fault it is.
  void SuspectTypes(const Json& object, const ObjectPlace& place, const Steps& path) {
    const size_t most = std::min(kMostOfObject, kMostOfDocument - suspects_.size());
    if (most == 0) return;
    for (WrongType& wrong : FindWrongTypes(object, most)) {
      Suspect suspect{place, path, path.size(), wrong.is, wrong.wanted};
      suspect.path.insert(suspect.path.end(), wrong.path.begin(), wrong.path.end());
      suspects_.push_back(std::move(suspect));
    }
  }

  // Types that are wrong in the release itself are the API server's to refuse: it names them all.
  Status CheckSuspects() {
    if (suspects_.empty()) return Ok();
    std::vector<Steps> paths;
    for (const Suspect& suspect : suspects_) paths.push_back(suspect.path);
    auto found = Look(paths);
    for (size_t i = 0; i < found.size(); ++i) {
      auto variables = VariablesOf(found[i]);
      if (variables.empty()) continue;
      const Suspect& suspect = suspects_[i];
      return Invalid(fmt::format("the {}: the value of {} makes {} {}, and it has to be {}{}", Describe(suspect.place),
                                 ListVariables(variables), FieldOf(suspect, *found[i]), suspect.is, suspect.wanted,
                                 suspect.wanted == "a text" ? ": give the value in quotes of its own" : ""));
    }
    return Ok();
  }

  // "spec.template.spec.containers[0].env[1].value"; "*" for a key that a variable made: it is its value (I7).
  std::string FieldOf(const Suspect& suspect, const YamlField& field) const {
    std::string out;
    for (size_t i = suspect.object_depth; i < suspect.path.size(); ++i) {
      const YamlExtent& key = field.keys[i];
      const std::string& step = suspect.path[i];
      if (key.begin == key.end) {  // an item of a list
        out += "[" + step + "]";
        continue;
      }
      if (!out.empty()) out += ".";
      out += HasVariable(substituted_.segments, key.begin, key.end) ? "*" : step.empty() ? "\"\"" : step;
    }
    return out;
  }

  std::string Describe(const ObjectPlace& place) const {
    std::string line = source_.PlaceOfLine(place.offset);
    return place.item.empty() ? "document on " + line : fmt::format("item {} of the List on {}", place.item, line);
  }

  // Where fields of the document stand in the text.
  std::vector<std::optional<YamlField>> Look(std::span<const Steps> paths) const {
    auto found = FindYamlFields(substituted_.text.substr(begin_, end_ - begin_), paths);
    auto move = [&](YamlExtent& extent) { extent = {extent.begin + begin_, extent.end + begin_}; };
    for (auto& field : found) {
      if (!field) continue;
      move(field->type_from);
      for (YamlExtent& key : field->keys) move(key);
    }
    return found;
  }

  // Those that made the field's value what it is.
  std::vector<std::string> VariablesOf(const std::optional<YamlField>& field) const {
    if (!field) return {};
    return VariablesIn(field->type_from, substituted_.text, substituted_.segments);
  }

  const Source& source_;
  const Substituted& substituted_;
  const RenderLimits& limits_;
  const bool check_types_;
  ParsedObjects out_;
  // Of the document at hand: text[begin_, end_), and what is wrong in it.
  size_t begin_ = 0, end_ = 0;
  bool has_variables_ = false;
  std::vector<Suspect> suspects_;
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
