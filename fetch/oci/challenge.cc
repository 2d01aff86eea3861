#include "fetch/oci/challenge.h"

#include <map>

#include "base/strings.h"

namespace capi::fetch {
namespace {

// Reads from the front of a header's value. Thread-compatible.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool AtEnd() const { return rest_.empty(); }

  // White space, and commas between items.
  void SkipSeparators() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t,"), rest_.size())); }

  bool Take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::string_view Token() {
    size_t end = std::min(rest_.find_first_of(" \t,=\""), rest_.size());
    std::string_view token = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return token;
  }

  std::string Value() {
    if (!Take('"')) return std::string(Token());
    std::string value;
    while (!rest_.empty() && rest_.front() != '"') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      value.push_back(rest_.front());
      rest_.remove_prefix(1);
    }
    Take('"');
    return value;
  }

  void Skip() {
    if (!rest_.empty()) rest_.remove_prefix(1);
  }

 private:
  std::string_view rest_;
};

struct Scheme {
  std::string name;
  std::map<std::string, std::string> parameters;
};

std::vector<Scheme> ReadSchemes(std::string_view header) {
  std::vector<Scheme> schemes;
  Reader reader(header);
  for (reader.SkipSeparators(); !reader.AtEnd(); reader.SkipSeparators()) {
    std::string token = ToLower(reader.Token());
    if (token.empty()) {  // no grammar of ours
      reader.Skip();
    } else if (!reader.Take('=')) {
      schemes.push_back({std::move(token), {}});
    } else if (std::string value = reader.Value(); !schemes.empty()) {
      schemes.back().parameters.emplace(std::move(token), std::move(value));
    }
  }
  return schemes;
}

}  // namespace

std::optional<Challenge> ReadChallenge(const std::vector<std::string_view>& headers) {
  std::optional<Challenge> found;
  for (std::string_view header : headers) {
    for (Scheme& scheme : ReadSchemes(header)) {
      const bool bearer = scheme.name == "bearer";
      if ((!bearer && scheme.name != "basic") || (found && (found->bearer || !bearer))) continue;
      auto& parameters = scheme.parameters;
      found = Challenge{bearer, parameters["realm"], parameters["service"], parameters["scope"]};
    }
  }
  return found;
}

}  // namespace capi::fetch
