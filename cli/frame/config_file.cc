#include "cli/frame/config_file.h"

#include <fmt/format.h>

#include "base/files.h"
#include "base/http/client.h"
#include "base/http/url.h"

namespace capi::cli {
namespace {

constexpr size_t kMostBytes = 16u << 20;

// The order in which clusterctl looks; those after the third are formats that are refused.
constexpr std::string_view kExtensions[] = {"json", "yaml", "yml", "toml", "properties", "hcl", "dotenv", "env", "ini"};

bool IsUrl(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

Error Cannot(std::string_view why) {
  return Error{Code::kInvalidArgument, fmt::format("failed to initialize the configuration reader: {}", why), {}};
}

// Other formats of clusterctl are refused by name rather than misread.
Status CheckFormat(const std::string& path) {
  for (std::string_view extension : kExtensions) {
    bool readable = extension == "yaml" || extension == "yml" || extension == "json";
    if (!readable && path.ends_with(fmt::format(".{}", extension))) {
      return Cannot(
          fmt::format("{}: .{} is no format of configuration files here; write it as YAML or JSON", path, extension));
    }
  }
  return Ok();
}

// kNotFound where there is none.
Result<ConfigText> ReadPath(const std::string& path) {
  auto text = ReadFile(path, kMostBytes);
  if (!text.ok()) return Error{text.code(), Cannot(text.error().message).message, {}};
  TRY(CheckFormat(path));
  return ConfigText{path, *std::move(text)};
}

Result<ConfigText> Download(const Context& ctx, const Getenv& getenv, const std::string& url) {
  http::Options options;
  options.proxy = ProxyFrom(getenv);
  http::Request request;
  request.max_body = kMostBytes;
  auto response = http::Fetch(ctx.WithTimeout(Seconds(30)), url, std::move(request), options);
  std::string shown = http::PrintableUrl(url);
  std::string what = fmt::format("failed to download the clusterctl config file from {}", shown);
  if (!response.ok()) return Cannot(fmt::format("{}: {}", what, response.error().message));
  if (response->status != 200) return Cannot(fmt::format("{} got {}", what, response->status));
  return ConfigText{shown, std::move(response->body)};
}

std::string Home(const Getenv& getenv) { return getenv("HOME").value_or(""); }

}  // namespace

std::string ConfigFolder(const Getenv& getenv) {
  std::string base = getenv("XDG_CONFIG_HOME").value_or("");
  if (base.starts_with('/')) return base + "/cluster-api";  // the standard: a relative one is ignored
  std::string home = Home(getenv);
  return home.empty() ? "" : home + "/.config/cluster-api";
}

std::string OldConfigFolder(const Getenv& getenv) {
  std::string home = Home(getenv);
  return home.empty() ? "" : home + "/.cluster-api";
}

Result<ConfigText> ReadConfigText(const Context& ctx, const Getenv& getenv, const std::string& flag) {
  if (IsUrl(flag)) return Download(ctx, getenv, flag);
  if (!flag.empty()) return ReadPath(flag);
  for (const std::string& folder : {ConfigFolder(getenv), OldConfigFolder(getenv)}) {
    if (folder.empty()) continue;
    for (std::string_view extension : kExtensions) {
      auto found = ReadPath(fmt::format("{}/clusterctl.{}", folder, extension));
      if (found.ok() || found.code() != Code::kNotFound) return found;
    }
  }
  return ConfigText{};
}

}  // namespace capi::cli
