#include "kube/client/config/exec_credential.h"

#include <fmt/core.h>
#include <unistd.h>

#include <condition_variable>
#include <optional>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/caught.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace capi::kube {
namespace {

using Credential = CredentialSource::Credential;

constexpr std::chrono::minutes kLongestRun(10);  // a person may log in meanwhile

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

Result<Answer> Run(const ExecPlugin& plugin, const Context& ctx) {
  Program program = plugin.program;
  bool terminal = isatty(STDIN_FILENO) == 1;
  if (plugin.interactive == ExecPlugin::Interactive::kAlways && !terminal) {
    return Bad("it needs a terminal (interactiveMode: Always) and there is none");
  }
  program.interactive = terminal && plugin.interactive != ExecPlugin::Interactive::kNever;
  Json info = {
      {"apiVersion", plugin.api_version}, {"kind", "ExecCredential"}, {"spec", {{"interactive", program.interactive}}}};
  if (!plugin.cluster.is_null()) info["spec"]["cluster"] = plugin.cluster;
  program.env.emplace_back("KUBERNETES_EXEC_INFO", ToJsonText(info));

  Result<ProgramOutput> output = RunProgram(ctx, program);
  if (!output.ok() && output.code() == Code::kNotFound) {
    return Bad(plugin.install_hint.empty() ? "there is no such program"
                                           : "there is no such program; " + plugin.install_hint);
  }
  if (!output.ok() && output.code() == Code::kDeadlineExceeded) {
    return Bad(fmt::format("it was still running after {} minutes", kLongestRun.count()));
  }
  if (!output.ok()) return output.error();
  if (output->exit_code != 0) {
    return Bad(fmt::format("exit code {}: {}", output->exit_code, Trim(output->err)));
  }
  return ParseAnswer(plugin, output->out);
}

// One run of the plugin and the calls that wait for it. Its members belong to the mutex of Exec.
struct PluginRun {
  std::stop_source stop;
  int waiting = 0;
  std::optional<Result<Answer>> answer;
};

class Exec : public CredentialSource {
 public:
  explicit Exec(ExecPlugin plugin) : plugin_(std::move(plugin)) {}
  ~Exec() override {
    std::vector<std::jthread> threads;
    {
      MutexLock lock(mu_);
      if (run_) run_->stop.request_stop();
      threads.swap(threads_);
    }
  }

  Result<Credential> Get(const Context& ctx, const Credential* refused) override {
    std::vector<std::jthread> ended;  // joined without the lock
    MutexLock lock(mu_);
    if (answer_ && !Expired(ctx, *answer_) && !IsLast(refused)) return answer_->credential;
    if (!run_) {
      ended.swap(threads_);
      TRY(Start(*ctx.clock));
    }
    const std::shared_ptr<PluginRun> mine = run_;
    ++mine->waiting;
    ctx.clock->WaitUntil(changed_, mu_, ctx.stop, ctx.deadline.value_or(MonoTime::max()),
                         [&] { return mine->answer.has_value(); });
    --mine->waiting;
    if (!mine->answer && ctx.stop.stop_requested() && mine->waiting == 0) {
      mine->stop.request_stop();
      if (run_ == mine) run_.reset();  // who comes now begins anew
      SystemClock().WaitUntil(changed_, mu_, {}, MonoTime::max(), [&] { return mine->answer.has_value(); });
    }
    if (!mine->answer) TRY_WITH(ctx.Check(), "waiting for credential plugin " + plugin_.program.command);
    if (!mine->answer) return Error{Code::kDeadlineExceeded, "waiting for a credential plugin", {}};
    if (mine->answer->ok()) return mine->answer->value().credential;
    return mine->answer->error().With("credential plugin " + plugin_.program.command);
  }

 private:
  static bool Expired(const Context& ctx, const Answer& answer) {
    return answer.expires && ctx.clock->Now() >= *answer.expires;
  }

  // A call that went out with an older one, and comes back late, is answered with what there is.
  bool IsLast(const Credential* refused) const CAPI_REQUIRES(mu_) {
    return refused != nullptr && refused->generation == answer_->credential.generation;
  }

  Status Start(Clock& clock) CAPI_REQUIRES(mu_) {
    auto run = std::make_shared<PluginRun>();
    try {
      threads_.emplace_back([this, run, &clock] { Finish(run, RunGuarded(clock, *run)); });
    } catch (const std::system_error&) {
      return Error{Code::kUnavailable, "there is no thread to run credential plugin " + plugin_.program.command, {}};
    }
    run_ = std::move(run);
    return Ok();
  }

  // What it throws is its answer: in a thread of its own nobody else would catch it.
  Result<Answer> RunGuarded(Clock& clock, const PluginRun& run) const {
    Result<Answer> answer = Answer{};
    auto thrown = Caught([&] {
      Context ctx;
      ctx.clock = &clock;
      answer = Run(plugin_, ctx.WithStop(run.stop.get_token()).WithTimeout(kLongestRun));
    });
    if (thrown) return Error{Code::kInternal, *std::move(thrown), {}};
    return answer;
  }

  void Finish(const std::shared_ptr<PluginRun>& run, Result<Answer> answer) {
    MutexLock lock(mu_);
    if (answer.ok()) {
      answer->credential.generation = ++generation_;
      answer_ = *answer;
    }
    run->answer = std::move(answer);
    if (run_ == run) run_.reset();
    changed_.notify_all();
  }

  const ExecPlugin plugin_;
  Mutex mu_;
  std::condition_variable_any changed_;
  std::optional<Answer> answer_ CAPI_GUARDED_BY(mu_);
  std::uint64_t generation_ CAPI_GUARDED_BY(mu_) = 0;       // of the last answer
  std::shared_ptr<PluginRun> run_ CAPI_GUARDED_BY(mu_);     // null while none is going on
  std::vector<std::jthread> threads_ CAPI_GUARDED_BY(mu_);  // of the last run
};

}  // namespace

std::shared_ptr<CredentialSource> ExecCredentials(ExecPlugin plugin) {
  return std::make_shared<Exec>(std::move(plugin));
}

}  // namespace capi::kube
