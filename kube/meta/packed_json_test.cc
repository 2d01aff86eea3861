#include "kube/meta/packed_json.h"

#include <gtest/gtest.h>

namespace capi::kube {
namespace {

TEST(PackedJson, GivesBackWhatItWasMadeOf) {
  const Json values[] = {
      Json(),
      Json::object(),
      Json::array(),
      Json{{"b", 1}, {"a", {{"x", -1.5}, {"y", nullptr}}}, {"c", Json::array({true, "é\n\"\\", 1e300, 0.1})}},
      Json(18446744073709551615u),
      Json(std::string(70000, 'x')),
      Json(""),
  };
  for (const Json& value : values) {
    const PackedJson packed = value;
    EXPECT_EQ(packed.Unpack(), value);
    EXPECT_EQ(packed.is_null(), value.is_null());
    EXPECT_EQ(packed.empty(), value.empty()) << value.dump().substr(0, 80);
  }
}

TEST(PackedJson, ComparesValues) {
  Json one = {{"a", 1}}, other;
  one["b"] = 2;
  other["b"] = 2;
  other["a"] = 1;
  EXPECT_EQ(PackedJson(one), PackedJson(other)) << "whatever came first";
  const PackedJson copy = one;
  const PackedJson again = copy;
  EXPECT_EQ(copy, again);
  EXPECT_NE(PackedJson(one), PackedJson(Json{{"a", 1}}));
  EXPECT_NE(PackedJson(), PackedJson(Json::array())) << "absent is not the same as empty";
  EXPECT_EQ(PackedJson(), PackedJson(Json()));
}

// What isn't UTF-8 can't be in what a server sends; made by hand it is replaced, and never throws.
TEST(PackedJson, TakesWhatIsNoText) { EXPECT_EQ(PackedJson(Json("\xff")).Unpack(), Json("\xEF\xBF\xBD")); }

}  // namespace
}  // namespace capi::kube
