#include "cli/config.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "api/release.h"
#include "api/text.h"
#include "base/strings.h"
#include "base/yaml.h"
#include "fetch/provider_entry.h"
#include "templating/customise/images.h"
#include "templating/envsubst/template.h"

namespace capi::cli {
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

std::string EnvironmentName(std::string_view key) { return ReplaceAll(ToUpper(key), "-", "_"); }

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsNumber(const Json& value) { return value.is_number(); }

}  // namespace

Config::Config(ConfigText text, Getenv getenv)
    : source_(std::move(text.source)), getenv_(std::move(getenv)), places_(std::make_unique<YamlPlaces>(text.text)) {}

Result<Config> Config::Parse(ConfigText text, Getenv getenv) {
  auto fail = [&](std::string_view why) {
    return Invalid(fmt::format("failed to initialize the configuration reader: {}: {}", text.source, why));
  };
  auto documents = ParseYamlStream(text.text);
  if (!documents.ok()) return fail(documents.error().message);
  Json root = documents->empty() ? Json::object() : std::move(documents->front().value);
  if (!root.is_object()) return fail("line 1, column 1: the file must be a map of keys and values");
  Config config(std::move(text), std::move(getenv));
  if (std::string repeated = config.places_->RepeatedKey(); !repeated.empty()) {
    return Invalid(fmt::format("failed to initialize the configuration reader: {}: {}", config.source_, repeated));
  }
  config.root_ = LowerKeys(std::move(root));
  return config;
}

std::string Config::Place(const Steps& path) const {
  std::string place = places_->Of(path);
  return place.empty() ? source_ : fmt::format("{}, {}", source_, place);
}

Error Config::At(const Steps& path, const Error& error) const { return error.With(Place(path)); }

const Json* Config::Key(const std::string& key) const {
  auto found = root_.find(ToLower(key));
  return found == root_.end() || found->is_null() ? nullptr : &*found;
}

Result<std::optional<std::string>> Config::Get(const std::string& key) const {
  using Value = std::optional<std::string>;
  if (auto value = getenv_(EnvironmentName(key))) return value;
  const Json* value = Key(key);
  if (value == nullptr) return Value();
  if (value->is_structured()) {
    return At({key}, Invalid(fmt::format("the value of {} is a {}; write it as text, in quotes", key,
                                         value->is_array() ? "list" : "map")));
  }
  Value text = places_->TextOf(Steps{key});
  if (!text) text = value->is_string() ? value->get<std::string>() : ToJsonText(*value);  // merged in from elsewhere
  Value written = places_->WrittenAt(Steps{key});
  if (IsNumber(*value) && written && *written != *text) {
    // Without the value, which may be a password.
    surprises_.insert(fmt::format(
        "{}: {}: a number, which is not read as it is written; put it in quotes to keep it so", Place({key}), key));
  }
  return text;
}

Result<std::string> Config::Expand(std::string_view what, const std::string& text) const {
  templating::TemplateError error;
  auto parsed = templating::Template::Parse(text, error, templating::Dialect::kEnvsubst);
  auto output = parsed ? parsed->Evaluate(getenv_, error) : std::nullopt;
  if (!output) return Invalid(fmt::format("unable to evaluate {}: {}: {}", what, api::GoQuote(text), error.message));
  return std::move(output->text);
}

Result<ProviderSource> Config::ReadProvider(const Json& json) const {
  fetch::ProviderEntry entry = TRY(fetch::ReadProviderEntry(json));
  entry.url = TRY(Expand("url", entry.url));
  api::ProviderType type = TRY(fetch::CheckProviderEntry(entry));
  return ProviderSource{type, entry.name, entry.url};
}

Result<std::vector<ProviderSource>> Config::Providers() const {
  std::vector<ProviderSource> out;
  for (const auto& known : api::KnownProviders()) out.push_back({known.type, std::string(known.name), known.Url()});
  const Json* entries = Key("providers");
  if (entries == nullptr) return out;
  if (!entries->is_array()) {
    return At({"providers"}, Invalid("failed to unmarshal providers from the clusterctl configuration file: it must be "
                                     "a list of maps of name, url and type"));
  }
  for (size_t i = 0; i < entries->size(); ++i) {
    auto read = ReadProvider((*entries)[i]);
    if (!read.ok()) return At({"providers", std::to_string(i)}, read.error());
    auto same = [&](const ProviderSource& p) { return p.type == read->type && p.name == read->name; };
    auto before = std::find_if(out.begin(), out.end(), same);
    if (before != out.end()) {
      before->url = read->url;
    } else {
      out.push_back(*std::move(read));
    }
  }
  auto key = [](const ProviderSource& p) { return std::pair(p.type, std::string_view(p.name)); };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  return out;
}

Result<ProviderSource> Config::FindProvider(api::ProviderType type, const std::string& name) const {
  for (ProviderSource& provider : TRY(Providers())) {
    if (provider.type == type && provider.name == name) return std::move(provider);
  }
  if (const auto* known = api::FindKnownProvider(type, name)) return ProviderSource{type, name, known->Url()};
  return Error{Code::kNotFound,
               fmt::format("failed to get configuration for the {} with name {}. Please check the provider name and/or "
                           "add configuration for new providers using the .clusterctl config file",
                           api::KindOf(type).kind, name),
               {}};
}

Result<templating::ImageOverrides> Config::Images() const {
  const Json* images = Key("images");
  if (images == nullptr) return templating::ImageOverrides();
  auto parsed = templating::ReadImageOverrides(*images);
  return parsed.ok() ? std::move(parsed) : At({"images"}, parsed.error());
}

Result<std::string> Config::OverridesFolder() const {
  std::optional<std::string> setting = TRY(Get("overridesFolder"));
  if (setting && !Trim(*setting).empty()) return Expand("overridesFolder", *setting);
  std::string folder = ConfigFolder(getenv_), old = OldConfigFolder(getenv_);
  if (!folder.empty()) folder += "/overrides";
  if (!old.empty() && !IsFolder(folder) && IsFolder(old + "/overrides")) return old + "/overrides";
  return folder;
}

std::vector<std::string> Config::Surprises() const { return {surprises_.begin(), surprises_.end()}; }

Result<Config> LoadConfig(const Context& ctx, const GlobalOptions& options, const Getenv& getenv, Notes& notes) {
  ConfigText text = TRY(ReadConfigText(ctx, getenv, options.config));
  Config config = TRY(Config::Parse(std::move(text), getenv));
  int level = options.verbosity.value_or(0);
  auto setting = options.verbosity ? std::nullopt : TRY(config.Get("CLUSTERCTL_LOG_LEVEL"));
  if (setting) {
    const char* end = setting->data() + setting->size();
    auto read = std::from_chars(setting->data(), end, level);
    if (read.ec != std::errc() || read.ptr != end)
      return Invalid(fmt::format("CLUSTERCTL_LOG_LEVEL is \"{}\": it must be a whole number", *setting));
  }
  notes.SetVerbosity(level);
  if (config.source().empty()) {
    notes.Say(5, "No default config file available");
  } else {
    notes.Say(5, "Using configuration", {{"file", config.source()}});
  }
  return config;
}

}  // namespace capi::cli
