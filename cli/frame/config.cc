#include "cli/frame/config.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include "api/release.h"
#include "api/text.h"
#include "base/strings.h"
#include "templating/customise/images.h"
#include "templating/envsubst/template.h"

namespace capi::cli {
namespace {

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

std::string EnvironmentName(std::string_view key) { return ReplaceAll(ToUpper(key), "-", "_"); }

bool IsFolder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool IsNumber(const Json& value) { return value.is_number(); }

}  // namespace

Result<Config> Config::Parse(ConfigText text, Getenv getenv) {
  return Config(TRY(fetch::ConfigurationFile::Parse(text.text, text.source)), std::move(getenv));
}

Result<std::optional<std::string>> Config::Get(const std::string& key) const {
  using Value = std::optional<std::string>;
  if (auto value = getenv_(EnvironmentName(key))) return value;
  const Json* value = file_.Key(key);
  if (value == nullptr) return Value();
  if (value->is_structured()) {
    return file_.At({key}, Invalid(fmt::format("the value of {} is a {}; write it as text, in quotes", key,
                                               value->is_array() ? "list" : "map")));
  }
  const fetch::ConfigurationFile::Steps path = {key};
  Value text = file_.places().TextOf(path);
  if (!text) text = value->is_string() ? value->get<std::string>() : ToJsonText(*value);  // merged in from elsewhere
  Value written = file_.places().WrittenAt(path);
  if (IsNumber(*value) && written && *written != *text) {
    // Without the value, which may be a password.
    MutexLock lock(surprised_->mu);
    surprised_->texts.insert(
        fmt::format("{}: {}: a number, which is not read as it is written; put it in quotes to keep it so",
                    file_.Place({key}), key));
  }
  return text;
}

Result<std::optional<std::string>> Config::GetMember(std::string_view key, std::string_view member) const {
  const Json* map = file_.Key(key);
  if (map == nullptr) return std::optional<std::string>();
  if (!map->is_object())
    return file_.At({std::string(key)}, Invalid(fmt::format("the value of {} must be a map", key)));
  auto value = map->find(ToLower(member));
  if (value == map->end() || value->is_null()) return std::optional<std::string>();
  const fetch::ConfigurationFile::Steps path = {std::string(key), std::string(member)};
  if (value->is_structured()) return file_.At(path, Invalid(fmt::format("{}.{} must be a text", key, member)));
  std::optional<std::string> text = file_.places().TextOf(path);
  return text ? text : std::optional(value->is_string() ? value->get<std::string>() : ToJsonText(*value));
}

Result<std::string> Config::Expand(std::string_view what, const std::string& text) const {
  templating::TemplateError error;
  auto parsed = templating::Template::Parse(text, error, templating::Dialect::kEnvsubst);
  auto output = parsed ? parsed->Evaluate(getenv_, error) : std::nullopt;
  if (!output) return Invalid(fmt::format("unable to evaluate {}: {}: {}", what, api::GoQuote(text), error.message));
  return std::move(output->text);
}

Result<std::vector<ProviderSource>> Config::Providers() const {
  std::vector<ProviderSource> out;
  for (const auto& known : api::KnownProviders()) out.push_back({known.type, std::string(known.name), known.Url()});
  auto configured = TRY(file_.Providers([this](const std::string& url) { return Expand("url", url); }));
  for (ProviderSource& read : configured) {
    auto same = [&](const ProviderSource& p) { return p.type == read.type && p.name == read.name; };
    auto before = std::find_if(out.begin(), out.end(), same);
    if (before != out.end()) {
      before->url = read.url;
    } else {
      out.push_back(std::move(read));
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
  const Json* images = file_.Key("images");
  if (images == nullptr) return templating::ImageOverrides();
  auto parsed = templating::ReadImageOverrides(*images);
  return parsed.ok() ? std::move(parsed) : file_.At({"images"}, parsed.error());
}

Result<std::string> Config::OverridesFolder() const {
  std::optional<std::string> setting = TRY(Get("overridesFolder"));
  if (setting && !Trim(*setting).empty()) return Expand("overridesFolder", *setting);
  std::string folder = ConfigFolder(getenv_), old = OldConfigFolder(getenv_);
  if (!folder.empty()) folder += "/overrides";
  if (!old.empty() && !IsFolder(folder) && IsFolder(old + "/overrides")) return old + "/overrides";
  return folder;
}

std::vector<std::string> Config::Surprises() const {
  MutexLock lock(surprised_->mu);
  return {surprised_->texts.begin(), surprised_->texts.end()};
}

Result<Config> LoadConfig(const Context& ctx, const GlobalOptions& options, const Getenv& getenv, Notes& notes) {
  ConfigText text = TRY(ReadConfigText(ctx, getenv, options.config));
  Config config = TRY(Config::Parse(std::move(text), getenv));
  int level = options.verbosity.value_or(0);
  auto setting = options.verbosity ? std::nullopt : TRY(config.Get("CLUSTERCTL_LOG_LEVEL"));
  if (setting && !setting->empty()) {
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
