#include "local/node/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"

namespace capi::local {
namespace {

constexpr std::string_view kDefaultCertificates = "/tmp/k8s-webhook-server/serving-certs";
constexpr const char* kCertificatesFlag = "webhook-cert-dir";
// Those that are told where to listen have one of these words, and end with one of the others.
constexpr std::array kListeners = {"webhook", "health", "metrics", "diagnostics", "profiler", "pprof",  "probe",
                                   "ready",   "live",   "bind",    "listen",      "secure",   "serving"};
constexpr std::array kEnds = {"port", "addr", "address"};
constexpr std::array kElections = {"leader-elect", "enable-leader-election"};
constexpr std::array kElectionNamespaces = {"leader-elect-namespace", "leader-election-namespace",
                                            "leader-elect-resource-namespace"};

std::optional<int> PortOf(std::string_view text) {
  int port = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && port >= 0 && port <= 65535 ? std::optional(port) : std::nullopt;
}

bool Listens(const std::string& flag, int port, const std::set<int>& declared) {
  auto ends = [&](const char* end) { return flag == end || flag.ends_with(std::string("-") + end); };
  auto has = [&](const char* word) { return flag.find(word) != flag.npos; };
  if (std::none_of(kEnds.begin(), kEnds.end(), ends)) return false;
  return declared.contains(port) || std::any_of(kListeners.begin(), kListeners.end(), has);
}

bool IsElection(const std::string& flag) {
  return std::find(kElections.begin(), kElections.end(), flag) != kElections.end();
}

// "-v", "--name", "--name=value". `value` is unset without "=".
struct Flag {
  std::string dashes, name;
  std::optional<std::string> value;
};
std::optional<Flag> FlagOf(const std::string& argument) {
  size_t dashes = argument.find_first_not_of('-');
  if (dashes == argument.npos || dashes < 1 || dashes > 2) return std::nullopt;
  size_t equal = argument.find('=');
  Flag flag{argument.substr(0, dashes), argument.substr(dashes, equal == argument.npos ? equal : equal - dashes), {}};
  if (equal != argument.npos) flag.value = argument.substr(equal + 1);
  return flag;
}

class Leading {
 public:
  explicit Leading(const ArgumentOptions& options) : options_(options) {}

  Arguments All(std::vector<std::string> values) {
    for (size_t i = 0; i < values.size(); ++i) {
      std::optional<Flag> flag = FlagOf(values[i]);
      if (!flag) {
        out_.values.push_back(Path(values[i]));
        continue;
      }
      there_.insert(flag->name);
      bool apart = !flag->value && i + 1 < values.size() && !FlagOf(values[i + 1]) && !IsElection(flag->name);
      if (apart) {
        out_.values.push_back(values[i]);
        out_.values.push_back(Value(flag->name, values[++i]));
      } else if (flag->value) {
        Whole(*flag);
      } else {
        election_ = election_ || IsElection(flag->name);
        out_.values.push_back(values[i]);
      }
    }
    AddDefaults();
    AddCertificates();
    Elect();
    return std::move(out_);
  }

 private:
  void Whole(const Flag& flag) {
    bool no = *flag.value == "false" || *flag.value == "0";
    if (IsElection(flag.name) && !no) election_ = true;
    out_.values.push_back(fmt::format("{}{}={}", flag.dashes, flag.name, Value(flag.name, *flag.value)));
  }

  std::string Path(const std::string& value) { return LedPath(value, options_.mounts, out_.named).value_or(value); }

  std::string Value(const std::string& flag, const std::string& value) {
    std::optional<Address> address = AddressOf(value);
    if (!address || address->port == 0 || !Listens(flag, address->port, options_.ports)) return Path(value);
    int port = Free(address->port);
    if (address->host.empty() && value[0] != ':') return std::to_string(port);
    bool local = address->host == "localhost" || address->host == "[::1]";
    return fmt::format("{}:{}", local ? address->host : "127.0.0.1", port);
  }

  int Free(int port) {
    auto [place, added] = out_.ports.try_emplace(port, 0);
    if (added) place->second = options_.port_of(port);
    return place->second;
  }

