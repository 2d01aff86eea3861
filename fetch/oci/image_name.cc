#include "fetch/oci/image_name.h"

#include <fmt/format.h>

#include <algorithm>

namespace capi::fetch {
namespace {

constexpr std::string_view kHub = "docker.io", kOfficial = "library/";

}  // namespace

Result<api::OciReference> ParseImageName(const std::string& image) {
  if (image.find("://") != image.npos) return Error{Code::kInvalidArgument, "it is no name of an image", {}};
  const size_t slash = image.find('/');
  const std::string first = image.substr(0, std::min(slash, image.size()));
  const bool is_host = slash != image.npos && (first == "localhost" || first.find_first_of(".:") != first.npos);
  auto reference = TRY(api::ParseOciReference(is_host ? image : fmt::format("{}/{}", kHub, image)));
  if (reference.host == kHub && reference.repository.find('/') == std::string::npos)
    reference.repository.insert(0, kOfficial);
  return reference;
}

}  // namespace capi::fetch
