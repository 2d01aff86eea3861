#include "templating/marked_text.h"

#include <optional>

namespace capi::templating {
namespace {

// Where each inner word begins when every value is as short as it can be, from the left or from the right.
std::optional<std::vector<size_t>> Shortest(const std::vector<std::string>& words, std::string_view text) {
  std::vector<size_t> at;
  size_t from = words.front().size();
  for (size_t i = 1; i + 1 < words.size(); ++i) {
    size_t found = text.find(words[i], from);
    if (found == text.npos) return std::nullopt;
    at.push_back(found);
    from = found + words[i].size();
  }
  if (from + words.back().size() > text.size()) return std::nullopt;
  return at;
}

std::vector<size_t> Longest(const std::vector<std::string>& words, std::string_view text) {
  std::vector<size_t> at(words.size() - 2);
  size_t end = text.size() - words.back().size();
  for (size_t i = words.size() - 2; i >= 1; --i) {
    size_t found = text.rfind(words[i], end - words[i].size());
    at[i - 1] = found;
    end = found;
  }
  return at;
}

}  // namespace

MarkedText MarkedText::Parse(std::string_view text, const Values& names) {
  MarkedText out;
  out.words_.emplace_back();
  if (names.empty()) return out;
  size_t length = names.begin()->first.size();
  // All marks begin alike, up to their number.
  std::string_view begin = std::string_view(names.begin()->first).substr(0, 7);
  for (size_t at = 0; at < text.size();) {
    size_t next = text.find(begin, at);
    auto mark = next == text.npos ? names.end() : names.find(std::string(text.substr(next, length)));
    if (next == text.npos) {
      out.words_.back() += text.substr(at);
      break;
    }
    out.words_.back() += text.substr(at, next - at);
    if (mark == names.end()) {
      out.words_.back() += text[next];
      at = next + 1;
      continue;
    }
    out.names_.push_back(mark->second);
    out.words_.emplace_back();
    at = next + length;
  }
  return out;
}

MarkedText::Reading MarkedText::Read(std::string_view live, const Values& known) const {
  // Known values become words.
  std::vector<std::string> words = {words_.front()}, names;
  for (size_t i = 0; i < names_.size(); ++i) {
    auto value = known.find(names_[i]);
    if (value != known.end()) {
      words.back() += value->second + words_[i + 1];
    } else {
      names.push_back(names_[i]);
      words.push_back(words_[i + 1]);
    }
  }
  if (names.empty()) return {words.front() == live ? Reading::kRead : Reading::kMismatch, {}};
  if (!live.starts_with(words.front()) || !live.ends_with(words.back())) return {};
  auto shortest = Shortest(words, live);
  if (!shortest) return {};
  if (*shortest != Longest(words, live)) return {Reading::kAmbiguous, {}};
  Reading reading{Reading::kRead, {}};
  size_t from = words.front().size();
  for (size_t i = 0; i < names.size(); ++i) {
    size_t end = i < shortest->size() ? (*shortest)[i] : live.size() - words.back().size();
    std::string value(live.substr(from, end - from));
    auto [was, fresh] = reading.values.emplace(names[i], value);
    if (!fresh && was->second != value) return {};
    from = end + words[i + 1].size();
  }
  return reading;
}

}  // namespace capi::templating
