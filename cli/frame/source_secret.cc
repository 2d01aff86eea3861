#include "cli/frame/source_secret.h"

#include <fmt/format.h>

#include "base/encoding.h"
#include "fetch/forwarding.h"

namespace capi::cli {
namespace {

// Thread-safe, as the other one is.
class AskedWithoutSecret : public fetch::ForwardingRepository {
 public:
  AskedWithoutSecret(std::unique_ptr<fetch::Repository> repository, std::string unread)
      : ForwardingRepository(std::move(repository)), unread_(std::move(unread)) {}

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    auto versions = inner().Versions(ctx);
    if (!versions.ok()) return WithUnread(versions.error(), unread_);
    return versions;
  }
  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context& ctx) override {
    auto versions = inner().ReleasedVersions(ctx);
    if (!versions.ok()) return WithUnread(versions.error(), unread_);
    return versions;
  }
  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    auto file = inner().File(ctx, version, name);
    if (!file.ok()) return WithUnread(file.error(), unread_);
    return file;
  }
  // A registry has them elsewhere than beside the files.
  Result<api::Signatures> SignaturesOf(const Context& ctx, const api::Version& version,
                                       std::string_view name) override {
    auto signatures = inner().SignaturesOf(ctx, version, name);
    if (!signatures.ok()) return WithUnread(signatures.error(), unread_);
    return signatures;
  }

 private:
  const std::string unread_;
};

}  // namespace

Result<std::map<std::string, std::string>> SecretValues(const kube::Object& secret) {
  std::map<std::string, std::string> out;
  const Json* data = Find(secret.json(), {"data"});
  if (data == nullptr || !data->is_object()) return out;
  for (const auto& [key, value] : data->items()) {
    if (!value.is_string()) continue;
    out[key] = TRY_WITH(Base64Decode(value.get_ref<const std::string&>()),
                        fmt::format("Secret {}/{}, key {}", secret.ns(), secret.name(), key));
  }
  return out;
}

Result<SourceSecret> ForItsSource(const Context& ctx, kube::Client& client, const api::Provider& provider) {
  const auto& source = provider.spec.fetch_config;
  const bool git = source && source->git;
  const auto& secret = git                            ? source->git->secret_ref
                       : source && source->secret_ref ? source->secret_ref
                                                      : provider.spec.config_secret;
  if (!secret || secret->ns != provider.id.ns) return SourceSecret();
  const std::string where = fmt::format("Secret {}/{}", secret->ns, secret->name);
  auto found = client.Get(ctx, kube::Builtin("Secret"), secret->ns, secret->name);
  if (!found.ok() && found.code() == Code::kNotFound) return SourceSecret();
  if (!found.ok() && found.code() == Code::kPermissionDenied) return SourceSecret{{}, where};
  if (!found.ok()) return found.error().With(where);
  auto values = TRY(SecretValues(*found));
  if (git) return SourceSecret{{}, "", std::move(values)};
  return SourceSecret{fetch::CredentialsIn(values), ""};
}

Error WithUnread(Error error, const std::string& unread) {
  const bool by_credentials =
      error.code == Code::kUnauthenticated || error.code == Code::kPermissionDenied || error.code == Code::kNotFound;
  if (!unread.empty() && by_credentials)
    error.message += fmt::format("; you may not read {}, which may have credentials for it", unread);
  return error;
}

std::unique_ptr<fetch::Repository> WithUnread(std::unique_ptr<fetch::Repository> repository, std::string unread) {
  if (unread.empty()) return repository;
  return std::make_unique<AskedWithoutSecret>(std::move(repository), std::move(unread));
}

}  // namespace capi::cli
