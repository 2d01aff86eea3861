#include "cli/declare/lint.h"

#include <fmt/format.h>

#include <sstream>

#include "api/moves/wanted_contracts.h"
#include "api/text.h"
#include "base/strings.h"
#include "cli/declare/find_release.h"
#include "cli/declare/lint_release.h"
#include "cli/declare/manifest_files.h"
#include "cli/frame/source_secret.h"
#include "cli/frame/structured.h"

namespace capi::cli {
namespace {

std::string Counted(size_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

constexpr char kSarif[] = "sarif";

// nullopt for SARIF.
Result<std::optional<OutputFormat>> ReadOptions(const LintOptions& options) {
  if (options.files.empty())
    return Error{Code::kInvalidArgument, "name files or folders with Provider objects, or - for standard input", {}};
  if (options.output == kSarif) return std::optional<OutputFormat>();
  return std::optional(TRY(ParseOutputFormat(options.output, kSarif)));
}

// Values of Secrets are none of a check's business: that a private repository can't be asked isn't the file's mistake.
std::string UnreadOf(const api::Provider& provider) {
  const auto& fetch = provider.spec.fetch_config;
  if (!fetch || !fetch->git || !fetch->git->secret_ref) return "";
  return fmt::format("Secret {}/{} isn't read here", fetch->git->secret_ref->ns, fetch->git->secret_ref->name);
}

class Linting {
 public:
  Linting(const Context& ctx, const Config& config, const LintOptions& options)
      : ctx_(ctx), config_(config), options_(options) {}

  Result<std::vector<Finding>> Run(const ManifestFiles& files) {
    findings_ = files.findings;
    const DeclaredObjects objects(files.documents);
    std::vector<ReleasedProvider> providers;
    for (const Document& document : files.documents) {
      if (!IsProvider(document.object())) {
        LintKind(document);
        continue;
      }
      ++seen_;
      auto declared = LintObject(document, IsKnownTo(config_), findings_);
      if (declared) providers.push_back({std::move(*declared), std::nullopt, ""});
    }
    LintDuplicates(providers, findings_);
    // The core's contract says which versions of the others fit.
    for (const bool core : {true, false}) {
      for (ReleasedProvider& provider : providers) {
        if ((provider.declared.provider.id.type == api::ProviderType::kCore) != core) continue;
        TRY(ctx_.Check());
        Fetch(objects, provider);
        LintRelease(provider, objects, findings_);
        if (core && !core_contract_ && !provider.contract.empty()) core_contract_ = provider.contract;
      }
    }
    LintContracts(providers, findings_);
    if (options_.strict) {
      for (Finding& finding : findings_) {
        if (finding.level == Level::kWarning) finding.level = Level::kError;
      }
    }
    SortFindings(findings_);
    return std::move(findings_);
  }

  size_t seen() const { return seen_; }

 private:
  static IsKnown IsKnownTo(const Config& config) {
    return [&config](const api::ProviderId& id) { return config.FindProvider(id.type, id.name).ok(); };
  }

  void LintKind(const Document& document) {
    std::string mistake = MistakenKind(document.object());
    if (mistake.empty()) return;
    const kube::Object& object = document.object();
    const char* wrong = object.group_version().group == api::kGroup ? "kind" : "apiVersion";
    findings_.push_back({.rule = "unknown-kind",
                         .level = FindLintRule("unknown-kind").level,
                         .file = document.file(),
                         .place = document.PlaceOf({wrong}),
                         .object = NameOf(object),
                         .message = std::move(mistake)});
  }

  void Fetch(const DeclaredObjects& objects, ReleasedProvider& provider) {
    const DeclaredProvider& declared = provider.declared;
    // A source or version that is refused has been told of.
    if (!declared.provider.spec.version.empty() && !api::Version::Parse(declared.provider.spec.version).ok()) return;
    if (RefusedSource(declared.provider)) return;
    std::ostringstream unheard;
    Notes notes(unheard);
    ReleaseSources sources{config_, options_.offline};
    sources.unread = UnreadOf(declared.provider);
    sources.maps = objects.ConfigMaps(declared.provider.id.ns);
    sources.contracts = api::ContractsFor(declared.provider.id.type, core_contract_);
    auto release = FindRelease(ctx_, sources, declared.provider, notes);
    if (!release.ok()) return NotFetched(declared, release.error());
    provider.release = *std::move(release);
    auto contract = ContractOf(*provider.release, declared.provider.id);
    if (contract.ok()) {
      provider.contract = *contract;
    } else {
      findings_.push_back(declared.At("spec.version", "release", contract.error().message));
    }
  }

  // A version that isn't there is the files' mistake; a source that can't be asked isn't.
  void NotFetched(const DeclaredProvider& declared, const Error& error) {
    const auto& fetch = declared.provider.spec.fetch_config;
    const bool selected = fetch && fetch->selector,
               by_itself = !FieldOfOwnSource(declared.provider).empty() || (fetch && !fetch->url.empty());
    const bool known = selected || by_itself || IsKnownTo(config_)(declared.provider.id);
    if (!known) return;  // that nobody knows its source is told already
    if (error.code == Code::kNotFound && !selected) {
      findings_.push_back(declared.At("spec.version", "version-not-found", error.message));
      return;
    }
    if (error.code == Code::kInvalidArgument) {
      const bool of_digest = error.message.starts_with("spec.fetchConfig.digest: ");
      findings_.push_back(
          declared.At(of_digest ? "spec.fetchConfig.digest" : "spec.version", "release", error.message));
      return;
    }
    Finding finding = declared.At("spec.version", "not-checked", "the release can't be looked at: " + error.message);
    // It was asked for, is in the cluster, or is told to those alone who have what isn't read here.
    const bool unread = error.code == Code::kUnauthenticated && !UnreadOf(declared.provider).empty();
    if (options_.offline || selected || unread) finding.level = Level::kNote;
    findings_.push_back(std::move(finding));
  }

  const Context& ctx_;
  const Config& config_;
  const LintOptions& options_;
  std::vector<Finding> findings_;
  size_t seen_ = 0;
  std::optional<std::string> core_contract_;  // of these files' core, where that is known
};

std::string Print(const std::optional<OutputFormat>& format, const std::vector<Finding>& findings) {
  if (!format) return ToPrettyJson(FindingsAsSarif(findings));
  Answer answer{.table = FindingsAsText(findings), .facts = FindingsAsJson(findings)};
  for (const Finding& one : findings) answer.names.push_back(one.object.empty() ? one.file : one.object);
  return Format(*format, answer);
}

}  // namespace

Status Lint(const Context& ctx, const GlobalOptions& global, const LintOptions& options, World& world) {
  const std::optional<OutputFormat> format = TRY(ReadOptions(options));
  Notes notes(world.err);
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  ManifestFiles files = TRY(ReadManifests(options.files, world.in));
  Linting linting(ctx, config, options);
  std::vector<Finding> findings = TRY(linting.Run(files));
  if (linting.seen() == 0 && findings.empty()) {
    return Error{Code::kInvalidArgument,
                 fmt::format("there is no Provider object of {} in {}", api::kGroup, Join(options.files, ", ")),
                 {}};
  }
  world.out << Print(format, findings);
  const size_t errors = Count(findings, Level::kError);
  const std::string summary =
      fmt::format("{} and {} in {}", Counted(errors, "error"), Counted(Count(findings, Level::kWarning), "warning"),
                  Counted(linting.seen(), "Provider object"));
  if (errors > 0) return Error{Code::kInvalidArgument, summary, {}};
  notes.Say(1, summary);
  return Ok();
}

}  // namespace capi::cli
