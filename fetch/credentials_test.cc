#include "fetch/credentials.h"

#include <gtest/gtest.h>

namespace capi::fetch {
namespace {

// T9: by the peer's names, and no others.
TEST(CredentialsIn, ThoseOfTheSecret_T9) {
  SourceCredentials all = CredentialsIn({{"github-token", "g"},
                                         {"OCI_USERNAME", "u"},
                                         {"OCI_PASSWORD", "p"},
                                         {"OCI_ACCESS_TOKEN", "a"},
                                         {"OCI_REFRESH_TOKEN", "r"},
                                         {"oci_username", "x"}});
  EXPECT_EQ(all.github_token + all.oci.username + all.oci.password + all.oci.access_token + all.oci.refresh_token,
            "gupar");
  SourceCredentials none = CredentialsIn({{"A", "b"}});
  EXPECT_TRUE(none.oci.empty());
  EXPECT_EQ(none.github_token, "");
}

}  // namespace
}  // namespace capi::fetch
