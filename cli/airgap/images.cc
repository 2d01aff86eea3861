#include "cli/airgap/images.h"

#include <fmt/format.h>

#include "api/validate/oci_reference.h"
#include "cli/airgap/registry.h"
#include "cli/frame/provider_release.h"
#include "fetch/oci/image_name.h"

namespace capi::cli {
namespace {

// Under a prefix, by the last part of its name.
Result<api::OciReference> Under(const std::string& prefix, const std::string& image) {
  const api::OciReference own = TRY(fetch::ParseImageName(image));
  const std::string last = own.repository.substr(own.repository.rfind('/') + 1);
  auto out = TRY(api::ParseOciReference(prefix + (prefix.ends_with('/') ? "" : "/") + last));
  out.tag = own.tag.empty() && own.digest.empty() ? "latest" : own.tag;
  out.digest = own.digest;
  return out;
}

fetch::BlobPiece PiecesOf(const Bundle& bundle, const fetch::ByteSource& archive) {
  return [&bundle, &archive](const std::string& digest, std::uint64_t at, size_t count) {
    return archive.read(bundle.blobs.at(digest).at + at, count);
  };
}

}  // namespace

Status CheckSources(const ImageSources& sources) {
  for (const std::string& one : sources.platforms) TRY_WITH(fetch::ParsePlatform(one), "--platform");
  if (!sources.from.empty()) TRY_WITH(Under(sources.from, "any"), "--images-from");
  return Ok();
}

Status CheckTarget(const std::string& to) {
  TRY_WITH(Under(to, "any"), "--images-to");
  return Ok();
}

Result<FoundImages> FoundImages::Find(const Context& ctx, const Config& config, const std::vector<std::string>& images,
                                      const ImageSources& sources, Notes& notes) {
  std::vector<fetch::Platform> platforms;
  for (const std::string& one : sources.platforms) platforms.push_back(TRY(fetch::ParsePlatform(one)));
  FoundImages out;
  for (const std::string& image : images) {
    const bool own = sources.from.empty();
    auto reference = TRY_WITH(own ? fetch::ParseImageName(image) : Under(sources.from, image), image);
    const fetch::OciOptions registry = own ? OciOptionsOf(config) : RegistryOptionsOf(config);
    auto pull = std::make_unique<fetch::OciPull>(reference, registry, SayWaits(notes));
    auto found = pull->Image(ctx, platforms);
    if (!found.ok()) return found.error().With(fmt::format("image {}: {}", image, reference.ToString()));
    for (const auto& [digest, size] : found->blobs) out.image_of_.emplace(digest, image);
    out.images_.emplace(image, *std::move(found));
    out.pulls_.emplace(image, std::move(pull));
  }
  TRY(PlanImages(out.images_, "any.example/any"));
  return out;
}

Status FoundImages::Blob(const Context& ctx, const std::string& digest, std::uint64_t size,
                         const std::function<Status(std::string_view piece)>& take) const {
  const std::string& image = ImageOf(digest);
  TRY_WITH(pulls_.at(image)->Blob(ctx, digest, size, take), "image " + image);
  return Ok();
}

std::string ImagePublication::Named(const Bundle& bundle) const {
  api::OciReference named = reference;
  named.digest = bundle.carried.at(image).digest();
  return named.ToString();
}

Result<std::vector<ImagePublication>> PlanImages(const std::map<std::string, fetch::OciImage>& images,
                                                 const std::string& to) {
  std::map<std::string, std::string> by_place;
  std::vector<ImagePublication> out;
  for (const auto& [name, image] : images) {
    auto reference = TRY_WITH(Under(to, name), name);
    ImagePublication one{.image = name, .reference = std::move(reference), .there = false, .before = ""};
    if (!one.reference.tag.empty()) one.reference.digest.clear();
    const auto [before, is_new] = by_place.emplace(one.reference.ToString(), name);
    if (is_new) {
      out.push_back(std::move(one));
    } else if (images.at(before->second).digest() != image.digest()) {
      return Error{Code::kFailedPrecondition,
                   fmt::format("{} and {} are two images, and by the last parts of their names they would be one in a "
                               "registry: give one another name or tag there, with `images` of the configuration file",
                               before->second, name),
                   {}};
    }
  }
  return out;
}

Status LookAtImages(const Context& ctx, const fetch::OciOptions& options, bool force, const Bundle& bundle,
                    std::vector<ImagePublication>& publications, Notes& notes) {
  for (ImagePublication& one : publications) {
    one.before = TRY(fetch::OciPush(one.reference, options, SayWaits(notes)).Tagged(ctx));
    one.there = one.before == bundle.carried.at(one.image).digest();
    if (one.there || one.before.empty() || force) continue;
    return Error{
        Code::kFailedPrecondition,
        fmt::format("{} is there with another content ({}): take another prefix, or --force, which has the tag "
                    "name this one",
                    one.reference.ToString(), one.before),
        {}};
  }
  return Ok();
}

Status WriteImages(const Context& ctx, const fetch::OciOptions& options, bool force, const Bundle& bundle,
                   const fetch::ByteSource& archive, const std::vector<ImagePublication>& publications, Notes& notes) {
  const fetch::BlobPiece piece_of = PiecesOf(bundle, archive);
  std::map<std::string, std::string> elsewhere;  // which repository of the registry has a blob
  for (const ImagePublication& one : publications) {
    const fetch::OciImage& image = bundle.carried.at(one.image);
    const auto before = force ? std::nullopt : std::optional(one.before);
    notes.Say(0, one.there ? "The image is there already" : "Writing an image", {{"image", one.Named(bundle)}});
    if (!one.there) {
      fetch::OciPush push(one.reference, options, SayWaits(notes));
      TRY(push.WriteImage(ctx, image, piece_of, elsewhere, before));
    }
    for (const auto& [digest, size] : image.blobs) elsewhere.emplace(digest, one.reference.repository);
  }
  return Ok();
}

std::string RepositoryOf(const std::string& to) {
  std::string out = to.substr(to.find("://") == to.npos ? 0 : to.find("://") + 3);
  while (out.ends_with('/')) out.pop_back();
  return out;
}

}  // namespace capi::cli
