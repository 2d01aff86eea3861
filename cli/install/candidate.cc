#include "cli/install/candidate.h"

#include <fmt/format.h>

#include "api/plural.h"
#include "base/strings.h"
#include "cli/frame/lookup.h"
#include "kube/meta/kind.h"
#include "templating/render.h"

namespace capi::cli {
namespace {

// What an error is about, in clusterctl's words.
Error OfProvider(const Error& error, const std::string& name) {
  return error.With(fmt::format("failed to get provider components for the \"{}\" provider", name));
}

templating::RenderInput InputOf(const Candidate& candidate, const templating::ImageOverrides& images) {
  templating::RenderInput input;
  input.type = candidate.id.type;
  input.name = candidate.id.name;
  input.release = &candidate.found.release;
  input.target_namespace = candidate.id.ns;
  input.images = images;
  return input;
}

Error Explain(const templating::RenderError& error, const Candidate& candidate) {
  return error.error.With(fmt::format("{} of {}", candidate.found.file, candidate.found.release.source));
}

// With the variables left in; where that is no valid text (an image that is a variable), with their values.
Result<templating::RenderOutput> Look(const Config& config, const Candidate& candidate) {
  templating::RenderInput input = InputOf(candidate, TRY(config.Images()));
  Lookup lookup(config);
  input.variables = lookup.function();
  input.skip_substitution = true;
  auto raw = templating::Render(input);
  if (raw.output) return *std::move(raw.output);
  input.skip_substitution = false;
  auto filled = templating::Render(input);
  if (lookup.error()) return *lookup.error();
  if (filled.output) return *std::move(filled.output);
  return filled.error->missing.empty() ? Explain(*filled.error, candidate) : filled.error->error;
}

Status ReadValues(const Config& config, Candidate& candidate) {
  for (const std::string& name : candidate.variables) {
    if (auto value = TRY(config.Get(name))) candidate.values[name] = *value;
  }
  return Ok();
}

Status CheckKinds(const templating::RenderOutput& rendered) {
  for (const kube::Object& object : rendered.objects) {
    if (kube::IsCrd(object)) TRY(api::CheckCrdName(object.json()));
  }
  return Ok();
}

// Which variables are missing; an error for anything else that is wrong.
Result<std::vector<std::string>> Check(const Config& config, const StoredValues& stored, bool check_kinds,
                                       const Candidate& candidate) {
  auto in_cluster = TRY(stored(candidate));
  templating::RenderInput input = InputOf(candidate, TRY(config.Images()));
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    if (auto value = candidate.values.find(name); value != candidate.values.end()) return value->second;
    auto kept = in_cluster.find(name);
    return kept == in_cluster.end() ? std::nullopt : std::optional(kept->second);
  };
  auto result = templating::Render(input);
  if (result.error && !result.error->missing.empty()) return result.error->missing;
  if (result.error) return OfProvider(Explain(*result.error, candidate), candidate.id.name);
  if (check_kinds) TRY_WITH(CheckKinds(*result.output), candidate.label());
  return std::vector<std::string>();
}

}  // namespace

Result<Candidate> FetchCandidate(const Context& ctx, const Config& config, const ProviderChoice& choice,
                                 const std::string& target_namespace, Notes& notes) {
  auto found = FetchRelease(ctx, config, choice.type, choice.name, notes);
  if (!found.ok()) return OfProvider(found.error(), choice.name.name);
  return CandidateOf(config, *std::move(found), target_namespace);
}

Result<Candidate> CandidateOf(const Config& config, ProviderRelease found, const std::string& target_namespace) {
  Candidate out;
  out.found = std::move(found);
  out.id = {out.found.source.type, target_namespace, out.found.source.name};
  auto looked = Look(config, out);
  if (!looked.ok()) return OfProvider(looked.error(), out.id.name);
  out.id.ns = looked->target_namespace;
  out.variables = std::move(looked->variables);
  out.images = std::move(looked->images);
  out.namespace_labels = std::move(looked->namespace_labels);
  return out;
}

Status FillIn(const Config& config, const StoredValues& stored, bool check_kinds, std::vector<Candidate>& candidates) {
  std::vector<std::string> problems;
  for (Candidate& candidate : candidates) {
    TRY(ReadValues(config, candidate));
    auto missing = TRY(Check(config, stored, check_kinds, candidate));
    if (missing.empty()) continue;
    problems.push_back(
        fmt::format("failed to get provider components for the \"{}\" provider: value for variables [{}] is "
                    "not set",
                    candidate.id.name, Join(missing, ", ")));
  }
  if (problems.empty()) return Ok();
  return Error{Code::kInvalidArgument,
               fmt::format("{}. Please set the value using os environment variables or the clusterctl config file",
                           Join(problems, "; ")),
               {}};
}

}  // namespace capi::cli
