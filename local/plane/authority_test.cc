#include "local/plane/authority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/encoding.h"
#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "base/testing/value_or_abort.h"
#include "base/yaml/yaml.h"

namespace capi::local {
namespace {

using std::chrono::hours;

const WallTime kNow{Seconds(1'800'000'000)};

class Authority : public ::testing::Test {
 protected:
  Authority() { EXPECT_TRUE(folder_.MakeFolders().ok()); }
  Credentials Ensure(WallTime now = kNow) { return ValueOrAbort(EnsureCredentials(folder_, now), "credentials"); }
  std::string Read(const std::string& name) { return ValueOrAbort(ReadFile(folder_.Pki(name)), name); }

  TempFolder temp_;
  PlaneFolder folder_ = ValueOrAbort(PlaneFolder::Make(temp_ / "plane"), "folder");
};

// Rule G1: an authority of its own, for its owner's eyes alone.
TEST_F(Authority, MakesWhatTheProgramsNeed) {
  const Credentials made = Ensure();
  EXPECT_TRUE(http::ReadCertificate(made.ca_pem)->authority);
  for (const char* host : {"127.0.0.1", "localhost", "kubernetes.default.svc"})
    EXPECT_TRUE(http::VerifyServing(Read("apiserver.crt"), made.ca_pem, host, kNow + hours(1)).ok()) << host;
  EXPECT_TRUE(http::CheckKey(made.administrator).ok());
  EXPECT_TRUE(http::CheckKey({Read("service-accounts.crt"), Read("service-accounts.key")}).ok());
  for (const char* name : {"ca.key", "apiserver.key", "service-accounts.key", "administrator.key"}) {
    struct stat info {};
    ASSERT_EQ(stat(folder_.Pki(name).c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
}

TEST_F(Authority, KeepsWhatIsFitAndMakesTheRestAnew) {
  const Credentials first = Ensure();
  const std::string serving = Read("apiserver.crt"), accounts = Read("service-accounts.crt");
  EXPECT_EQ(Ensure(kNow + hours(24 * 365)).administrator.cert_pem, first.administrator.cert_pem);
  EXPECT_EQ(Read("apiserver.crt"), serving);

  // A key that doesn't fit: a disk was full in between.
  ASSERT_TRUE(WriteFile(folder_.Pki("apiserver.key"), Read("ca.key"), 0600).ok());
  EXPECT_EQ(Ensure().ca_pem, first.ca_pem);
  EXPECT_NE(Read("apiserver.crt"), serving);
  EXPECT_TRUE(http::CheckKey({Read("apiserver.crt"), Read("apiserver.key")}).ok());

  // With another authority none of its certificates counts; tokens of ServiceAccounts do.
  ASSERT_TRUE(WriteFile(folder_.Pki("ca.crt"), "no certificate", 0600).ok());
  const Credentials another = Ensure();
  EXPECT_NE(another.ca_pem, first.ca_pem);
  EXPECT_NE(another.administrator.cert_pem, first.administrator.cert_pem);
  EXPECT_TRUE(http::VerifyServing(Read("apiserver.crt"), another.ca_pem, "127.0.0.1", kNow).ok());
  EXPECT_EQ(Read("service-accounts.crt"), accounts);
}

// A run that was killed, or a full disk, between a new authority and what it issues.
TEST_F(Authority, MakesAnewWhatAnotherAuthorityHasIssued) {
  const Credentials first = Ensure();
  const PlaneFolder other = ValueOrAbort(PlaneFolder::Make(temp_ / "other"), "folder");
  ASSERT_TRUE(other.MakeFolders().ok());
  const Credentials others = ValueOrAbort(EnsureCredentials(other, kNow), "credentials");
  for (const char* name : {"ca.key", "ca.crt"})
    ASSERT_TRUE(WriteFile(folder_.Pki(name), ValueOrAbort(ReadFile(other.Pki(name)), name), 0600).ok());
  const Credentials mended = Ensure();
  EXPECT_EQ(mended.ca_pem, others.ca_pem);
  EXPECT_TRUE(http::VerifyServing(Read("apiserver.crt"), mended.ca_pem, "127.0.0.1", kNow).ok());
  EXPECT_TRUE(http::VerifyChain(mended.administrator.cert_pem, mended.ca_pem, kNow).ok());
}

TEST_F(Authority, RenewsWhatEndsSoon) {
  const Credentials first = Ensure();
  const Credentials later = Ensure(kNow + hours(24 * 3649));
  EXPECT_NE(later.ca_pem, first.ca_pem);
  EXPECT_NE(later.administrator.cert_pem, first.administrator.cert_pem);
}

TEST_F(Authority, KubeconfigHasAllInIt) {
  const Credentials made = Ensure();
  auto config = ParseYaml(KubeconfigText(made, 6443));
  ASSERT_TRUE(config.ok()) << config.error().message;
  const Json& cluster = (*config)["clusters"][0]["cluster"];
  EXPECT_EQ(GetString(cluster, {"server"}), "https://127.0.0.1:6443");
  EXPECT_EQ(GetString(cluster, {"certificate-authority-data"}), Base64Encode(made.ca_pem));
  const Json& user = (*config)["users"][0]["user"];
  EXPECT_EQ(GetString(user, {"client-certificate-data"}), Base64Encode(made.administrator.cert_pem));
  EXPECT_EQ(GetString(user, {"client-key-data"}), Base64Encode(made.administrator.key_pem));
}

}  // namespace
}  // namespace capi::local
