#include "templating/recover.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/encoding.h"
#include "base/yaml/yaml.h"
#include "kube/meta/kind.h"
#include "templating/envsubst/template.h"
#include "templating/marked_text.h"
#include "templating/source.h"

namespace capi::templating {
namespace {

using Values = std::map<std::string, std::string>;

// A text with marks, and what stands in its place.
struct Place {
  std::string where;  // "Secret/ns/name data.a"
  MarkedText text;
  std::string live;
};

std::string Plain(const Json& scalar) {
  if (scalar.is_null()) return "";
  return scalar.is_string() ? scalar.get<std::string>() : scalar.dump();
}

bool Holds(const Json& value, const Values& names) {
  if (value.is_string()) return MarkedText::Parse(value.get_ref<const std::string&>(), names).HasMarks();
  if (!value.is_structured()) return false;
  return std::any_of(value.begin(), value.end(), [&](const Json& item) { return Holds(item, names); });
}

// Gathers the places of one object where marks stand.
class Walk {
 public:
  Walk(const Values& names, std::vector<Place>& places) : names_(names), places_(places) {}

  void Object(const kube::Object& marked, const kube::Object& live) {
    Json have = live.json();
    if (Is(marked, "", "Secret")) DecodeData(have);
    Value(marked.json(), &have, "", marked.id().ToString());
  }

 private:
  // The server keeps what was written as text in base64.
  static void DecodeData(Json& secret) {
    const Json* data = Find(secret, {"data"});
    if (data == nullptr || !data->is_object()) return;
    Json texts = Json::object();
    for (const auto& [key, value] : data->items()) {
      auto text = value.is_string() ? Base64Decode(value.get_ref<const std::string&>()) : Result<std::string>("");
      if (text.ok()) texts[key] = *text;
    }
    secret["stringData"] = std::move(texts);
  }

  void Value(const Json& marked, const Json* live, const std::string& path, const std::string& object) {
    if (marked.is_string()) return Text(marked.get_ref<const std::string&>(), live, path, object);
    if (live == nullptr) return;
    if (marked.is_object() && live->is_object()) {
      for (const auto& [key, value] : marked.items()) {
        auto below = live->find(key);
        Value(value, below == live->end() ? nullptr : &*below, path.empty() ? key : path + "." + key, object);
      }
    }
    if (marked.is_array() && live->is_array()) List(marked, *live, path, object);
  }

  // An empty value makes a null, and nulls don't reach the server.
  void Text(const std::string& text, const Json* live, const std::string& path, const std::string& object) {
    MarkedText parsed = MarkedText::Parse(text, names_);
    if (!parsed.HasMarks() || (live != nullptr && live->is_structured())) return;
    places_.push_back({object + " " + path, std::move(parsed), live == nullptr ? "" : Plain(*live)});
  }

  // Items with a name by their name, texts where they can stand, the rest by their place.
  void List(const Json& marked, const Json& live, const std::string& path, const std::string& object) {
    for (size_t i = 0; i < marked.size(); ++i) {
      const Json* other = Counterpart(marked[i], live, i);
      if (other != nullptr) Value(marked[i], other, fmt::format("{}[{}]", path, i), object);
    }
  }

  const Json* Counterpart(const Json& item, const Json& live, size_t index) const {
    std::string name = item.is_object() ? GetString(item, {"name"}) : "";
    if (!name.empty()) {
      auto same = std::find_if(live.begin(), live.end(), [&](const Json& l) { return GetString(l, {"name"}) == name; });
      return same == live.end() ? nullptr : &*same;
    }
    const Json* here = index < live.size() ? &live[index] : nullptr;
    if (!item.is_string()) return here;
    MarkedText text = MarkedText::Parse(item.get_ref<const std::string&>(), names_);
    auto fits = [&](const Json& l) { return l.is_string() && text.Fits(l.get_ref<const std::string&>()); };
    if (here != nullptr && fits(*here)) return here;
    auto first = std::find_if(live.begin(), live.end(), fits);
    if (first == live.end() || std::any_of(std::next(first), live.end(), fits)) return nullptr;
    return &*first;
  }

  const Values& names_;
  std::vector<Place>& places_;
};

// Reads the places again and again, since a value known from one settles others.
class Solver {
 public:
  explicit Solver(const std::vector<Place>& places) : places_(places), read_(places.size(), false) {}

  void Run() {
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < places_.size(); ++i) {
        if (!read_[i]) progress = Read(i) || progress;
      }
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      if (!read_[i]) Note(places_[i], "can be read in more than one way");
    }
    for (const auto& [name, why] : unclear_) values_.erase(name);
  }

  const Values& values() const { return values_; }
  const std::map<std::string, std::string>& unclear() const { return unclear_; }

