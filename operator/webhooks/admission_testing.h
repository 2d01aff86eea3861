// For tests: reviews as the API server sends them, and what is said in the answers.
#pragma once

#include <string>

#include "base/encoding.h"
#include "base/yaml/yaml.h"
#include "operator/webhooks/admission_request.h"

namespace capi::ops::testing {

inline Json Review(std::string_view object, std::string_view old = "",
                   std::string_view kind = "InfrastructureProvider") {
  auto parse = [&](std::string_view yaml) {
    Json out = ParseYaml(yaml).value();
    out["apiVersion"] = "operator.cluster.x-k8s.io/v1alpha2";
    out["kind"] = kind;
    if (!out.contains("metadata")) out["metadata"] = Json::object();
    if (!out["metadata"].contains("name")) out["metadata"]["name"] = "aws";
    out["metadata"]["namespace"] = "ns";
    return out;
  };
  Json request = {
      {"uid", "u-1"},
      {"kind", {{"group", "operator.cluster.x-k8s.io"}, {"version", "v1alpha2"}, {"kind", kind}}},
      {"operation", old.empty() ? "CREATE" : "UPDATE"},
      {"namespace", "ns"},
      {"userInfo", {{"username", "alice"}, {"uid", "7"}, {"groups", {"people"}}, {"extra", {{"scope", {"x"}}}}}},
      {"object", parse(object)},
      {"oldObject", old.empty() ? Json() : parse(old)},
      {"options", {{"fieldManager", "kubectl"}}}};
  return {{"apiVersion", "admission.k8s.io/v1"}, {"kind", "AdmissionReview"}, {"request", std::move(request)}};
}

inline Json PatchIn(const Json& answer) {
  std::string text = GetString(answer, {"response", "patch"});
  return text.empty() ? Json::array() : ParseJson(Base64Decode(text).value()).value();
}

inline std::string MessageIn(const Json& answer) { return GetString(answer, {"response", "status", "message"}); }

}  // namespace capi::ops::testing
