#include "cli/frame/overrides.h"

#include <gtest/gtest.h>

#include <sstream>

#include "cli/frame/source_secret.h"

namespace capi::cli {
namespace {

// v2.0.0 is a tag without a release. Thread-compatible.
class Tags : public fetch::Repository {
 public:
  std::string Describe() const override { return "tags"; }
  bool IsLocal() const override { return true; }
  std::string ComponentsFile() const override { return "c.yaml"; }
  Result<std::vector<api::Version>> Versions(const Context&) override {
    return std::vector<api::Version>{{.major = 2}};
  }
  Result<std::optional<std::vector<api::Version>>> ReleasedVersions(const Context&) override {
    return std::optional(std::vector<api::Version>{{.major = 1}});
  }
  Result<std::string> File(const Context&, const api::Version& version, std::string_view) override {
    if (version.major == 1) return std::string("kind: Metadata\n");
    return Error{Code::kNotFound, "no such release", {}};
  }
};

// I3: what stands before a source hides nothing that it says.
TEST(Overrides, VersionsWithoutReleasesHideNoneBehindThem_I3) {
  std::ostringstream said;
  Notes notes(said);
  auto overridden = WithOverrides(std::make_unique<Tags>(), "/nowhere", "core", notes);
  auto unread = WithUnread(std::make_unique<Tags>(), "Secret a/b");
  for (fetch::Repository* repository : {overridden.get(), unread.get()}) {
    auto latest = fetch::LatestVersion({}, *repository, {});
    ASSERT_TRUE(latest.ok()) << latest.error().message;
    EXPECT_EQ(latest->ToString(), "v1.0.0");
    EXPECT_TRUE(repository->IsLocal());
  }
}

}  // namespace
}  // namespace capi::cli
