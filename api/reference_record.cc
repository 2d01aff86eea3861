#include "api/reference_record.h"

#include <algorithm>

#include "base/encoding.h"

namespace capi::api {
namespace {

Json ToJson(const std::vector<ForeignReference>& references) {
  Json out = Json::array();
  for (const ForeignReference& r : references) {
    out.push_back({{"path", r.path}, {"kind", r.kind}, {"namespace", r.ns}, {"name", r.name}});
  }
  std::sort(out.begin(), out.end());
  return out;
}

// The key has other uses: what is hashed with it elsewhere is an object's JSON, which never begins like this.
std::string DigestOf(std::string_view key, const ProviderId& provider, const Json& references, const Json& user) {
  const Json what = {KindOf(provider.type).kind, provider.ns, provider.name, references, user};
  return HmacSha256Hex(key, std::string(kAnnotationAllowedReferences) + "\n" + ToJsonText(what));
}

}  // namespace

std::string MakeReferenceRecord(std::string_view key, const ProviderId& provider,
                                const std::vector<ForeignReference>& references, std::string_view user) {
  const Json list = ToJson(references);
  return ToJsonText({{"user", user}, {"references", list}, {"digest", DigestOf(key, provider, list, user)}});
}

bool RecordCovers(std::string_view record, std::string_view key, const ProviderId& provider,
                  const std::vector<ForeignReference>& references) {
  auto read = ParseJson(record);
  if (!read.ok() || !read->is_object() || !read->contains("user") || !(*read)["user"].is_string()) return false;
  return GetString(*read, {"digest"}) == DigestOf(key, provider, ToJson(references), (*read)["user"]);
}

}  // namespace capi::api
