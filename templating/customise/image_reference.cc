#include "templating/customise/image_reference.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/strings.h"

namespace capi::templating {
namespace {

// The grammar of the container distribution project's reference package.
#define REFERENCE_COMPONENT R"([a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)"
#define REFERENCE_LABEL R"((?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))"
#define REFERENCE_HOST REFERENCE_LABEL R"((?:\.)" REFERENCE_LABEL R"()*|\[(?:[a-fA-F0-9:]+)\])"
constexpr std::string_view kReference = "((?:" REFERENCE_HOST R"()(?::[0-9]+)?/)?()" REFERENCE_COMPONENT
                                        "(?:/" REFERENCE_COMPONENT R"()*)(?::([\w][\w.-]{0,127}))?(?:@(.+))?)";
#undef REFERENCE_COMPONENT
#undef REFERENCE_LABEL
#undef REFERENCE_HOST

constexpr size_t kMaxName = 255;
constexpr std::string_view kDefaultHost = "docker.io";

Error Refuse(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }
Error BadFormat() { return Refuse("invalid reference format"); }
Error NotCanonical() { return Refuse("repository name must be canonical"); }

bool IsHex(std::string_view text) { return text.find_first_not_of("0123456789abcdef") == std::string_view::npos; }

bool ValidDigest(std::string_view digest) {
  size_t colon = digest.find(':');
  if (colon == std::string_view::npos) return false;
  std::string_view algorithm = digest.substr(0, colon), hex = digest.substr(colon + 1);
  size_t length = algorithm == "sha256" ? 64 : algorithm == "sha384" ? 96 : algorithm == "sha512" ? 128 : 0;
  return length != 0 && hex.size() == length && IsHex(hex);
}

// Whether the part before the first '/' names a registry.
bool IsHost(std::string_view part) {
  return part.find_first_of(".:") != std::string_view::npos || part == "localhost" || ToLower(part) != part;
}

// The path as a registry sees it: with the default namespace where the registry is the default one.
struct Split {
  std::string host, rest;
};

Split SplitHost(std::string_view text) {
  size_t slash = text.find('/');
  Split out;
  if (slash == std::string_view::npos || !IsHost(text.substr(0, slash))) {
    out = {std::string(kDefaultHost), std::string(text)};
  } else {
    out = {std::string(text.substr(0, slash)), std::string(text.substr(slash + 1))};
  }
  if (out.host == "index.docker.io") out.host = kDefaultHost;
  if (out.host == kDefaultHost && out.rest.find('/') == std::string::npos) out.rest = "library/" + out.rest;
  return out;
}

}  // namespace

Result<ImageReference> ImageReference::Parse(std::string_view text) {
  static const RE2 kPattern(re2::StringPiece(kReference.data(), kReference.size()));
  if (text.size() == 64 && IsHex(text)) {
    return Refuse(fmt::format("invalid repository name ({}), cannot specify 64-byte hexadecimal strings", text));
  }
  Split split = SplitHost(text);
  std::string path = split.rest.substr(0, split.rest.find(':'));
  if (ToLower(path) != path) {
    return Refuse(fmt::format("invalid reference format: repository name ({}) must be lowercase", path));
  }
  std::string full = split.host + "/" + split.rest, host, name, tag, digest;
  if (!RE2::FullMatch(full, kPattern, &host, &name, &tag, &digest)) return BadFormat();
  if (!digest.empty() && !ValidDigest(digest)) return BadFormat();
  if (name.size() > kMaxName) return Refuse("repository name must not be more than 255 characters");
  // What had to be completed wasn't canonical.
  std::string canonical = host + name;
  if (!text.starts_with(canonical)) return NotCanonical();
  size_t slash = canonical.rfind('/');
  return ImageReference{canonical.substr(0, slash), canonical.substr(slash + 1), tag, digest};
}

std::string ImageReference::ToString() const {
  std::string out = repository + "/" + name;
  if (!tag.empty()) out += ":" + tag;
  if (!digest.empty()) out += "@" + digest;
  return out;
}

void ImageReference::Replace(std::string_view new_repository, std::string_view new_name, std::string_view new_tag) {
  if (!new_repository.empty())
    repository = new_repository.substr(0, new_repository.size() - new_repository.ends_with('/'));
  if (!new_name.empty()) name = new_name;
  if (!new_tag.empty()) tag = new_tag;
}

}  // namespace capi::templating
