#include "api/version.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/text.h"
#include "base/strings.h"

namespace capi::api {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsIdentifier(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
  });
}

bool AreIdentifiers(std::string_view dotted) {
  if (dotted.empty()) return false;
  auto parts = Split(dotted, '.');
  return std::all_of(parts.begin(), parts.end(), [](const std::string& p) { return IsIdentifier(p); });
}

bool ZeroPrefixed(std::string_view digits) { return digits.size() > 1 && digits.front() == '0'; }

// The longest prefix of digits and single dots between them: "1.2.3" of "1.2.3-rc.1".
std::string_view NumbersPrefix(std::string_view text) {
  size_t end = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  while (end > 0 && end + 1 < text.size() && text[end] == '.' && IsDigit(text[end + 1])) {
    ++end;
    while (end < text.size() && IsDigit(text[end])) ++end;
  }
  return text.substr(0, end);
}

// "-rc.1+build" into its two parts; false when it isn't of that form.
bool SplitExtra(std::string_view extra, std::string& prerelease, std::string& build) {
  while (!extra.empty() && IsSpace(extra.back())) extra.remove_suffix(1);
  if (size_t plus = extra.find('+'); plus != std::string_view::npos) {
    build = extra.substr(plus + 1);
    if (!AreIdentifiers(build)) return false;
    extra = extra.substr(0, plus);
  }
  if (extra.empty()) return true;
  prerelease = extra.substr(1);
  return extra.front() == '-' && AreIdentifiers(prerelease);
}

Result<std::uint64_t> TolerantNumber(std::string_view text, std::string_view part) {
  if (!text.empty() && !AllDigits(text)) {
    return Invalid(fmt::format("Invalid character(s) found in {} number {}", part, GoQuote(text)));
  }
  std::uint64_t out = 0;
  if (!ParseUint(text, out)) {
    return Invalid(fmt::format("strconv.ParseUint: parsing {}: {}", GoQuote(text),
                               text.empty() ? "invalid syntax" : "value out of range"));
  }
  return out;
}

Status CheckTolerantPrerelease(std::string_view dotted) {
  if (dotted.empty()) return Invalid("Prerelease is empty");
  for (const std::string& part : Split(dotted, '.')) {
    if (part.empty()) return Invalid("Prerelease is empty");
    if (AllDigits(part) && ZeroPrefixed(part)) {
      return Invalid("Numeric PreRelease version must not contain leading zeroes " + GoQuote(part));
    }
    if (!IsIdentifier(part)) return Invalid("Invalid character(s) found in prerelease " + GoQuote(part));
  }
  return Ok();
}

Status CheckTolerantBuild(std::string_view dotted) {
  if (dotted.empty()) return Invalid("Build meta data is empty");
  for (const std::string& part : Split(dotted, '.')) {
    if (part.empty()) return Invalid("Build meta data is empty");
    if (!IsIdentifier(part)) return Invalid("Invalid character(s) found in build meta data " + GoQuote(part));
  }
  return Ok();
}

// "1.2.3-rc.1" into at most three parts at its first two dots, without leading zeros in front of each.
std::vector<std::string> TolerantParts(std::string_view text) {
  std::vector<std::string> parts;
  while (parts.size() < 2) {
    size_t dot = text.find('.');
    if (dot == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, part.find_first_not_of('0'));
    if (part.empty() || !IsDigit(part.front())) part.insert(0, "0");
  }
  return parts;
}

