// Pages of lists, read item by item: the same as one that is read whole.
#include "base/fuzz.h"
#include "kube/client/list_page.h"

CAPI_FUZZ(list, "kube/client",
          {"{\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"5\",\"continue\":\"x\"},\"items\":[{\"metadata\":"
           "{\"name\":\"a\",\"managedFields\":[{\"manager\":\"m\",\"fieldsV1\":{\"f:a\":{}}}],\"uid\":\"u\"},\"spec\":"
           "{\"managedFields\":[1]}},{}]}",
           "{\"items\":[{\"a\":1,\"a\":{\"b\":[[{}]]}}],\"metadata\":{}}", "{\"items\":null}",
           "{\"items\":[1,{\"a\":2}]}", "{\"items\":[{}],\"items\":[{}]}", "{\"items\":{\"a\":{}}}",
           "{\"\\u0069tems\":[{\"a\":\"]}\\\"\"} ,\n{}]}", "{\"a\":tru\"items\":[{}]}", "{\"items\":[{},]}",
           "{\"items\":[{}]null}", "{\"items\":[{]}", "{\"a\":\"\\",
           "{\"items\":[{}],\"metadata\":[{\"continue\":\"x\"}]}"}) {
  using namespace capi;
  for (bool managed_fields : {true, false}) {
    Json items = Json::array();
    auto end = kube::ReadPage(input, managed_fields, [&](Json item) -> Result<bool> {
      FUZZ_REQUIRE(item.is_object());
      items.push_back(std::move(item));
      return true;
    });
    auto whole = ParseJson(input);
    if (!end.ok()) {
      FUZZ_REQUIRE(end.code() != Code::kInvalidArgument || !whole.ok());
      continue;
    }
    // An item may be as deep by itself as all may be.
    if (!whole.ok()) FUZZ_REQUIRE(whole.error().message.starts_with("nested deeper"));
    if (!whole.ok()) continue;
    Json want = *Find(*whole, {"items"});
    if (want.is_null()) want = Json::array();
    for (Json& item : want) {
      Json* metadata = Find(item, {"metadata"});
      if (!managed_fields && metadata != nullptr && metadata->is_object()) metadata->erase("managedFields");
    }
    FUZZ_REQUIRE(items == want);
    FUZZ_REQUIRE(end->next == GetString(*whole, {"metadata", "continue"}));
  }
}
