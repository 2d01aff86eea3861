#include "api/field_reader.h"

#include <fmt/format.h>

#include <limits>

#include "api/types.h"

namespace capi::api {
namespace {

std::string_view TypeName(const Json& value) {
  switch (value.type()) {
    case Json::value_t::object: return "an object";
    case Json::value_t::array: return "a list";
    case Json::value_t::string: return "a string";
    case Json::value_t::boolean: return "a boolean";
    case Json::value_t::null: return "null";
    default: return "a number";
  }
}

}  // namespace

FieldReader::FieldReader(const Json& value, std::string path, std::optional<Error>* error)
    : value_(value.is_object() ? &value : nullptr), path_(std::move(path)), error_(error) {
  if (value_ == nullptr && !value.is_null()) WrongType(path_, "an object", value);
}

const Json* FieldReader::Get(std::string_view key) const {
  if (value_ == nullptr) return nullptr;
  auto found = value_->find(std::string(key));
  return found == value_->end() || found->is_null() ? nullptr : &*found;
}

std::string FieldReader::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void FieldReader::FailAt(const std::string& path, std::string_view problem) const {
  if (!error_->has_value()) *error_ = Error{Code::kInvalidArgument, fmt::format("{}: {}", path, problem), {}};
}

void FieldReader::Fail(std::string_view key, std::string_view problem) const { FailAt(PathOf(key), problem); }

// The value itself isn't shown: it could be a secret in the wrong place.
void FieldReader::WrongType(const std::string& path, std::string_view wanted, const Json& got) const {
  FailAt(path, fmt::format("must be {}, not {}", wanted, TypeName(got)));
}

template <>
void FieldReader::ReadValue(const Json& value, const std::string& path, std::string& out) const {
  if (!value.is_string()) return WrongType(path, "a string", value);
  out = value.get<std::string>();
}

template <>
void FieldReader::ReadValue(const Json& value, const std::string& path, bool& out) const {
  if (!value.is_boolean()) return WrongType(path, "a boolean", value);
  out = value.get<bool>();
}

template <>
void FieldReader::ReadValue(const Json& value, const std::string& path, std::int64_t& out) const {
  if (value.is_number_float()) return FailAt(path, "must be a whole number");
  if (!value.is_number_integer()) return WrongType(path, "a whole number", value);
  if (value.is_number_unsigned() &&
      value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return FailAt(path, "is too large");
  }
  out = value.get<std::int64_t>();
}

template <>
void FieldReader::ReadValue(const Json& value, const std::string& path, int& out) const {
  std::int64_t wide = out;
  ReadValue(value, path, wide);
  if (wide < std::numeric_limits<int>::min() || wide > std::numeric_limits<int>::max()) {
    return FailAt(path, "must fit into 32 bits");
  }
  out = static_cast<int>(wide);
}

template <>
void FieldReader::ReadValue(const Json& value, const std::string& path, Millis& out) const {
  if (!value.is_string()) return WrongType(path, "a duration like \"10m\" or \"1h0m0s\"", value);
  auto duration = ParseDuration(value.get_ref<const std::string&>());
  if (!duration.ok()) return FailAt(path, duration.error().message);
  out = *duration;
}

template <typename T>
void FieldReader::ReadField(std::string_view key, T& out) const {
  if (const Json* value = Get(key)) ReadValue(*value, PathOf(key), out);
}

template <typename T>
void FieldReader::ReadOptional(std::string_view key, std::optional<T>& out) const {
  if (const Json* value = Get(key)) ReadValue(*value, PathOf(key), out.emplace());
}

template <typename T>
void FieldReader::ReadMap(std::string_view key, std::map<std::string, T>& out) const {
  const Json* map = MapAt(key);
  if (map == nullptr) return;
  for (const auto& [name, value] : map->items()) {
    ReadValue(value, fmt::format("{}[{}]", PathOf(key), name), out[name]);
  }
}

void FieldReader::Read(std::string_view key, std::string& out) const { ReadField(key, out); }
void FieldReader::Read(std::string_view key, std::optional<std::string>& out) const { ReadOptional(key, out); }
void FieldReader::Read(std::string_view key, bool& out) const { ReadField(key, out); }
void FieldReader::Read(std::string_view key, std::optional<bool>& out) const { ReadOptional(key, out); }
void FieldReader::Read(std::string_view key, int& out) const { ReadField(key, out); }
void FieldReader::Read(std::string_view key, std::optional<int>& out) const { ReadOptional(key, out); }
void FieldReader::Read(std::string_view key, std::optional<std::int64_t>& out) const { ReadOptional(key, out); }
void FieldReader::Read(std::string_view key, Millis& out) const { ReadField(key, out); }
void FieldReader::Read(std::string_view key, std::optional<Millis>& out) const { ReadOptional(key, out); }
void FieldReader::Read(std::string_view key, std::map<std::string, std::string>& out) const { ReadMap(key, out); }
void FieldReader::Read(std::string_view key, std::map<std::string, bool>& out) const { ReadMap(key, out); }
void FieldReader::Read(std::string_view key, std::map<std::string, int>& out) const { ReadMap(key, out); }

void FieldReader::Read(std::string_view key, std::vector<std::string>& out) const {
  const Json* list = ListAt(key);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    ReadValue((*list)[i], fmt::format("{}[{}]", PathOf(key), i), out.emplace_back());
  }
}

const Json* FieldReader::ListAt(std::string_view key) const {
  const Json* value = Get(key);
  if (value == nullptr || value->is_array()) return value;
  WrongType(PathOf(key), "a list", *value);
  return nullptr;
}

const Json* FieldReader::MapAt(std::string_view key) const {
  const Json* value = Get(key);
  if (value == nullptr || value->is_object()) return value;
  WrongType(PathOf(key), "an object", *value);
  return nullptr;
}

void FieldReader::ReadObject(std::string_view key, std::optional<Json>& out) const {
  if (const Json* value = MapAt(key)) out = *value;
}

void FieldReader::ReadStringMap(std::string_view key, std::optional<Json>& out) const {
  std::map<std::string, std::string> checked;
  Read(key, checked);
  ReadObject(key, out);
}

void FieldReader::ReadStrings(std::string_view key, std::optional<Json>& out) const {
  std::vector<std::string> checked;
  Read(key, checked);
  if (const Json* value = ListAt(key)) out = *value;
}

void FieldReader::ReadObjects(std::string_view key, std::optional<Json>& out) const {
  List(key, [](const FieldReader&) {});
  if (const Json* value = ListAt(key)) out = *value;
}

void FieldReader::Object(std::string_view key, const Visit& visit) const {
  if (const Json* value = MapAt(key)) visit(FieldReader(*value, PathOf(key), error_));
}

void FieldReader::List(std::string_view key, const Visit& visit) const {
  const Json* list = ListAt(key);
  if (list == nullptr) return;
  for (size_t i = 0; i < list->size(); ++i) {
    const Json& element = (*list)[i];
    std::string path = fmt::format("{}[{}]", PathOf(key), i);
    if (element.is_null()) return WrongType(path, "an object", element);
    visit(FieldReader(element, std::move(path), error_));
  }
}

void FieldReader::Map(std::string_view key, const VisitNamed& visit) const {
  const Json* map = MapAt(key);
  if (map == nullptr) return;
  for (const auto& [name, value] : map->items()) {
    visit(name, FieldReader(value, fmt::format("{}[{}]", PathOf(key), name), error_));
  }
}

}  // namespace capi::api
