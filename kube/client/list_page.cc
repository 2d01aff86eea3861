#include "kube/client/list_page.h"

#include <algorithm>

#include "base/json_filter.h"

namespace capi::kube {
namespace {

// Finds where values begin and end, by strings and brackets alone: what it passes by is parsed afterwards, and if that
// is JSON, it was right. Thread-compatible.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  bool AtEnd() {
    SkipBlanks();
    return at_ == text_.size();
  }
  bool Comes(char c) { return !AtEnd() && text_[at_] == c; }
  bool Take(char c) {
    if (!Comes(c)) return false;
    ++at_;
    return true;
  }
  std::string_view TakeValue() {
    if (AtEnd()) return {};
    const size_t begin = at_;
    if (text_[at_] == '"') {
      SkipString();
    } else if (text_[at_] == '{' || text_[at_] == '[') {
      SkipNested();
    } else {
      at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    }
    return text_.substr(begin, at_ - begin);
  }

 private:
  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  void SkipString() {
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text_.size());
  }
  void SkipNested() {
    for (size_t depth = 0; at_ < text_.size();) {
      const char c = text_[at_];
      if (c == '"') {
        SkipString();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
  }

  const std::string_view text_;
  size_t at_ = 0;
};

bool IsItems(std::string_view key) {
  if (key.find('\\') == key.npos) return key == "\"items\"";
  auto name = ParseJson(key);
  return name.ok() && *name == "items";
}

// Of the list around the items, which may be anything.
bool IsNeeded(int depth, Json::parse_event_t event, const Json& value) {
  if (event == Json::parse_event_t::array_start) return false;
  if (event != Json::parse_event_t::key) return true;
  return depth == 1 ? value == "items" || value == "metadata" : value == "resourceVersion" || value == "continue";
}

// Thread-compatible.
class Reader {
 public:
  Reader(std::string_view text, bool managed_fields, const std::function<Result<bool>(Json)>& on_item)
      : text_(text), scan_(text), managed_fields_(managed_fields), on_item_(on_item) {}

  Result<PageEnd> Read() {
    bool more = TRY(ReadMembers());
    if (!more) return PageEnd{.resource_version = {}, .next = {}, .stopped = true};
    around_ += text_.substr(kept_);
    const Json list = TRY(ParseJson(around_, IsNeeded));
    const Json* items = Find(list, {"items"});
    if (items == nullptr || !items->is_null()) return Error{Code::kInternal, "a list without items", {}};
    return PageEnd{.resource_version = GetString(list, {"metadata", "resourceVersion"}),
                   .next = GetString(list, {"metadata", "continue"})};
  }

 private:
  // These, and ReadItems, are false where `on_item` wants no more.
  Result<bool> ReadMembers() {
    if (!scan_.Take('{')) return true;
    do {
      const std::string_view key = scan_.TakeValue();
      if (!scan_.Take(':')) break;
      const bool items = IsItems(key);
      if (items && begun_) return Error{Code::kInternal, "a list that has its items twice", {}};
      begun_ |= items;
      if (!items || !scan_.Comes('[')) {
        scan_.TakeValue();
        continue;
      }
      around_ += text_.substr(kept_, scan_.at() - kept_);
      around_ += "null";
      bool more = TRY(ReadItems());
      if (!more) return false;
      kept_ = scan_.at();
    } while (scan_.Take(','));
    return true;
  }

  Result<bool> ReadItems() {
    scan_.Take('[');
    if (scan_.Take(']')) return true;
    do {
      if (scan_.AtEnd()) break;
      if (!scan_.Comes('{')) return Error{Code::kInternal, "a list holds what is no object", {}};
      Json item = TRY_WITH(ParseJson(scan_.TakeValue()), "an item");
      Json* metadata = managed_fields_ ? nullptr : Find(item, {"metadata"});
      if (metadata != nullptr && metadata->is_object()) metadata->erase("managedFields");
      bool more = TRY(on_item_(std::move(item)));
      if (!more) return false;
    } while (scan_.Take(','));
    if (scan_.Take(']')) return true;
    return Error{Code::kInvalidArgument, "not JSON: items that have no end", {}};
  }

  const std::string_view text_;
  Scanner scan_;
  const bool managed_fields_;
  const std::function<Result<bool>(Json)>& on_item_;
  std::string around_;  // the text with a null in the place of the items
  size_t kept_ = 0;     // of the text
  bool begun_ = false;
};

}  // namespace

// The parser's own callback would do for all of it, but after each object it walks through all of its neighbours.
Result<PageEnd> ReadPage(std::string_view text, bool managed_fields, const std::function<Result<bool>(Json)>& on_item) {
  return Reader(text, managed_fields, on_item).Read();
}

}  // namespace capi::kube
