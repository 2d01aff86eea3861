#include "kube/client/exec_credential.h"

#include <fmt/core.h>
#include <unistd.h>

#include <optional>

#include "base/mutex.h"
#include "base/strings.h"

namespace capi::kube {
namespace {

using Credential = CredentialSource::Credential;

struct Answer {
  Credential credential;
  std::optional<WallTime> expires;
};

Error Bad(std::string message) { return {Code::kUnauthenticated, std::move(message), {}}; }

Result<Answer> ParseAnswer(const ExecPlugin& plugin, std::string_view text) {
  // No part of the text goes into a message: it holds the credential.
  Result<Json> json = ParseJson(text);
  if (!json.ok() || !json->is_object()) return Bad("it printed what is no JSON object");
  if (GetString(*json, {"kind"}) != "ExecCredential") return Bad("it printed what is no ExecCredential");
  std::string version = GetString(*json, {"apiVersion"});
  if (version != plugin.api_version) {
    return Bad(fmt::format("it answered in {}, asked in {}", version, plugin.api_version));
  }
  Answer out;
  std::string token = GetString(*json, {"status", "token"});
  if (!token.empty()) out.credential.authorization = "Bearer " + token;
  out.credential.client_cert_pem = GetString(*json, {"status", "clientCertificateData"});
  out.credential.client_key_pem = GetString(*json, {"status", "clientKeyData"});
  if (out.credential.client_cert_pem.empty() != out.credential.client_key_pem.empty()) {
    return Bad("it gave a client certificate without its key, or a key alone");
  }
  if (token.empty() && out.credential.client_cert_pem.empty()) return Bad("it gave neither token nor certificate");
  std::string expires = GetString(*json, {"status", "expirationTimestamp"});
  if (expires.empty()) return out;
  Result<WallTime> time = ParseTime(expires);
  if (!time.ok()) return Bad("status.expirationTimestamp is no time");
  out.expires = *time;
  return out;
}

class Exec : public CredentialSource {
 public:
  explicit Exec(ExecPlugin plugin) : plugin_(std::move(plugin)) {}

  Result<Credential> Get(const Context& ctx, bool refresh) override {
    std::optional<Answer> seen = Current();
    if (seen && !refresh && !Expired(ctx, *seen)) return seen->credential;
    MutexLock one_at_a_time(running_);
    std::optional<Answer> now = Current();
    bool renewed = now && (!seen || now->credential.authorization != seen->credential.authorization ||
                           now->credential.client_cert_pem != seen->credential.client_cert_pem);
    if (renewed && !Expired(ctx, *now)) return now->credential;  // by the call that we waited for
    Answer answer = TRY_WITH(Run(ctx), "credential plugin " + plugin_.program.command);
    MutexLock lock(mu_);
    answer_ = std::move(answer);
    return answer_->credential;
  }

 private:
  std::optional<Answer> Current() CAPI_EXCLUDES(mu_) {
    MutexLock lock(mu_);
    return answer_;
  }
  static bool Expired(const Context& ctx, const Answer& answer) {
    return answer.expires && ctx.clock->Now() >= *answer.expires;
  }

  Result<Answer> Run(const Context& ctx) {
    Program program = plugin_.program;
    bool terminal = isatty(STDIN_FILENO) == 1;
    if (plugin_.interactive == ExecPlugin::Interactive::kAlways && !terminal) {
      return Bad("it needs a terminal (interactiveMode: Always) and there is none");
    }
    program.interactive = terminal && plugin_.interactive != ExecPlugin::Interactive::kNever;
    Json info = {{"apiVersion", plugin_.api_version},
                 {"kind", "ExecCredential"},
                 {"spec", {{"interactive", program.interactive}}}};
    if (!plugin_.cluster.is_null()) info["spec"]["cluster"] = plugin_.cluster;
    program.env.emplace_back("KUBERNETES_EXEC_INFO", ToJsonText(info));

    Result<ProgramOutput> output = RunProgram(ctx, program);
    if (!output.ok() && output.code() == Code::kNotFound) {
      return Bad(plugin_.install_hint.empty() ? "there is no such program"
                                              : "there is no such program; " + plugin_.install_hint);
    }
    if (!output.ok()) return output.error();
    if (output->exit_code != 0) {
      return Bad(fmt::format("exit code {}: {}", output->exit_code, Trim(output->err)));
    }
    return ParseAnswer(plugin_, output->out);
  }

  const ExecPlugin plugin_;
  Mutex running_;  // taken before mu_
  Mutex mu_;
  std::optional<Answer> answer_ CAPI_GUARDED_BY(mu_);
};

}  // namespace

std::shared_ptr<CredentialSource> ExecCredentials(ExecPlugin plugin) {
  return std::make_shared<Exec>(std::move(plugin));
}

}  // namespace capi::kube
