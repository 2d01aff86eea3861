#include "cli/install/list_images.h"

#include "cli/cert_manager/release.h"
#include "cli/frame/structured.h"
#include "cli/install/candidate.h"
#include "cli/install/operator_step.h"
#include "cli/operator_manifests/manifests.h"

namespace capi::cli {

Result<std::set<std::string>> ImagesBesideProviders(const Context& ctx, const Config& config,
                                                    const InitOptions& options, Notes& notes) {
  std::set<std::string> images;
  std::string own = TRY(ConfiguredOperatorImage(config, options.operator_image));
  if (options.with_operator && NamesRegistry(own)) images.insert(own);
  if (!options.cert_manager) return images;
  CertManagerSettings settings = TRY(ReadCertManagerSettings(config, notes));
  if (settings.external) return images;
  auto objects = TRY(FetchCertManager(ctx, config, settings, notes));
  for (const std::string& image : templating::ListImages(objects)) images.insert(image);
  return images;
}

Status ListInitImages(const Context& ctx, const GlobalOptions& global, const InitOptions& options, World& world) {
  TRY(CheckOptions(options));
  Notes notes(world.err);
  const OutputFormat format = TRY(ParseOutputFormat(options.output));
  Config config = TRY(LoadConfig(ctx, global, world.getenv, notes));
  std::set<std::string> images = TRY(ImagesBesideProviders(ctx, config, options, notes));
  for (const ProviderChoice& choice : TRY(ChooseProviders(options.providers, true))) {
    Candidate candidate = TRY(FetchCandidate(ctx, config, choice, "", notes));
    images.insert(candidate.images.begin(), candidate.images.end());
  }
  Answer answer{.table = "", .names = {images.begin(), images.end()}, .facts = Json(images)};
  for (const std::string& image : images) answer.table += image + "\n";
  world.out << Format(format, answer);
  return Ok();
}

}  // namespace capi::cli