std::strong_ordering CompareIdentifier(std::string_view a, std::string_view b) {
  bool a_number = AllDigits(a), b_number = AllDigits(b);
  if (a_number != b_number) return a_number ? std::strong_ordering::less : std::strong_ordering::greater;
  if (a_number && a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

std::strong_ordering ComparePrerelease(std::string_view a, std::string_view b) {
  if (a == b) return std::strong_ordering::equal;
  if (a.empty() || b.empty()) return a.empty() ? std::strong_ordering::greater : std::strong_ordering::less;
  auto as = Split(a, '.'), bs = Split(b, '.');
  for (size_t i = 0; i < std::min(as.size(), bs.size()); ++i) {
    if (auto order = CompareIdentifier(as[i], bs[i]); order != 0) return order;
  }
  return as.size() <=> bs.size();
}

}  // namespace

Result<Version> Version::Parse(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty() && IsSpace(rest.front())) rest.remove_prefix(1);
  if (!rest.empty() && rest.front() == 'v') rest.remove_prefix(1);
  std::string_view numbers = NumbersPrefix(rest);
  std::string_view extra = rest.substr(numbers.size());
  if (numbers.empty() || extra.find('\n') != std::string_view::npos) {
    return Invalid(fmt::format("could not parse {} as version", GoQuote(text)));
  }
  auto parts = Split(numbers, '.');
  if (parts.size() != 3) return Invalid("illegal version string " + GoQuote(text));

  Version out;
  std::uint64_t* const fields[] = {&out.major, &out.minor, &out.patch};
  for (size_t i = 0; i < 3; ++i) {
    if (ZeroPrefixed(parts[i])) {
      return Invalid(fmt::format("illegal zero-prefixed version component {} in {}", GoQuote(parts[i]), GoQuote(text)));
    }
    if (!ParseUint(parts[i], *fields[i])) {
      return Invalid(fmt::format(
          "illegal non-numeric version component {} in {}: strconv.ParseUint: parsing {}: value out of range",
          GoQuote(parts[i]), GoQuote(text), GoQuote(parts[i])));
    }
  }
  if (!SplitExtra(extra, out.prerelease, out.build)) {
    return Invalid(fmt::format("could not parse pre-release/metadata ({}) in version {}", extra, GoQuote(text)));
  }
  for (const std::string& part : Split(out.prerelease, '.')) {
    if (AllDigits(part) && ZeroPrefixed(part)) {
      return Invalid(fmt::format("illegal zero-prefixed version component {} in {}", GoQuote(part), GoQuote(text)));
    }
  }
  return out;
}

Result<Version> Version::ParseTolerant(std::string_view text) {
  text = Trim(text);
  if (!text.empty() && text.front() == 'v') text.remove_prefix(1);
  auto parts = TolerantParts(text);
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return Invalid("Short version cannot contain PreRelease/Build meta data");
  }
  parts.resize(3, "0");

  Version out;
  out.major = TRY(TolerantNumber(parts[0], "major"));
  out.minor = TRY(TolerantNumber(parts[1], "minor"));
  std::string_view patch = parts[2];
  size_t plus = patch.find('+');
  std::string_view build = plus == std::string_view::npos ? "" : patch.substr(plus + 1);
  patch = patch.substr(0, plus);
  size_t dash = patch.find('-');
  std::string_view prerelease = dash == std::string_view::npos ? "" : patch.substr(dash + 1);
  out.patch = TRY(TolerantNumber(patch.substr(0, dash), "patch"));
  if (dash != std::string_view::npos) TRY(CheckTolerantPrerelease(prerelease));
  if (plus != std::string_view::npos) TRY(CheckTolerantBuild(build));
  out.prerelease = prerelease;
  out.build = build;
  return out;
}

std::string Version::ToString() const {
  std::string out = fmt::format("v{}.{}.{}", major, minor, patch);
  if (!prerelease.empty()) out += "-" + prerelease;
  if (!build.empty()) out += "+" + build;
  return out;
}

std::strong_ordering Version::operator<=>(const Version& other) const {
  if (auto order = major <=> other.major; order != 0) return order;
  if (auto order = minor <=> other.minor; order != 0) return order;
  if (auto order = patch <=> other.patch; order != 0) return order;
  return ComparePrerelease(prerelease, other.prerelease);
}

bool SameVersion(std::string_view a, std::string_view b) {
  auto left = Version::Parse(a), right = Version::Parse(b);
  if (!left.ok() || !right.ok()) return a == b;
  return left->ToString() == right->ToString();
}

}  // namespace capi::api
