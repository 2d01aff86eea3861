#include "cli/move/directory.h"

#include <gtest/gtest.h>

namespace capi::cli::move {
namespace {

kube::Object PausedCluster(const Record* record) {
  kube::Object object(Json{{"kind", "Cluster"}, {"metadata", {{"name", "a"}}}, {"spec", {{"paused", true}}}});
  if (record != nullptr) object.set_annotation(kRecordAnnotation, ToText(*record));
  return object;
}

// L17: the file of what a move has paused is the one that Cluster API's clusterctl writes.
TEST(FileText, IsOneLineOfJson) {
  const Ends ends{"x", DirectoryEnd("/backup")};
  Record mine{ends}, theirs{ends, true};
  const char* plain = "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"a\"},\"spec\":{\"paused\":true}}\n";
  EXPECT_EQ(FileText(PausedCluster(nullptr)), plain);
  EXPECT_EQ(FileText(PausedCluster(&mine)), plain);
  EXPECT_NE(FileText(PausedCluster(&theirs)).find("wasPaused"), std::string::npos);
  kube::Object resumed(Json{{"kind", "Cluster"}, {"metadata", {{"name", "a"}}}});
  resumed.set_annotation(kRecordAnnotation, ToText(mine));
  EXPECT_EQ(FileText(resumed), "{\"kind\":\"Cluster\",\"metadata\":{\"name\":\"a\"}}\n");
  EXPECT_EQ(FileText(kube::Object(Json{{"a", "<b>&\u2028\"ü\""}})),
            "{\"a\":\"\\u003cb\\u003e\\u0026\\u2028\\\"ü\\\"\"}\n");
}

}  // namespace
}  // namespace capi::cli::move
