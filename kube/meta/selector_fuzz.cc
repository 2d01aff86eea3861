// Label selectors: what is read is written and read again as the same, and selects the same.
#include "base/fuzz.h"
#include "kube/meta/label_selector.h"

namespace capi::kube {
namespace {

void CheckOne(const LabelSelector& selector) {
  std::string text = selector.ToString();
  auto again = LabelSelector::Parse(text);
  FUZZ_REQUIRE(again.ok() && again->ToString() == text && again->empty() == selector.empty());
  FUZZ_REQUIRE(!selector.empty() || selector.Matches(Json()));
  const Json labels[] = {Json(), Json::object(), {{"a", "b"}}, {{"a", ""}}, {{"a", "c"}, {"d", "e"}}, {{"a", 1}}};
  for (const Json& set : labels) FUZZ_REQUIRE(again->Matches(set) == selector.Matches(set));
}

}  // namespace
}  // namespace capi::kube

CAPI_FUZZ(selector, "kube/meta",
          {"a=b,c in (d,e),!f", "a!=b, a notin (,c) ,x/y==z", "a,", "in in (in)", "a in (b", " a = ",
           "{\"matchLabels\":{\"a\":\"b\"},\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"NotIn\",\"values\":["
           "\"c\",\"c\"]},"
           "{\"key\":\"d\",\"operator\":\"Exists\"},{\"key\":\"e\",\"operator\":\"DoesNotExist\"}]}"}) {
  using namespace capi;
  auto parsed = kube::LabelSelector::Parse(input);
  if (parsed.ok()) kube::CheckOne(*parsed);
  auto json = ParseJson(input);
  auto built = json.ok() ? kube::LabelSelector::FromJson(*json) : Error{Code::kInvalidArgument, "no JSON", {}};
  if (built.ok()) kube::CheckOne(*built);
  for (const auto* made : {&parsed, &built}) {
    FUZZ_REQUIRE(made->ok() || (made->code() == Code::kInvalidArgument && !made->error().message.empty()));
  }
}
