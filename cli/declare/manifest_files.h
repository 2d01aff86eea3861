// Kubernetes objects in files, and where each of their fields stands.
#pragma once

#include <istream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/declare/findings.h"
#include "kube/meta/object.h"

namespace capi::cli {

// One object of a file, or an item of a List in it. A value; copies share their text. Thread-compatible.
class Document {
 public:
  // `text`: the document's part of the file, whose first line has this number there.
  Document(std::string file, std::string text, size_t first_line, Json value);

  const std::string& file() const { return text_->file; }
  const kube::Object& object() const { return object_; }
  // The items of a List; itself for any other object.
  std::vector<Document> Items() const;

  YamlPlace PlaceOf(std::vector<std::string> steps) const;
  // Of a path as messages have it: "spec.deployment.containers[0].image".
  YamlPlace PlaceOfPath(std::string_view path) const;
  // What YamlPlaces::RepeatedKey says of the whole document.
  std::string RepeatedKey() const;

 private:
  struct Text {
    std::string file, text;
    size_t first_line;
    std::unique_ptr<YamlPlaces> places;  // made where somebody asks
  };
  const YamlPlaces& Places() const;

  std::shared_ptr<Text> text_;
  std::vector<std::string> prefix_;  // "items", "2" in a List
  kube::Object object_;
};

// The steps of such a path. Dots in a key in brackets don't part it.
std::vector<std::string> StepsOf(std::string_view path);

// Of "line 4, column 3: what"; line 1, column 1 where the message has none.
YamlPlace PlaceIn(std::string_view message);

// A value.
struct ManifestFiles {
  std::vector<Document> documents;  // what has a kind, or this project's API, in the order of the files
  std::vector<Finding> findings;    // of files that can't be read, or not as YAML
};

// Each path is a file, a folder (its *.yaml, *.yml and *.json, with those of folders in it) or "-" for `in`. What is in
// a folder and is no YAML, but doesn't name this project's API either (a Helm template, say), or is too large, is a
// warning; what can't be read at all is an error. Errors of the call: a path that isn't there, or more than is read.
Result<ManifestFiles> ReadManifests(const std::vector<std::string>& paths, std::istream& in);

}  // namespace capi::cli
