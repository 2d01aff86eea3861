#include "operator/act/rendered_cache.h"

#include <gtest/gtest.h>

#include <thread>

namespace capi::ops {
namespace {

kube::Manifest Map(const std::string& name, const std::string& value) {
  return kube::ToManifest(kube::Object(Json{{"apiVersion", "v1"},
                                            {"kind", "ConfigMap"},
                                            {"metadata", {{"name", name}, {"namespace", "ns"}}},
                                            {"data", {{"key", value}}}}));
}

// Text that doesn't compress, different for each seed.
std::string Noise(size_t size, unsigned seed) {
  std::string text;
  for (unsigned x = seed * 2654435761u + 1; text.size() < size;) {
    x ^= x << 13, x ^= x >> 17, x ^= x << 5;
    text += static_cast<char>('!' + x % 90);
  }
  return text;
}

TEST(RenderedCache, GivesBackWhatWasRendered) {
  kube::Object crd(*ParseJson(R"({"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"widgets.x.example"},"spec":{"group":"x.example","scope":"Namespaced",
    "names":{"kind":"Widget","plural":"widgets"},"versions":[{"name":"v1","served":true,"storage":true}]}})"));
  std::vector<kube::Manifest> manifests = {kube::ToManifest(crd), Map("b", "2"), Map("a", "1")};
  RenderedCache cache;
  cache.Put("p", "inputs", manifests, {"v1.0.0", "v1beta1", "a folder", "sha", {"a warning"}});
  auto all = cache.All("p", "inputs");
  ASSERT_TRUE(all.has_value());
  ASSERT_EQ(all->size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ((*all)[i].text, manifests[i].text);
    auto one = cache.Get("p", "inputs", manifests[i].id);
    ASSERT_TRUE(one.ok() && one->has_value());
    const kube::Manifest& manifest = **one;
    EXPECT_EQ(manifest.text, manifests[i].text);
    EXPECT_EQ(manifest.hash, manifests[i].hash);
    EXPECT_EQ(manifest.api_version, manifests[i].api_version);
    EXPECT_EQ(manifest.crd_versions, manifests[i].crd_versions);
    EXPECT_EQ(manifest.crd_storage, manifests[i].crd_storage);
    EXPECT_EQ(manifest.crd_plural, manifests[i].crd_plural);
    EXPECT_EQ(manifest.crd_namespaced, manifests[i].crd_namespaced);
  }
  EXPECT_EQ(cache.Facts("p", "inputs")->contract, "v1beta1");
  EXPECT_EQ(cache.Facts("p", "inputs")->warnings, std::vector<std::string>{"a warning"});
}

TEST(RenderedCache, AnswersOnlyForTheInputsOfTheLastRender) {
  RenderedCache cache;
  EXPECT_FALSE(cache.Has("p", "1"));
  cache.Put("p", "1", {Map("a", "1")}, {});
  cache.Put("p", "2", {Map("a", "2")}, {});
  cache.Put("q", "", {Map("a", "3")}, {});
  EXPECT_FALSE(cache.Has("p", "1"));
  EXPECT_EQ(cache.Get("p", "1", Map("a", "").id).code(), Code::kNotFound) << "nobody knows";
  EXPECT_FALSE(cache.All("q", "").has_value());
  EXPECT_EQ(cache.InputsOf("p"), "2");
  EXPECT_EQ((*cache.Get("p", "2", Map("a", "").id))->text, Map("a", "2").text);
  auto other = cache.Get("p", "2", Map("other", "").id);
  ASSERT_TRUE(other.ok());
  EXPECT_FALSE(other->has_value()) << "the release doesn't have it";
  cache.Drop("p");
  EXPECT_FALSE(cache.Has("p", "2"));
  EXPECT_EQ(cache.InputsOf("p"), "");
}

TEST(RenderedCache, KeepsWithinItsBound) {
  RenderedCache cache(100'000);
  for (unsigned i = 0; i < 4; ++i) cache.Put("p" + std::to_string(i), "i", {Map("a", Noise(30'000, i))}, {});
  EXPECT_FALSE(cache.Has("p0", "i")) << "used the longest ago";
  EXPECT_TRUE(cache.Has("p1", "i"));
  cache.Put("p4", "i", {Map("a", Noise(30'000, 5))}, {});
  EXPECT_TRUE(cache.Has("p1", "i")) << "it was just used";
  EXPECT_FALSE(cache.Has("p2", "i"));
  EXPECT_EQ(cache.InputsOf("p3"), "i");
  cache.Put("p5", "i", {Map("a", Noise(30'000, 6))}, {});
  EXPECT_TRUE(cache.Has("p3", "i")) << "a pass was told that it is there";
  EXPECT_FALSE(cache.Has("p4", "i"));
  cache.Put("big", "i", {Map("a", Noise(200'000, 7))}, {});
  EXPECT_FALSE(cache.Has("big", "i")) << "what is larger than the bound isn't kept";
  EXPECT_FALSE(cache.Has("p3", "i"));
}

// Readers and writers at once: each reader sees a whole render.
TEST(RenderedCache, IsThreadSafe) {
  RenderedCache cache;
  cache.Put("p", "i", {Map("a", "0"), Map("b", "0")}, {});
  std::jthread writer([&] {
    for (int i = 0; i < 200; ++i) cache.Put("p", "i", {Map("a", std::to_string(i)), Map("b", std::to_string(i))}, {});
  });
  for (int i = 0; i < 200; ++i) {
    auto all = cache.All("p", "i");
    ASSERT_TRUE(all.has_value());
    EXPECT_EQ(GetString(*ParseJson((*all)[0].text), {"data", "key"}),
              GetString(*ParseJson((*all)[1].text), {"data", "key"}));
  }
}

}  // namespace
}  // namespace capi::ops
