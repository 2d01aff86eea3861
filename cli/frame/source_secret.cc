#include "cli/frame/source_secret.h"

#include <fmt/format.h>

#include <optional>

#include "base/encoding.h"
#include "cli/frame/provider_release.h"
#include "fetch/forwarding.h"
#include "fetch/oci/oci.h"

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
  const Json* plain = Find(secret.json(), {"stringData"});
  if (plain != nullptr && plain->is_object()) {
    for (const auto& [key, value] : plain->items()) {
      if (value.is_string()) out[key] = value.get_ref<const std::string&>();
    }
  }
  const Json* data = Find(secret.json(), {"data"});
  if (data == nullptr || !data->is_object()) return out;
  for (const auto& [key, value] : data->items()) {
    if (!value.is_string() || out.contains(key)) continue;
    out[key] = TRY_WITH(Base64Decode(value.get_ref<const std::string&>()),
                        fmt::format("Secret {}/{}, key {}", secret.ns(), secret.name(), key));
  }
  return out;
}

namespace {

std::string TextOf(const api::ObjectRef& secret) { return fmt::format("Secret {}/{}", secret.ns, secret.name); }

// The Secret that has what its source asks for. A value.
struct Named {
  std::optional<api::ObjectRef> secret;  // that may be read for it
  bool for_source = false;               // and not for the variables, of which nothing may be for the source
  std::string foreign;                   // what is said of one of another namespace
};

Named SecretOf(const api::Provider& provider) {
  const auto& source = provider.spec.fetch_config;
  const bool git = source && source->git, own = source && source->secret_ref;
  Named out{git ? source->git->secret_ref : own ? source->secret_ref : provider.spec.config_secret, git || own, ""};
  if (!out.secret || out.secret->ns == provider.id.ns) return out;
  if (out.for_source)
    out.foreign = TextOf(*out.secret) + " is of another namespace than the provider, and isn't read here";
  out.secret.reset();
  return out;
}

Result<SourceSecret> TakenFrom(const api::Provider& provider, const kube::Object& secret) {
  auto values = TRY(SecretValues(secret));
  if (provider.spec.fetch_config && provider.spec.fetch_config->git) return SourceSecret{{}, "", std::move(values)};
  return SourceSecret{fetch::CredentialsIn(values), ""};
}

}  // namespace

Result<SourceSecret> ForItsSource(const Context& ctx, kube::Client& client, const api::Provider& provider) {
  const Named named = SecretOf(provider);
  if (!named.secret) return SourceSecret{{}, named.foreign};
  const std::string where = TextOf(*named.secret);
  auto found = client.Get(ctx, kube::Builtin("Secret"), named.secret->ns, named.secret->name);
  if (!found.ok() && found.code() == Code::kNotFound)
    return SourceSecret{{}, named.for_source ? where + ", which is named for it, isn't there" : ""};
  if (!found.ok() && found.code() == Code::kPermissionDenied)
    return SourceSecret{{}, fmt::format("you may not read {}, which may have credentials for it", where)};
  if (!found.ok()) return found.error().With(where);
  return TakenFrom(provider, *found);
}

SourceSecret ForItsSource(const api::Provider& provider, const std::function<FileSecret(const api::ObjectRef&)>& find) {
  const Named named = SecretOf(provider);
  if (!named.secret) return SourceSecret{{}, named.foreign};
  const std::string where = TextOf(*named.secret);
  const FileSecret found = find(*named.secret);
  if (!found.unclear.empty()) return SourceSecret{{}, where + " " + found.unclear};
  if (found.object != nullptr) {
    const bool encrypted = Find(found.object->json(), {"sops"}) != nullptr;
    auto taken = encrypted ? Result<SourceSecret>(Error{Code::kInvalidArgument, where + " is encrypted by SOPS", {}})
                           : TakenFrom(provider, *found.object);
    if (taken.ok()) return *std::move(taken);
    return SourceSecret{{},
                        fmt::format("it was asked without credentials, since those in these files can't be read "
                                    "({}): put it into them decrypted and filled in, or take the objects of a "
                                    "cluster that has it (--existing)",
                                    taken.error().message)};
  }
  if (!named.for_source) return SourceSecret();
  return SourceSecret{{},
                      fmt::format("{}, which is named for it, isn't in these files, and no cluster is asked for it: "
                                  "put it into them, or take the objects of a cluster that has it (--existing)",
                                  where)};
}

Error WithUnread(Error error, const std::string& unread) {
  const bool by_credentials =
      error.code == Code::kUnauthenticated || error.code == Code::kPermissionDenied || error.code == Code::kNotFound;
  if (!unread.empty() && by_credentials) error.message += "; " + unread;
  return error;
}

std::unique_ptr<fetch::Repository> WithUnread(std::unique_ptr<fetch::Repository> repository, std::string unread) {
  if (unread.empty()) return repository;
  return std::make_unique<AskedWithoutSecret>(std::move(repository), std::move(unread));
}

std::string_view FieldOfOwnSource(const api::Provider& provider) {
  const auto& fetch = provider.spec.fetch_config;
  return !fetch ? "" : fetch->git ? "git" : !fetch->oci.empty() ? "oci" : "";
}

Result<std::unique_ptr<fetch::Repository>> OpenOwnSource(const Config& config, const api::Provider& provider,
                                                         const SourceSecret& secret, fetch::GitFiles files) {
  const api::FetchConfig& fetch = *provider.spec.fetch_config;
  const api::ProviderId& id = provider.id;
  fetch::OciOptions options = OciOptionsOf(config);
  if (fetch.git) {
    auto git =
        TRY_WITH(fetch::OpenGit(*fetch.git, secret.git, id.type, id.name, options, files), "spec.fetchConfig.git");
    return WithUnread(std::move(git), secret.unread);
  }
  options.credentials = secret.credentials.oci;
  auto registry = TRY_WITH(fetch::OpenOci(fetch.oci, id.type, id.name, options), "spec.fetchConfig.oci");
  return WithUnread(std::move(registry), secret.unread);
}

}  // namespace capi::cli
