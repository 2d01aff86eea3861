#include "cli/providers/config_repositories.h"

#include "cli/frame/config.h"
#include "cli/frame/structured.h"
#include "cli/frame/table.h"

namespace capi::cli {
namespace {

// The URL up to its last slash, and the file behind it.
std::pair<std::string, std::string> Divide(const std::string& url) {
  size_t begin = url.find_last_of('/') + 1;  // 0 where there is no slash
  return {url.substr(0, begin), url.substr(begin)};
}

std::string AsText(const std::vector<ProviderSource>& providers) {
  std::vector<std::vector<std::string>> rows = {{"NAME", "TYPE", "URL", "FILE"}};
  for (const ProviderSource& provider : providers) {
    auto [url, file] = Divide(provider.url);
    rows.push_back({provider.name, std::string(api::KindOf(provider.type).kind), url, file});
  }
  return FormatTable(rows, 3, 10);
}

// Keys are those of clusterctl.
Json AsJson(const std::vector<ProviderSource>& providers) {
  Json list = Json::array();
  for (const ProviderSource& provider : providers) {
    auto [url, file] = Divide(provider.url);
    list.push_back(
        {{"Name", provider.name}, {"ProviderType", api::KindOf(provider.type).kind}, {"URL", url}, {"File", file}});
  }
  return list;
}

}  // namespace

Status ConfigRepositories(const Context& ctx, const GlobalOptions& global, const std::string& output, World& world) {
  OutputFormat format = TRY(ParseOutputFormat(output));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::vector<ProviderSource> providers = TRY(config.Providers());
  Answer answer{.table = AsText(providers), .facts = AsJson(providers)};
  for (const ProviderSource& one : providers) answer.names.push_back(api::ManifestLabel(one.type, one.name));
  world.out << Format(format, answer);
  return Ok();
}

}  // namespace capi::cli
