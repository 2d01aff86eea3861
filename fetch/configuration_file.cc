#include "fetch/configuration_file.h"

#include <fmt/format.h>

#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "fetch/provider_entry.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// Keys of maps in lower case, at every level: clusterctl finds them without regard to case. Depth is bounded by the
// parser.
Json LowerKeys(Json value) {
  if (value.is_array()) {
    for (Json& item : value) item = LowerKeys(std::move(item));
    return value;
  }
  if (!value.is_object()) return value;
  Json out = Json::object();
  for (auto& [key, member] : value.items()) out[ToLower(key)] = LowerKeys(std::move(member));
  return out;
}

Result<ConfiguredProvider> ReadProvider(const Json& json, const ConfigurationFile::Expand& expand) {
  ProviderEntry entry = TRY(ReadProviderEntry(json));
  if (expand) entry.url = TRY(expand(entry.url));
  api::ProviderType type = TRY(CheckProviderEntry(entry));
  return ConfiguredProvider{type, entry.name, entry.url};
}

}  // namespace

std::set<std::string> GitLabHosts(const std::vector<ConfiguredProvider>& providers) {
  std::set<std::string> hosts;
  for (const ConfiguredProvider& provider : providers) {
    if (auto url = ParseGitLabUrl(provider.url); url.ok()) hosts.insert(std::move(url->host));
  }
  return hosts;
}

ConfigurationFile::ConfigurationFile(std::string_view text, std::string source, Json root)
    : source_(std::move(source)), places_(std::make_unique<YamlPlaces>(text)), root_(std::move(root)) {}

Result<ConfigurationFile> ConfigurationFile::Parse(std::string_view text, std::string source) {
  auto fail = [&](std::string_view why) {
    return Invalid(fmt::format("failed to initialize the configuration reader: {}: {}", source, why));
  };
  auto documents = ParseYamlStream(text);
  if (!documents.ok()) return fail(documents.error().message);
  Json root = documents->empty() ? Json::object() : std::move(documents->front().value);
  if (!root.is_object()) return fail("line 1, column 1: the file must be a map of keys and values");
  ConfigurationFile file(text, source, LowerKeys(std::move(root)));
  if (std::string repeated = file.places_->RepeatedKey(); !repeated.empty()) return fail(repeated);
  return file;
}

const Json* ConfigurationFile::Key(std::string_view key) const {
  auto found = root_.find(ToLower(key));
  return found == root_.end() || found->is_null() ? nullptr : &*found;
}

Result<std::vector<ConfiguredProvider>> ConfigurationFile::Providers(const Expand& expand) const {
  std::vector<ConfiguredProvider> out;
  const Json* entries = Key("providers");
  if (entries == nullptr) return out;
  if (!entries->is_array()) {
    return At({"providers"}, Invalid("failed to unmarshal providers from the clusterctl configuration file: it must be "
                                     "a list of maps of name, url and type"));
  }
  for (size_t i = 0; i < entries->size(); ++i) {
    auto read = ReadProvider((*entries)[i], expand);
    if (!read.ok()) return At({"providers", std::to_string(i)}, read.error());
    out.push_back(*std::move(read));
  }
  return out;
}

std::string ConfigurationFile::Place(const Steps& path) const {
  std::string place = places_->Of(path);
  return place.empty() ? source_ : fmt::format("{}, {}", source_, place);
}

Error ConfigurationFile::At(const Steps& path, const Error& error) const { return error.With(Place(path)); }

}  // namespace capi::fetch
