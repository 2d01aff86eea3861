#include "base/unified_diff.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace capi {
namespace {

using Offset = std::ptrdiff_t;

constexpr Offset kNone = -1;
constexpr Offset kMostSteps = 4'000;  // from either side
constexpr size_t kAround = 3;

// Lines with their ends: one without is another line than the same with it.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    size_t end = text.find('\n');
    end = end == text.npos ? text.size() : end + 1;
    out.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return out;
}

// How far one side has come on each diagonal, from -m to n.
class Front {
 public:
  Front(Offset n, Offset m) : n_(n), m_(m), at_(static_cast<size_t>(n + m + 3), kNone) {}

  Offset& operator[](Offset k) { return at_[static_cast<size_t>(k + m_ + 1)]; }

  // The farthest start of step `d` on diagonal `k`; kNone where there is none in the box.
  Offset Start(Offset d, Offset k) {
    if (d == 0) return 0;
    Offset down = (*this)[k + 1], right = (*this)[k - 1];
    down = down == kNone || down - k > m_ ? kNone : down;
    right = right == kNone || right + 1 > n_ ? kNone : right + 1;
    return std::max(down, right);
  }
  bool Has(Offset k) { return k >= -m_ && k <= n_ && (*this)[k] != kNone; }

 private:
  Offset n_, m_;
  std::vector<Offset> at_;
};

// E. Myers, "An O(ND) Difference Algorithm and Its Variations", in linear space.
class Differ {
 public:
  Differ(const std::vector<int>& a, const std::vector<int>& b) : a_(a), b_(b), removed(a.size()), added(b.size()) {
    Compare(0, Size(a), 0, Size(b));
  }

 private:
  static Offset Size(const std::vector<int>& list) { return static_cast<Offset>(list.size()); }
  bool Same(Offset i, Offset j) const { return a_[static_cast<size_t>(i)] == b_[static_cast<size_t>(j)]; }

  void Compare(Offset a0, Offset a1, Offset b0, Offset b1) {
    while (a0 < a1 && b0 < b1 && Same(a0, b0)) ++a0, ++b0;
    while (a0 < a1 && b0 < b1 && Same(a1 - 1, b1 - 1)) --a1, --b1;
    auto middle = a0 < a1 && b0 < b1 ? Middle(a0, a1, b0, b1) : std::nullopt;
    if (!middle) {
      std::fill(removed.begin() + a0, removed.begin() + a1, true);
      std::fill(added.begin() + b0, added.begin() + b1, true);
      return;
    }
    Compare(a0, middle->first, b0, middle->second);
    Compare(middle->first, a1, middle->second, b1);
  }

  // A point of a shortest way, about in its middle; nullopt for a way that is too long.
  std::optional<std::pair<Offset, Offset>> Middle(Offset a0, Offset a1, Offset b0, Offset b1) const {
    const Offset n = a1 - a0, m = b1 - b0, delta = n - m;
    const bool odd = delta % 2 != 0;
    Front forward(n, m), backward(n, m);
    for (Offset d = 0; d <= std::min((n + m + 1) / 2, kMostSteps); ++d) {
      for (Offset k = -d; k <= d; k += 2) {
        if (k < -m || k > n) continue;
        Offset x = forward.Start(d, k);
        while (x != kNone && x < n && x - k < m && Same(a0 + x, b0 + x - k)) ++x;
        forward[k] = x;
        if (odd && x != kNone && backward.Has(delta - k) && x + backward[delta - k] >= n)
          return std::pair(a0 + x, b0 + x - k);
      }
      for (Offset k = -d; k <= d; k += 2) {
        if (k < -m || k > n) continue;
        Offset x = backward.Start(d, k);
        while (x != kNone && x < n && x - k < m && Same(a1 - 1 - x, b1 - 1 - x + k)) ++x;
        backward[k] = x;
        if (!odd && x != kNone && forward.Has(delta - k) && x + forward[delta - k] >= n)
          return std::pair(a1 - x, b1 - x + k);
      }
    }
    return std::nullopt;
  }

  const std::vector<int>&a_, &b_;

 public:
  std::vector<bool> removed, added;  // of each line
};

struct Line {
  char sign;
  std::string_view text;
};

// Both texts as one list of lines.
std::vector<Line> Merge(const std::vector<std::string_view>& before, const std::vector<std::string_view>& after) {
  std::unordered_map<std::string_view, int> numbers;
  auto number = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> out;
    for (std::string_view line : lines)
      out.push_back(numbers.emplace(line, static_cast<int>(numbers.size())).first->second);
    return out;
  };
  const std::vector<int> a = number(before), b = number(after);
  const Differ differ(a, b);
  std::vector<Line> out;
  for (size_t i = 0, j = 0; i < before.size() || j < after.size();) {
    if (i < before.size() && differ.removed[i]) {
      out.push_back({'-', before[i++]});
    } else if (j < after.size() && differ.added[j]) {
      out.push_back({'+', after[j++]});
    } else {
      out.push_back({' ', before[i++]});
      ++j;
    }
  }
  return out;
}

std::string Range(size_t first, size_t count) {
  if (count == 1) return std::to_string(first + 1);
  return fmt::format("{},{}", count == 0 ? first : first + 1, count);
}

void AddHunk(const std::vector<Line>& lines, size_t begin, size_t end, size_t i, size_t j, std::string& out) {
  size_t removed = 0, added = 0;
  for (size_t at = begin; at < end; ++at) {
    removed += lines[at].sign != '+';
    added += lines[at].sign != '-';
  }
  out += fmt::format("@@ -{} +{} @@\n", Range(i, removed), Range(j, added));
  for (size_t at = begin; at < end; ++at) {
    out += lines[at].sign;
    out += lines[at].text;
    if (!lines[at].text.ends_with('\n')) out += "\n\\ No newline at end of file\n";
  }
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after, std::string_view before_name,
                        std::string_view after_name) {
  if (before == after) return "";
  const std::vector<Line> lines = Merge(LinesOf(before), LinesOf(after));
  std::string out = fmt::format("--- {}\n+++ {}\n", before_name, after_name);
  size_t i = 0, j = 0;  // lines of either text before `at`
  for (size_t at = 0; at < lines.size();) {
    if (lines[at].sign == ' ') {
      ++at, ++i, ++j;
      continue;
    }
    const size_t before_it = std::min(kAround, at);
    const size_t begin = at - before_it;
    size_t last = at;  // the last change that is no farther from the one before than both surroundings are long
    for (size_t next = at; next < lines.size() && next <= last + 2 * kAround + 1; ++next) {
      if (lines[next].sign != ' ') last = next;
    }
    const size_t end = std::min(lines.size(), last + 1 + kAround);
    AddHunk(lines, begin, end, i - before_it, j - before_it, out);
    for (; at < end; ++at) {
      i += lines[at].sign != '+';
      j += lines[at].sign != '-';
    }
  }
  return out;
}

}  // namespace capi
