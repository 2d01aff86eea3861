#include "local/node/pod_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/yaml/yaml.h"
#include "local/node/api_testing.h"

namespace capi::local {
namespace {

using testing::HasSubstr;

constexpr const char* kSecrets = "/api/v1/namespaces/n/secrets/";

class Files : public testing::Test {
 protected:
  // Of a Pod with this spec.
  PodFiles Of(std::string_view spec) {
    Json pod = {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"namespace", "n"}}}};
    pod["spec"] = ValueOrAbort(ParseYaml(spec), "yaml");
    pod["spec"]["automountServiceAccountToken"] = false;
    return {api_.client(), options_, clock_, kube::Object(std::move(pod))};
  }
  void PutSecret(const std::string& name, const std::string& value) {
    api_.Put(kSecrets + name, {{"apiVersion", "v1"}, {"kind", "Secret"}, {"data", {{"key", Base64Encode(value)}}}});
  }
  void RemoveSecret(const std::string& name) { api_.Put(kSecrets + name, Json()); }
  std::string Read(const std::string& file) const {
    auto text = ReadFile(folder_ / ("volumes/n_p/volumes/" + file));
    return text.ok() ? *text : "none";
  }

  TempFolder folder_;
  const NodeOptions options_{.folder = folder_ / "pods", .volumes = folder_ / "volumes"};
  FakeClock clock_;
  ApiStandIn api_;
};

// G5: what changes is in the files, also what went for a while.
TEST_F(Files, AreThoseOfTheirSecretAsItIs_G5) {
  PodFiles files = Of("volumes: [{name: v, secret: {secretName: s, optional: true}}]");
  ASSERT_TRUE(files.MakeFolders().ok());
  for (const char* value : {"a", "b", "", "b"}) {
    if (*value == '\0') {
      RemoveSecret("s");
    } else {
      PutSecret("s", value);
    }
    ASSERT_TRUE(files.Refresh({}).ok());
    EXPECT_EQ(Read("v/key"), *value == '\0' ? "none" : value);
  }
}

// G5: as with a kubelet each volume is renewed by itself.
TEST_F(Files, OfOneVolumeDontWaitForThoseOfAnother_G5) {
  PodFiles files = Of("volumes: [{name: a, secret: {secretName: a}}, {name: b, secret: {secretName: b}}]");
  ASSERT_TRUE(files.MakeFolders().ok());
  PutSecret("b", "1");
  for (const char* value : {"1", "2"}) {
    PutSecret("b", value);
    Status done = files.Refresh({});
    ASSERT_FALSE(done.ok());
    EXPECT_EQ(done.code(), Code::kNotFound);
    EXPECT_THAT(done.error().message, HasSubstr("volumes[name=a]: Secret n/a isn't there"));
    EXPECT_EQ(Read("b/key"), value);
  }
  PutSecret("a", "3");
  EXPECT_TRUE(files.Refresh({}).ok());
  EXPECT_EQ(Read("a/key"), "3");
}

TEST_F(Files, OfAnEmptyFolderHaveItsSubPaths_G5) {
  PodFiles files =
      Of("volumes: [{name: v, emptyDir: {}}]\n"
         "containers: [{name: c, volumeMounts: [{name: v, mountPath: /a, subPath: b/c}]}]");
  ASSERT_TRUE(files.MakeFolders().ok());
  ASSERT_TRUE(files.Refresh({}).ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder_ / "volumes/n_p/volumes/v/b/c"));
}

// G5: nothing is made on this machine outside of the plane's folders.
TEST_F(Files, OfAHostPathWithATypeAreThere_G5) {
  PodFiles files = Of("volumes: [{name: v, hostPath: {path: " + (folder_ / "x") + ", type: DirectoryOrCreate}}]");
  ASSERT_TRUE(files.MakeFolders().ok());
  Status none = files.Refresh({});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.error().message, HasSubstr("volumes[name=v].hostPath.type: "));
  ASSERT_TRUE(std::filesystem::create_directory(folder_ / "x"));
  EXPECT_TRUE(files.Refresh({}).ok());
}

// G4: a Pod's name may be as long as a file's, beside its namespace's.
TEST(PodFolder, HasANameThatAFileMayHave_G4) {
  auto name = [](const std::string& pod) {
    return PodFolderName(kube::Object(Json{{"metadata", {{"namespace", "n"}, {"name", pod}}}}));
  };
  EXPECT_EQ(name("p"), "n_p");
  const std::string longest(253, 'a');
  EXPECT_EQ(name(longest), "n_" + longest);
  auto in_long = [](const std::string& pod) {
    return PodFolderName(kube::Object(Json{{"metadata", {{"namespace", std::string(63, 'n')}, {"name", pod}}}}));
  };
  EXPECT_LE(in_long(longest).size(), 255u);
  EXPECT_NE(in_long(longest), in_long(longest.substr(0, 252) + "b"));
}

}  // namespace
}  // namespace capi::local
