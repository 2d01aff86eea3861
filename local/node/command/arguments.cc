#include "local/node/command/arguments.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "base/strings.h"

namespace capi::local {
namespace {

constexpr std::string_view kDefaultCertificates = "/tmp/k8s-webhook-server/serving-certs";
constexpr const char *kCertificatesFlag = "webhook-cert-dir", *kKubeconfigFlag = "kubeconfig";
// Those that are told where to listen have one of these words between their dashes, and end with one of the others.
constexpr std::array kListeners = {"webhook",     "webhooks",   "health",    "healthz", "metrics", "metric",
                                   "diagnostics", "diagnostic", "profiler",  "pprof",   "probe",   "probes",
                                   "ready",       "readyz",     "readiness", "live",    "livez",   "bind",
                                   "listen",      "secure",     "serving",   "liveness"};
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

// Where a process of this machine can listen; an address elsewhere is somebody else's.
bool IsHere(const std::string& host) {
  return host.empty() || host == "*" || host == "0.0.0.0" || host == "[::]" || host == "localhost" || host == "[::1]" ||
         (host.starts_with("127.") && host.find_first_not_of("0123456789.") == host.npos);
}

bool Listens(const std::string& flag, const Address& address, const std::set<int>& declared) {
  if (address.port == 0 || !IsHere(address.host)) return false;
  const std::vector<std::string> words = Split(flag, '-');
  auto has = [&](const char* word) { return std::find(words.begin(), words.end(), word) != words.end(); };
  if (words.empty() || std::find(kEnds.begin(), kEnds.end(), words.back()) == kEnds.end()) return false;
  return declared.contains(address.port) || std::any_of(kListeners.begin(), kListeners.end(), has);
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

// Behind "--" are no flags of the program; but those of another one, where that is a wrapper: tini -- /manager
// --port=1.
std::vector<std::string>::iterator EndOfFlags(std::vector<std::string>& values) {
  const auto end = std::find(values.begin(), values.end(), "--");
  if (end == values.end() || end + 1 == values.end() || !(end + 1)->starts_with('/')) return end;
  const bool wraps =
      std::any_of(end + 2, values.end(), [](const std::string& word) { return FlagOf(word).has_value(); });
  return wraps ? values.end() : end;
}

class Leading {
 public:
  explicit Leading(const ArgumentOptions& options) : options_(options) {}

  Arguments All(std::vector<std::string> values) {
    const auto end = EndOfFlags(values);
    std::vector<std::string> rest(end, values.end());
    values.erase(end, values.end());
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
    AddKubeconfig();
    Elect();
    for (const std::string& word : rest) out_.values.push_back(Path(word));
    return std::move(out_);
  }

 private:
  void Whole(const Flag& flag) {
    bool no = *flag.value == "false" || *flag.value == "0";
    if (IsElection(flag.name) && !no) election_ = true;
    out_.values.push_back(fmt::format("{}{}={}", flag.dashes, flag.name, Value(flag.name, *flag.value)));
  }

  // A path of a volume, or a URL of another container of the Pod.
  std::string Path(const std::string& value) {
    if (auto led = LedPath(value, options_.mounts, out_.named)) return *led;
    return LedUrl(value, options_.others);
  }

  std::string Value(const std::string& flag, const std::string& value) {
    std::optional<Address> address = AddressOf(value);
    if (!address || !Listens(flag, *address, options_.ports)) return Path(value);
    int port = Free(address->port);
    if (address->host.empty() && value[0] != ':') return std::to_string(port);
    return fmt::format("{}:{}", address->host == "localhost" ? address->host : "127.0.0.1", port);  // as it is asked
  }

  int Free(int port) {
    auto [place, added] = out_.ports.try_emplace(port, 0);
    if (added) place->second = options_.port_of(port);
    return place->second;
  }

  // Of what a program takes by itself: where it listens, and paths of volumes.
  void AddDefaults() {
    for (const auto& [flag, value] : options_.flags) {
      if (there_.contains(flag)) continue;
      std::optional<Address> address = AddressOf(value);
      const bool listens = address && Listens(flag, *address, options_.ports);
      const std::optional<std::string> led = listens ? Value(flag, value) : LedPath(value, options_.mounts, out_.named);
      if (!led || *led == value) continue;
      out_.values.push_back(fmt::format("--{}={}", flag, *led));
      there_.insert(flag);
    }
  }

  void AddCertificates() {
    auto mount = options_.mounts.find(std::string(kDefaultCertificates));
    if (mount == options_.mounts.end() || out_.named.contains(mount->first)) return;
    if (there_.contains(kCertificatesFlag) || !options_.flags.contains(kCertificatesFlag)) return;
    out_.values.push_back(fmt::format("--{}={}", kCertificatesFlag, mount->second));
    out_.named.insert(mount->first);
  }

  // Some read no variable for it, and would look for that of a cluster.
  void AddKubeconfig() {
    if (options_.kubeconfig.empty() || there_.contains(kKubeconfigFlag)) return;
    if (options_.flags.contains(kKubeconfigFlag))
      out_.values.push_back(fmt::format("--{}={}", kKubeconfigFlag, options_.kubeconfig));
  }

  void Elect() {
    std::vector<std::string> by_default;  // flags that aren't there, and are on
    for (const char* flag : kElections) {
      auto known = options_.flags.find(flag);
      const bool on = known != options_.flags.end() && known->second == "true";
      if (on && !there_.contains(flag)) by_default.emplace_back(flag);
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
    for (const std::string& flag : by_default) out_.values.push_back(fmt::format("--{}=false", flag));
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

// Host and port of a URL on this machine. A value.
struct UrlPort {
  size_t begin = 0, digits = 0, end = 0;  // of the host, and of the port's digits
  int port = 0;
};

// All of the word, from left to right.
std::vector<UrlPort> UrlPorts(std::string_view word) {
  std::vector<UrlPort> out;
  for (size_t at = word.find("://"); at != word.npos; at = word.find("://", at + 1)) {
    const std::string_view rest = word.substr(at + 3);
    for (const std::string_view host : {"127.0.0.1:", "localhost:", "[::1]:", "0.0.0.0:", "[::]:"}) {
      if (!rest.starts_with(host)) continue;
      const std::string_view number =
          rest.substr(host.size(), rest.find_first_not_of("0123456789", host.size()) - host.size());
      const size_t begin = at + 3, digits = begin + host.size();
      if (const auto port = PortOf(number)) out.push_back({begin, digits, digits + number.size(), *port});
    }
  }
  return out;
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

std::set<int> PortsInUrls(std::string_view word) {
  std::set<int> ports;
  for (const UrlPort& one : UrlPorts(word)) ports.insert(one.port);
  return ports;
}

std::string LedUrl(const std::string& word, const std::map<int, int>& ports) {
  std::string out;
  size_t behind = 0;
  for (const UrlPort& one : UrlPorts(word)) {
    const auto led = ports.find(one.port);
    if (led == ports.end()) continue;
    out += word.substr(behind, one.begin - behind);
    // Nobody is led to an address of IPv6.
    out += word[one.begin] == '[' ? "127.0.0.1:" : word.substr(one.begin, one.digits - one.begin);
    out += std::to_string(led->second);
    behind = one.end;
  }
  return out + word.substr(behind);
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
