#include "local/programs/image_config.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/strings.h"
#include "fetch/oci/artifact.h"

namespace capi::local {
namespace {

constexpr size_t kMostWords = 1000;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool IsText(std::string_view text) { return text.find('\0') == text.npos; }

Result<std::vector<std::string>> WordsAt(const Json& config, std::string_view name) {
  std::vector<std::string> out;
  const Json* words = Find(config, {"config", name});
  if (words == nullptr || words->is_null()) return out;
  if (!words->is_array() || words->size() > kMostWords) return Invalid(fmt::format("its {} can't be read", name));
  for (const Json& word : *words) {
    if (!word.is_string() || !IsText(word.get_ref<const std::string&>()))
      return Invalid(fmt::format("its {} can't be read", name));
    out.push_back(word.get<std::string>());
  }
  return out;
}

// Of the manifests of an image the one with this digest.
Result<std::string> TextOf(const fetch::OciImage& image, const std::string& digest) {
  for (const fetch::OciManifest& one : image.manifests) {
    if (fetch::OciDigest(one.text) == digest) return one.text;
  }
  return Invalid("its index names a manifest that isn't there");
}

Result<std::string> ManifestFor(const fetch::OciImage& image, const fetch::Platform& platform) {
  const Json root = TRY(ParseJson(image.root().text));
  const Json* entries = Find(root, {"manifests"});
  if (entries == nullptr) return image.root().text;
  std::vector<std::string> there;
  const Json* special = nullptr;  // for a newer kind of processor, which this one needn't be
  for (const Json& entry : *entries) {
    const std::string os = GetString(entry, {"platform", "os"}), of = GetString(entry, {"platform", "architecture"});
    const std::string variant = GetString(entry, {"platform", "variant"});
    const bool is_for = os == platform.os && of == platform.architecture;
    if (is_for && (variant.empty() || variant == "v1" || (of == "arm64" && variant == "v8")))
      return TextOf(image, GetString(entry, {"digest"}));
    if (is_for && special == nullptr) special = &entry;
    if (os != "unknown" && !os.empty()) there.push_back(os + "/" + of);
  }
  if (special != nullptr) return TextOf(image, GetString(*special, {"digest"}));
  return Error{Code::kNotFound,
               fmt::format("it is not for {}/{}; there is {}", platform.os, platform.architecture,
                           there.empty() ? "nothing that says for which it is" : JoinNames(there, 10)),
               {}};
}

Result<ImageLayer> LayerOf(const Json& descriptor, const fetch::OciImage& image) {
  const std::string type = GetString(descriptor, {"mediaType"});
  if (type.ends_with("zstd"))
    return Error{Code::kUnsupported, "its layers are packed with zstd, which isn't unpacked here: gzip is", {}};
  const std::string digest = GetString(descriptor, {"digest"});
  auto blob = image.blobs.find(digest);
  if (blob == image.blobs.end())
    return Error{Code::kUnsupported, "it has a layer that its registry doesn't hand on", {}};
  return ImageLayer{digest, blob->second};
}

}  // namespace

std::string ImageConfig::Variable(std::string_view name) const {
  std::string out;
  for (const auto& [key, value] : environment) {
    if (key == name) out = value;
  }
  return out;
}

Result<ImageConfig> ReadImageConfig(std::string_view text) {
  const Json root = TRY(ParseJson(text));
  if (!root.is_object()) return Invalid("its configuration can't be read");
  ImageConfig out;
  out.entrypoint = TRY(WordsAt(root, "Entrypoint"));
  out.cmd = TRY(WordsAt(root, "Cmd"));
  for (const std::string& entry : TRY(WordsAt(root, "Env"))) {
    const size_t equals = entry.find('=');
    if (equals == entry.npos || equals == 0) return Invalid("its Env can't be read");
    out.environment.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  out.working_folder = GetString(root, {"config", "WorkingDir"});
  if (!IsText(out.working_folder)) return Invalid("its configuration can't be read");
  if (!out.working_folder.starts_with('/')) out.working_folder = fmt::format("/{}", out.working_folder);
  return out;
}

Result<ChosenManifest> ChooseManifest(const fetch::OciImage& image, const fetch::Platform& platform) {
  const std::string text = TRY(ManifestFor(image, platform));
  const Json root = TRY(ParseJson(text));
  ChosenManifest out;
  out.digest = fetch::OciDigest(text);
  out.configuration = GetString(root, {"config", "digest"});
  auto configuration = image.blobs.find(out.configuration);
  const Json* layers = Find(root, {"layers"});
  if (configuration == image.blobs.end() || layers == nullptr || !layers->is_array())
    return Invalid("its manifest has no configuration, or no layers");
  out.configuration_size = configuration->second;
  for (const Json& layer : *layers) out.layers.push_back(TRY(LayerOf(layer, image)));
  return out;
}

}  // namespace capi::local
