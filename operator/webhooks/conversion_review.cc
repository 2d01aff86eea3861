#include "operator/webhooks/conversion_review.h"

#include <fmt/format.h>

#include "api/conversion/convert.h"

namespace capi::ops {
namespace {

constexpr std::string_view kVersion = "apiextensions.k8s.io/v1";
constexpr std::string_view kKind = "ConversionReview";

Result<Json> ConvertAll(Json objects, const std::string& to) {
  for (size_t i = 0; i < objects.size(); ++i) {
    const Json& object = objects[i];
    std::string ns = GetString(object, {"metadata", "namespace"}), name = GetString(object, {"metadata", "name"});
    std::string where = fmt::format("{} {}/{}", GetString(object, {"kind"}, "object"), ns, name);
    objects[i] = TRY_WITH(api::Convert(std::move(objects[i]), to), where);
  }
  return objects;
}

}  // namespace

Result<Json> ReviewConversion(Json review) {
  Json* objects = Find(review, {"request", "objects"});
  if (GetString(review, {"apiVersion"}) != kVersion || GetString(review, {"kind"}) != kKind || objects == nullptr ||
      !objects->is_array()) {
    return Error{
        Code::kInvalidArgument, fmt::format("the body must be a {} of {} with a request", kKind, kVersion), {}};
  }
  Json response = {{"uid", GetString(review, {"request", "uid"})}};
  auto converted = ConvertAll(std::move(*objects), GetString(review, {"request", "desiredAPIVersion"}));
  if (converted.ok()) {
    response["convertedObjects"] = *std::move(converted);
    response["result"] = {{"status", "Success"}};
  } else {
    response["convertedObjects"] = Json::array();
    response["result"] = {{"status", "Failure"}, {"message", converted.error().message}};
  }
  return Json{{"apiVersion", kVersion}, {"kind", kKind}, {"response", std::move(response)}};
}

}  // namespace capi::ops
