#include "kube/client/config/credentials.h"

#include "base/encoding.h"
#include "base/files.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace capi::kube {
namespace {

class Fixed : public CredentialSource {
 public:
  explicit Fixed(std::string authorization) : authorization_(std::move(authorization)) {}
  Result<Credential> Get(const Context&, const Credential*) override {
    return Credential{.authorization = authorization_};
  }

 private:
  const std::string authorization_;
};

class FromFile : public CredentialSource {
 public:
  FromFile(std::string path, std::string first) : path_(std::move(path)), token_(std::move(first)) {}

  Result<Credential> Get(const Context&, const Credential*) override {
    constexpr size_t kMaxToken = 1u << 20;
    Result<std::string> text = ReadFile(path_, kMaxToken);
    MutexLock lock(mu_);
    if (text.ok() && !Trim(*text).empty()) token_ = Trim(*text);
    if (token_.empty()) {
      std::string why = text.ok() ? "is empty" : text.error().message;
      return Error{Code::kUnauthenticated, "token file " + path_ + ": " + why, {}};
    }
    return Credential{.authorization = "Bearer " + token_};
  }

 private:
  const std::string path_;
  Mutex mu_;
  std::string token_ CAPI_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<CredentialSource> BearerToken(const std::string& token) {
  return std::make_shared<Fixed>("Bearer " + token);
}

std::shared_ptr<CredentialSource> BasicAuth(const std::string& username, const std::string& password) {
  return std::make_shared<Fixed>("Basic " + Base64Encode(username + ":" + password));
}

std::shared_ptr<CredentialSource> TokenFile(std::string path, std::string first) {
  return std::make_shared<FromFile>(std::move(path), std::move(first));
}

}  // namespace capi::kube