  void AddDefaults() {
    for (const auto& [flag, value] : options_.flags) {
      std::optional<Address> address = AddressOf(value);
      if (there_.contains(flag) || !address || address->port == 0 || !Listens(flag, address->port, {})) continue;
      out_.values.push_back(fmt::format("--{}={}", flag, Value(flag, value)));
    }
  }

  void AddCertificates() {
    auto mount = options_.mounts.find(std::string(kDefaultCertificates));
    if (mount == options_.mounts.end() || out_.named.contains(mount->first)) return;
    if (there_.contains(kCertificatesFlag) || !options_.flags.contains(kCertificatesFlag)) return;
    out_.values.push_back(fmt::format("--{}={}", kCertificatesFlag, mount->second));
    out_.named.insert(mount->first);
  }

  void Elect() {
    std::string by_default;  // a flag that isn't there, and is on
    for (const char* flag : kElections) {
      auto known = options_.flags.find(flag);
      if (known != options_.flags.end() && known->second == "true" && !there_.contains(flag)) by_default = flag;
    }
    if (!election_ && by_default.empty()) return;
    for (const char* flag : kElectionNamespaces) {
      if (there_.contains(flag)) return;
      if (!options_.flags.contains(flag)) continue;
      out_.values.push_back(fmt::format("--{}={}", flag, options_.ns));
      return;
    }
    out_.alone = true;
    for (std::string& value : out_.values) {
      std::optional<Flag> flag = FlagOf(value);
      if (flag && IsElection(flag->name)) value = fmt::format("{}{}=false", flag->dashes, flag->name);
    }
    if (!by_default.empty()) out_.values.push_back(fmt::format("--{}=false", by_default));
  }

  const ArgumentOptions& options_;
  Arguments out_;
  std::set<std::string> there_;
  bool election_ = false;
};

// `(default ":8443")`, `(default 9443)`, at the end of a flag's description.
std::string DefaultOf(std::string_view line) {
  size_t at = line.rfind("(default ");
  if (at == line.npos) return "";
  line.remove_prefix(at + 9);
  line = line.substr(0, line.find(')'));
  if (line.size() >= 2 && line.front() == '"' && line.back() == '"') line = line.substr(1, line.size() - 2);
  return std::string(line);
}

}  // namespace

std::optional<Address> AddressOf(std::string_view text) {
  size_t colon = text.rfind(':');
  std::string_view host = colon == text.npos ? "" : text.substr(0, colon);
  auto port = PortOf(colon == text.npos ? text : text.substr(colon + 1));
  bool bracketed = host.size() > 1 && host.front() == '[' && host.back() == ']';
  if (!port || (!bracketed && host.find_first_of(":/[] ") != host.npos)) return std::nullopt;
  return Address{std::string(host), *port};
}

std::optional<std::string> LedPath(std::string_view text, const std::map<std::string, std::string>& mounts,
                                   std::set<std::string>& named) {
  for (auto mount = mounts.rbegin(); mount != mounts.rend(); ++mount) {  // a folder in another one comes first
    const std::string& path = mount->first;
    bool below = text.starts_with(path) && (text.size() == path.size() || text[path.size()] == '/');
    if (!below) continue;
    named.insert(path);
    return mount->second + std::string(text.substr(path.size()));
  }
  return std::nullopt;
}

Flags FlagsOfHelp(std::string_view help) {
  Flags flags;
  std::string last;  // its description may go on in the lines below
  for (const std::string& line : Split(help, '\n')) {
    std::string_view text = Trim(line);
    // "-h, --help": the long name counts.
    if (text.size() > 4 && text[0] == '-' && text.substr(2, 2) == ", ") text.remove_prefix(4);
    size_t dashes = text.find_first_not_of('-');
    bool flag = !line.empty() && line[0] != '-' && (dashes == 1 || dashes == 2) && line.find_first_not_of(" \t") > 0;
    if (flag) {
      text.remove_prefix(dashes);
      last = std::string(text.substr(0, text.find_first_of(" =\t[,")));
      flags.try_emplace(last, "");
    }
    std::string value = last.empty() ? "" : DefaultOf(line);
    if (!value.empty()) flags[last] = value;
  }
  return flags;
}

Arguments ArgumentsOnLoopback(std::vector<std::string> values, const ArgumentOptions& options) {
  return Leading(options).All(std::move(values));
}

}  // namespace capi::local
