#include "local/programs/named.h"

#include <fmt/format.h>

#include <set>

#include "api/text.h"
#include "fetch/oci/image_name.h"

namespace capi::local {
namespace {

// How exactly an entry names an image; -1 where it names another one.
int Exactness(const api::OciReference& entry, const api::OciReference& image) {
  if (entry.host != image.host || entry.repository != image.repository) return -1;
  if (!entry.digest.empty() && entry.digest != image.digest) return -1;
  const bool untagged = image.tag.empty() && image.digest.empty();
  if (!entry.tag.empty() && entry.tag != (untagged ? "latest" : image.tag)) return -1;
  return (entry.digest.empty() ? 0 : 2) + (entry.tag.empty() ? 0 : 1);
}

}  // namespace

Result<std::vector<Named>> ReadNamed(const std::vector<std::string>& entries, const std::string& flag) {
  std::vector<Named> out;
  std::set<std::string> seen;
  for (const std::string& entry : entries) {
    const size_t equals = entry.find('=');
    const std::string shown = flag + " " + api::GoQuote(entry);
    if (equals == entry.npos || equals == 0 || equals + 1 == entry.size())
      return Error{Code::kInvalidArgument, fmt::format("{}: write {} IMAGE=VALUE", shown, flag), {}};
    auto image = TRY_WITH(fetch::ParseImageName(entry.substr(0, equals)), shown);
    if (!seen.insert(image.ToString()).second)
      return Error{Code::kInvalidArgument, shown + ": this image is named twice", {}};
    out.push_back({std::move(image), entry.substr(equals + 1)});
  }
  return out;
}

std::string ImageOf(const std::string& entry) {
  const std::string text = entry.substr(0, entry.find('='));
  const auto image = fetch::ParseImageName(text);
  return image.ok() ? image->ToString() : text;
}

const Named* FindNamed(const std::vector<Named>& all, const api::OciReference& image) {
  const Named* best = nullptr;
  int exactness = -1;
  for (const Named& one : all) {
    const int is = Exactness(one.image, image);
    if (is > exactness) best = &one, exactness = is;
  }
  return best;
}

}  // namespace capi::local
