#include "fetch/provider_entry.h"

#include <gtest/gtest.h>

namespace capi::fetch {
namespace {

Json Entry(std::string_view name, std::string_view url, std::string_view type) {
  return {{"name", name}, {"url", url}, {"type", type}};
}

TEST(ProviderEntry, IsReadWithWhatElseStandsThere) {
  Json json = Entry("x", "https://x/y.yaml", "AddonProvider");
  json["foo"] = "bar";
  auto entry = ReadProviderEntry(json);
  ASSERT_TRUE(entry.ok()) << entry.error().message;
  EXPECT_EQ(entry->name, "x");
  EXPECT_EQ(entry->url, "https://x/y.yaml");
  auto type = CheckProviderEntry(*entry);
  ASSERT_TRUE(type.ok()) << type.error().message;
  EXPECT_EQ(*type, api::ProviderType::kAddon);
}

TEST(ProviderEntry, SaysWhatIsWrong) {
  EXPECT_EQ(ReadProviderEntry(Json("foo")).error().message,
            "an entry of providers must be a map of name, url and type");
  EXPECT_EQ(ReadProviderEntry(Json{{"name", Json::array()}}).error().message, "name is no text");
  const std::tuple<Json, std::string> cases[] = {
      {Entry("", "https://x", "AddonProvider"), "name value cannot be empty"},
      {Entry("a", "", "AddonProvider"), "provider URL value cannot be empty"},
      {Entry("a", "http://[::1", "AddonProvider"),
       "error parsing provider URL: parse \"http://[::1\": missing ']' in host"},
      {Entry("cluster-api", "https://x", "AddonProvider"),
       "name cluster-api must be used with the CoreProvider type "
       "(name: cluster-api, type: AddonProvider)"},
  };
  for (const auto& [json, want] : cases) {
    auto type = CheckProviderEntry(ReadProviderEntry(json).value());
    ASSERT_FALSE(type.ok());
    EXPECT_EQ(type.code(), Code::kInvalidArgument);
    EXPECT_TRUE(type.error().message.ends_with(": " + want)) << type.error().message;
  }
}

}  // namespace
}  // namespace capi::fetch