 private:
  bool Read(size_t i) {
    auto reading = places_[i].text.Read(places_[i].live, values_);
    if (reading.kind == MarkedText::Reading::kAmbiguous) return false;
    read_[i] = true;
    // A text that somebody edited tells nothing; that it differs comes out when both are compared.
    if (reading.kind == MarkedText::Reading::kMismatch) {
      Conflict(places_[i]);
      return false;
    }
    for (const auto& [name, value] : reading.values) values_[name] = value;
    return !reading.values.empty();
  }

  // It would fit but for values that are known from elsewhere.
  void Conflict(const Place& place) {
    if (place.text.Fits(place.live)) Note(place, "says something else than another place");
  }

  void Note(const Place& place, std::string_view what) {
    for (const std::string& name : place.text.Names()) {
      if (what.starts_with("can") && values_.contains(name)) continue;
      unclear_.try_emplace(name, fmt::format("{} ({}) {}", name, place.where, what));
    }
  }

  const std::vector<Place>& places_;
  std::vector<bool> read_;
  Values values_;
  std::map<std::string, std::string> unclear_;
};

std::string_view Unquoted(std::string_view text) {
  bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.front() == text.back();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

std::set<std::string> SeenIn(const std::vector<Place>& places, const Values& known) {
  std::set<std::string> out;
  for (const Place& place : places) {
    auto reading = place.text.Read(place.live, known);
    // Another place says something else: a change is half done, say.
    if (reading.kind == MarkedText::Reading::kMismatch) reading = place.text.Read(place.live, {});
    if (reading.kind == MarkedText::Reading::kAmbiguous) out.insert(place.live);
    for (const auto& [name, value] : reading.values) out.insert(value);
  }
  for (const auto& [name, value] : known) out.insert(value);
  return out;
}

// A release whose default is in quotes has none around the variable: a text that YAML would take for something else
// (true, 1) needs its own.
std::string AsWritten(const std::optional<std::string>& fallback, const std::string& value) {
  if (!fallback || Unquoted(*fallback) == *fallback) return value;
  auto plain = ParseYaml(value);
  if (plain.ok() && plain->is_string()) return value;
  std::string quoted = "'";
  for (char c : value) quoted += c == '\'' ? "''" : std::string(1, c);
  return quoted + "'";
}

// A text that occurs in neither of both texts.
std::string MarkPrefix(std::string_view components, std::string_view additional) {
  std::string prefix = "capivar";
  while (components.find(prefix) != components.npos || additional.find(prefix) != additional.npos) prefix += "q";
  return prefix;
}

}  // namespace

Result<MarkedRelease> MarkVariables(RenderInput input) {
  MarkedRelease out;
  Source source(input.release->components, input.additional_manifests);
  TemplateError error;
  auto parsed = Template::Parse(source.text(), error);
  if (!parsed) return Error{Code::kInvalidArgument, source.Place(error.offset) + ": " + error.message, {}};
  out.defaults = parsed->Variables();
  std::string prefix = MarkPrefix(input.release->components, input.additional_manifests);
  Values marks;
  for (const auto& [name, fallback] : out.defaults) {
    std::string mark = fmt::format("{}{:04}x", prefix, marks.size());
    marks[name] = mark;
    out.names[mark] = name;
  }
  if (marks.empty()) return out;
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    auto mark = marks.find(name);
    return mark == marks.end() ? std::nullopt : std::optional(mark->second);
  };
  input.check_types = false;
  auto rendered = Render(input);
  if (rendered.error) return rendered.error->error;
  for (kube::Object& object : rendered.output->objects) {
    if (Holds(object.json(), out.names)) out.objects.push_back(std::move(object));
  }
  return out;
}

void EraseDefaults(const std::map<std::string, std::optional<std::string>>& defaults, std::set<std::string>& seen) {
  for (const auto& [name, fallback] : defaults) {
    if (!fallback) continue;
    seen.erase(*fallback);
    seen.erase(std::string(Unquoted(*fallback)));
  }
}

RecoveredVariables RecoverVariables(const MarkedRelease& release, const std::map<kube::ObjectId, kube::Object>& live,
                                    const Variables& environment) {
  std::vector<Place> places;
  Walk walk(release.names, places);
  for (const kube::Object& object : release.objects) {
    auto found = live.find(object.id());
    if (found != live.end()) walk.Object(object, found->second);
  }
  Solver solver(places);
  solver.Run();
  RecoveredVariables out;
  out.seen = SeenIn(places, solver.values());
  EraseDefaults(release.defaults, out.seen);
  for (const auto& [name, fallback] : release.defaults) {
    auto value = solver.values().find(name);
    auto given = environment ? environment(name) : std::nullopt;
    if (solver.unclear().contains(name)) {
      out.unclear.push_back(solver.unclear().at(name));
    } else if (value == solver.values().end()) {
      if (!fallback && !given) out.lost.push_back(name);
    } else {
      bool given_anyway = given ? *given == value->second
                                : fallback && (*fallback == value->second || Unquoted(*fallback) == value->second);
      (given_anyway ? out.given : out.values)[name] = AsWritten(fallback, value->second);
    }
  }
  return out;
}

}  // namespace capi::templating
