// Reads the members of a JSON object into typed fields; the first value that can't be used is kept as an error that
// names the field's path: "spec.manager.verbosity: must be a whole number, not a string".
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"
#include "base/result.h"

namespace capi::api {

// A missing member and null leave the field as it is. Unknown members are ignored. A cheap view; `value` and `error`
// outlive it. Thread-compatible.
class FieldReader {
 public:
  // A `value` that is no object becomes an error, and nothing is read from it.
  FieldReader(const Json& value, std::string path, std::optional<Error>* error);

  void Read(std::string_view key, std::string& out) const;
  void Read(std::string_view key, std::optional<std::string>& out) const;
  void Read(std::string_view key, bool& out) const;
  void Read(std::string_view key, std::optional<bool>& out) const;
  void Read(std::string_view key, int& out) const;
  void Read(std::string_view key, std::optional<int>& out) const;
  void Read(std::string_view key, std::optional<std::int64_t>& out) const;
  void Read(std::string_view key, Millis& out) const;  // "1h0m0s"
  void Read(std::string_view key, std::optional<Millis>& out) const;
  void Read(std::string_view key, std::map<std::string, std::string>& out) const;
  void Read(std::string_view key, std::map<std::string, bool>& out) const;
  void Read(std::string_view key, std::map<std::string, int>& out) const;
  void Read(std::string_view key, std::vector<std::string>& out) const;

  // Kept as JSON, its outer form checked.
  void ReadObject(std::string_view key, std::optional<Json>& out) const;
  void ReadStringMap(std::string_view key, std::optional<Json>& out) const;
  void ReadStrings(std::string_view key, std::optional<Json>& out) const;
  void ReadObjects(std::string_view key, std::optional<Json>& out) const;  // a list of objects

  using Visit = std::function<void(const FieldReader&)>;
  using VisitNamed = std::function<void(const std::string&, const FieldReader&)>;
  void Object(std::string_view key, const Visit& visit) const;    // the member, when it is there
  void List(std::string_view key, const Visit& visit) const;      // each element of the list
  void Map(std::string_view key, const VisitNamed& visit) const;  // each member of the map

  void Fail(std::string_view key, std::string_view problem) const;
  const std::string& path() const { return path_; }

 private:
  const Json* Get(std::string_view key) const;
  std::string PathOf(std::string_view key) const;
  void FailAt(const std::string& path, std::string_view problem) const;
  void WrongType(const std::string& path, std::string_view wanted, const Json& got) const;

  const Json* ListAt(std::string_view key) const;
  const Json* MapAt(std::string_view key) const;
  template <typename T>
  void ReadValue(const Json& value, const std::string& path, T& out) const;
  template <typename T>
  void ReadMap(std::string_view key, std::map<std::string, T>& out) const;
  template <typename T>
  void ReadField(std::string_view key, T& out) const;
  template <typename T>
  void ReadOptional(std::string_view key, std::optional<T>& out) const;

  const Json* value_;  // null when there is nothing to read
  std::string path_;
  std::optional<Error>* error_;
};

}  // namespace capi::api
