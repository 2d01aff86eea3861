#include "cli/declare/manifest_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "api/kinds.h"
#include "base/files.h"
#include "base/yaml/yaml.h"

namespace capi::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostBytes = 16u << 20;  // of one file
constexpr size_t kMostTotal = 256u << 20;
constexpr size_t kMostFiles = 10'000;

bool IsManifest(const fs::path& path) {
  const std::string extension = path.extension();
  return extension == ".yaml" || extension == ".yml" || extension == ".json";
}

// Names that begin with a dot are tools' own (.git, .github).
bool IsHidden(const fs::path& path) { return path.filename().string().starts_with("."); }

Result<std::vector<std::string>> FilesIn(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (IsHidden(at->path())) {
      if (at->is_directory(error)) at.disable_recursion_pending();
      continue;
    }
    // What can't be looked at, like a link to nowhere, is told of where it is read.
    std::error_code unread;
    const fs::file_type type = at->status(unread).type();
    const bool other = type == fs::file_type::directory || type == fs::file_type::fifo ||
                       type == fs::file_type::socket || type == fs::file_type::character ||
                       type == fs::file_type::block;
    if (IsManifest(at->path()) && !other) out.push_back(at->path());
    if (out.size() > kMostFiles)
      return Error{Code::kInvalidArgument, fmt::format("{}: more than {} files", folder, kMostFiles), {}};
  }
  if (error) return Error{Code::kInvalidArgument, fmt::format("{}: {}", folder, error.message()), {}};
  std::sort(out.begin(), out.end());
  return out;
}

Result<std::string> ReadAll(std::istream& in) {
  std::string text;
  char piece[1 << 16];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    text.append(piece, static_cast<size_t>(in.gcount()));
    if (text.size() > kMostBytes)
      return Error{Code::kInvalidArgument, fmt::format("standard input: more than {} bytes", kMostBytes), {}};
  }
  if (in.bad()) return Error{Code::kInternal, "standard input can't be read", {}};
  return text;
}

class Reader {
 public:
  Status Path(const std::string& path, std::istream& in) {
    if (path == "-") {
      Text("-", TRY(ReadAll(in)), true);
      return Ok();
    }
    std::error_code error;
    if (!fs::is_directory(path, error)) return File(path, true);
    for (const std::string& file : TRY(FilesIn(path))) {
      // A large file of somebody else's is no reason to look at none; one that can't be read may be anything.
      Status read = File(file, false);
      if (!read.ok() && total_ > kMostTotal) return read;
      const bool large = !read.ok() && read.code() == Code::kInvalidArgument;
      if (!read.ok()) Unread(file, large ? Level::kWarning : Level::kError, read.error().message);
    }
    return Ok();
  }

  ManifestFiles Take() { return std::move(out_); }

 private:
  Status File(const std::string& path, bool named) {
    std::string text = TRY(ReadFile(path, kMostBytes));
    total_ += text.size();
    if (total_ > kMostTotal)
      return Error{
          Code::kInvalidArgument, fmt::format("{}: more than {} bytes with those before", path, kMostTotal), {}};
    Text(path, std::move(text), named);
    return Ok();
  }

  void Text(const std::string& file, std::string text, bool named) {
    auto documents = ParseYamlStream(text);
    if (!documents.ok()) {
      bool ours = named || text.find(api::kGroup) != text.npos;
      return Unread(file, ours ? Level::kError : Level::kWarning, documents.error().message);
    }
    for (size_t i = 0; i < documents->size(); ++i) {
      YamlDocument& document = (*documents)[i];
      const bool ours = GetString(document.value, {"apiVersion"}).starts_with(api::kGroup);
      if (GetString(document.value, {"kind"}).empty() && !ours) continue;
      size_t end = i + 1 < documents->size() ? (*documents)[i + 1].offset : text.size();
      Document whole(file, text.substr(document.offset, end - document.offset), static_cast<size_t>(document.line),
                     std::move(document.value));
      for (Document& item : whole.Items()) out_.documents.push_back(std::move(item));
    }
  }

  void Unread(const std::string& file, Level level, const std::string& why) {
    out_.findings.push_back(
        {.rule = "yaml", .level = level, .file = file, .place = PlaceIn(why), .object = "", .message = why});
  }

  ManifestFiles out_;
  size_t total_ = 0;
};

}  // namespace

Document::Document(std::string file, std::string text, size_t first_line, Json value)
    : text_(std::make_shared<Text>(Text{std::move(file), std::move(text), first_line, nullptr})),
      object_(std::move(value)) {}

std::vector<Document> Document::Items() const {
  const Json* items = Find(object_.json(), {"items"});
  if (!object_.kind().ends_with("List") || items == nullptr || !items->is_array()) return {*this};
  std::vector<Document> out;
  for (size_t i = 0; i < items->size(); ++i) {
    if (!(*items)[i].is_object()) continue;
    Document item = *this;
    item.prefix_ = {"items", std::to_string(i)};
    item.object_ = kube::Object((*items)[i]);
    out.push_back(std::move(item));
  }
  return out;
}

const YamlPlaces& Document::Places() const {
  if (!text_->places) text_->places = std::make_unique<YamlPlaces>(text_->text, text_->first_line);
  return *text_->places;
}

YamlPlace Document::PlaceOf(std::vector<std::string> steps) const {
  steps.insert(steps.begin(), prefix_.begin(), prefix_.end());
  return Places().KeyAt(steps).value_or(YamlPlace{text_->first_line, 1});
}

YamlPlace Document::PlaceOfPath(std::string_view path) const { return PlaceOf(StepsOf(path)); }

std::string Document::RepeatedKey() const { return Places().RepeatedKey(); }

std::vector<std::string> StepsOf(std::string_view path) {
  std::vector<std::string> out;
  std::string step;
  bool in_brackets = false;
  auto flush = [&] {
    if (!step.empty()) out.push_back(std::exchange(step, ""));
  };
  for (char c : path) {
    bool parts = in_brackets ? c == ']' : c == '.' || c == '[';
    if (!parts) {
      step += c;
      continue;
    }
    flush();
    in_brackets = c == '[';
  }
  flush();
  return out;
}

YamlPlace PlaceIn(std::string_view message) {
  YamlPlace place;
  auto number = [&](std::string_view word, size_t& out) {
    size_t at = message.find(word);
    if (at == message.npos) return;
    std::from_chars(message.data() + at + word.size(), message.data() + message.size(), out);
  };
  number("line ", place.line);
  number("column ", place.column);
  return place;
}

Result<ManifestFiles> ReadManifests(const std::vector<std::string>& paths, std::istream& in) {
  Reader reader;
  for (const std::string& path : paths) TRY(reader.Path(path, in));
  return reader.Take();
}

}  // namespace capi::cli
