// preload, where releases are there already or come in several ways (L25).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "api/release.h"
#include "api/stored_release.h"
#include "base/encoding.h"
#include "base/strings.h"
#include "base/yaml/yaml.h"
#include "cli/airgap/airgap_testing.h"
#include "fetch/git/git_testing.h"

namespace capi::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// T12: the operator, which reaches no registry, takes one of its own with the source of the object alone.
TEST_F(AirGap, PreloadNamesTheSourceThatAnObjectTakes_L25_T12) {
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  const std::string object = Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
  const std::string file = cluster_.folder.Put("objects/aws.yaml", object);
  const api::Provider provider = api::ParseProvider(kube::Object(*ParseYaml(object))).value();
  const auto counts = [&] {
    return api::IsOfItsSource(api::ReadStoredRelease(kube::Object(cluster_.Get(kAwsMap))), provider);
  };
  ASSERT_EQ(Run({"preload", "-i", "aws:v2.0.0"}).code, 0);
  ASSERT_FALSE(counts());
  const Json before = cluster_.Get(kAwsMap);
  cluster_.before_write = [](UpgradeCluster& cluster, const std::string& what) {
    if (what == "PATCH " + kAwsMap) cluster.Change(kAwsMap, [](Json& map) { map["metadata"]["labels"]["x"] = "y"; });
  };
  EXPECT_EQ(Run({"preload", "-f", file}).code, 1) << "somebody changed it meanwhile";
  EXPECT_FALSE(counts());
  cluster_.before_write = nullptr;
  Outcome named = Run({"preload", "-f", file});
  EXPECT_EQ(named.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system configured\n") << named.err;
  EXPECT_TRUE(counts());
  EXPECT_EQ(cluster_.Get(kAwsMap)["data"], before["data"]);
  const size_t writes = cluster_.writes().size();
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"preload", "-f", file}, {"preload", "-i", "aws:v2.0.0"}})
    EXPECT_EQ(Run(command).out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system unchanged\n");
  EXPECT_EQ(cluster_.writes().size(), writes);
}

// T15, T1: from the same files, where no cluster is asked.
TEST_F(AirGap, TheSecretOfAnObjectMayStandInTheSameFiles_L25_L27_T15) {
  fetch::GitStandIn server({.authorization = "Basic " + Base64Encode("me:s3cret")});
  server.Release("v2.0.0",
                 {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}});
  const std::string object =
      Object("{version: v2.0.0, fetchConfig: {git: {url: '" + server.url() + "', secretRef: {name: git}}}}");
  auto secret = [](const std::string& ns, const std::string& more) {
    return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: git" + ns + "}\n" + more + "\n";
  };
  const std::string plain = "stringData: {username: me, password: s3cret}",
                    encoded = "data: {username: bWU=, password: " + Base64Encode("s3cret") + "}";
  const std::tuple<std::string, std::string, const char*> cases[] = {
      {"plain", secret("", plain), ""},
      {"encoded", secret(", namespace: capa-system", encoded), ""},
      {"none", "", "; Secret capa-system/git, which is named for it, isn't in these files, and no cluster is asked"},
      {"another's", secret(", namespace: other", plain),
       "; Secret capa-system/git, which is named for it, isn't in these"},
      {"wrong", secret("", "stringData: {token: s3cret}"), "the Secret's key token is none that is known"},
  };
  for (const auto& [what, text, words] : cases) {
    const std::string file = cluster_.folder.Put("objects/aws.yaml", object + text), to = cluster_.folder / "b.tar";
    const std::vector<std::string> commands[] = {
        {"preload", "-f", file, "-o", "yaml"},
        {"bundle", "create", "-f", file, "-o", to, "--install-cert-manager=false"},
    };
    for (const auto& command : commands) {
      Outcome outcome = RunAlone(command);
      EXPECT_EQ(outcome.code, *words == '\0' ? 0 : 1) << what << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr(words)) << what;
      EXPECT_THAT(outcome.out + outcome.err, Not(HasSubstr("s3cret"))) << what;
    }
  }
  const std::string ssh =
      Object("{version: v2.0.0, fetchConfig: {git: {url: 'git@git.example.com:r.git', secretRef: {name: git}}}}");
  Outcome over_ssh = RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, ssh);
  EXPECT_THAT(over_ssh.err, HasSubstr("needs the key identity"));
  EXPECT_THAT(over_ssh.err, HasSubstr("; Secret capa-system/git, which is named for it, isn't in these files"));
  const std::string foreign = ReplaceAll(ssh, "{name: git}", "{name: git, namespace: other}");
  EXPECT_THAT(RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, foreign).err,
              HasSubstr("; Secret other/git is of another namespace than the provider, and isn't read here"));
  const std::string file = cluster_.folder.Put("objects/aws.yaml", ssh);
  EXPECT_THAT(Run({"preload", "-f", file}).err,
              HasSubstr("; Secret capa-system/git, which is named for it, isn't there"));
}

std::string SecretNamed(const std::string& name, const std::string& more) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + ", namespace: capa-system}\n" + more + "\n";
}

// T1: two clusters call what they have for their own servers the same.
TEST_F(AirGap, NoServerGetsTheSecretOfAnotherFile_L25_L27_T1) {
  const std::string authorization[] = {"Basic " + Base64Encode("me:dev"), "Basic " + Base64Encode("me:prod")};
  fetch::GitStandIn dev({.authorization = authorization[0]}), prod({.authorization = authorization[1]});
  std::string objects[2], secrets[2];
  for (const auto& [i, server, version] : {std::tuple(0, &dev, "v2.0.0"), {1, &prod, "v2.1.0"}}) {
    server->Release(version,
                    {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", version)}});
    objects[i] = Object("{version: " + std::string(version) + ", fetchConfig: {git: {url: '" + server->url() +
                        "', secretRef: {name: git}}}}");
    secrets[i] = SecretNamed("git", std::string("stringData: {username: me, password: ") + (i == 0 ? "dev}" : "prod}"));
  }
  const auto create = [&](const std::string& folder) {
    return RunAlone({"bundle", "create", "-f", cluster_.folder / folder, "-o", cluster_.folder / "b.tar",
                     "--install-cert-manager=false"});
  };
  for (int i : {0, 1}) cluster_.folder.Put("own/" + std::to_string(i) + ".yaml", objects[i] + secrets[i]);
  Outcome made = create("own");
  EXPECT_EQ(made.code, 0) << made.err;
  for (int i : {0, 1}) {
    cluster_.folder.Put("apart/" + std::to_string(i) + "/aws.yaml", objects[i]);
    cluster_.folder.Put("apart/" + std::to_string(i) + "/git.yaml", secrets[i]);
  }
  Outcome refused = create("apart");
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("; Secret capa-system/git is in these files with two contents ("));
  EXPECT_THAT(refused.err, HasSubstr("apart/1/git.yaml:"));
  for (const std::string& request : dev.seen()) EXPECT_THAT(request, Not(HasSubstr(authorization[1])));
  for (const std::string& request : prod.seen()) EXPECT_THAT(request, Not(HasSubstr(authorization[0])));
  // Twice the same is one.
  cluster_.folder.Put("apart/1/aws.yaml", objects[0]);
  cluster_.folder.Put("apart/1/git.yaml", secrets[0]);
  EXPECT_EQ(create("apart").code, 0);
}

// As repositories of GitOps have them: encrypted by SOPS, or as templates.
TEST_F(AirGap, ASecretThatCannotBeReadAsItStandsThereHasNothing_L25_L27) {
  fetch::OciStandIn open(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}}),
      closed({}, fetch::OciAuth::kBasic);
  const std::pair<const char*, const char*> cases[] = {
      {"data: {OCI_USERNAME: bWU=, OCI_PASSWORD: 'ENC[AES256_GCM,data:a]'}\nsops: {version: 3.9.0}",
       "Secret capa-system/own is encrypted by SOPS"},
      {"stringData: {OCI_USERNAME: me, OCI_PASSWORD: 'ENC[AES256_GCM,data:a]'}\nsops: {version: 3.9.0}",
       "Secret capa-system/own is encrypted by SOPS"},
      {"data: {OCI_USERNAME: bWU=, OCI_PASSWORD: '${PASSWORD_B64}'}", "Secret capa-system/own, key OCI_PASSWORD"},
  };
  for (const auto& c : cases) {
    for (const char* by : {"configSecret: {name: own}", "secretRef: {name: own}"}) {
      SCOPED_TRACE(std::string(by) + c.first);
      const bool variables = std::string_view(by).starts_with("c");
      auto object = [&](const std::string& url) {
        return Object("{version: v2.0.0, " + (variables ? std::string(by) + ", " : "") + "fetchConfig: {oci: '" + url +
                      "'" + (variables ? "" : std::string(", ") + by) + "}}") +
               SecretNamed("own", c.first);
      };
      Outcome made = RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, object(open.reference()));
      EXPECT_EQ(made.code, 0) << made.err;
      Outcome refused = RunAlone({"preload", "-f", "-", "-o", "yaml"}, {}, object(closed.reference()));
      EXPECT_EQ(refused.code, 1);
      EXPECT_THAT(refused.err, HasSubstr("asked without credentials, since those in these files can't be read (" +
                                         std::string(c.second)));
      for (const fetch::OciRequest& request : closed.seen()) EXPECT_EQ(request.authorization, "");
      // With a cluster that is asked what the files have isn't looked at.
      EXPECT_EQ(Run({"preload", "-f", cluster_.folder.Put("objects/aws.yaml", object(open.reference()))}).code, 0);
    }
  }
}

// Up to 1 MiB, of which the command has just sent all.
TEST_F(AirGap, PreloadReadsNothingBackThatItHasMade_L25) {
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  const std::string plain = Object("{version: v2.0.0}"),
                    by_registry = Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}");
  for (const std::string& object : {plain, by_registry}) {
    cluster_.Remove(kAwsMap);
    Outcome made = Run({"preload", "-f", cluster_.folder.Put("objects/aws.yaml", object)});
    EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
    EXPECT_THAT(cluster_.whole_reads(), Not(testing::Contains(kAwsMap)));
  }
}

// I12, I14: what the operator doesn't take for this one is in nobody's way.
TEST_F(AirGap, PreloadLeavesAloneWhatCountsForAnother_L25) {
  const std::string folder = "r/infrastructure-aws/v2.0.0+b/";
  cluster_.folder.Put(folder + "metadata.yaml", kMetadata);
  cluster_.folder.Put(folder + "infrastructure-components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0-b"));
  ASSERT_EQ(Run({"preload", "-i", "aws:v2.0.0"}).code, 0);
  Outcome build = Run({"preload", "-i", "aws:v2.0.0+b"});
  EXPECT_EQ(build.out, "configmap/infrastructure-aws-v2.0.0-b in namespace capa-system created\n") << build.err;

  // One label for all providers of a team; one after the other, and both again.
  const std::string spec = "{version: v2.1.0, fetchConfig: {selector: {matchLabels: {team: x}}}}";
  const std::string aws = Object(spec), gcp = "---\n" + ReplaceAll(aws, "name: aws", "name: gcp");
  const std::string file = cluster_.folder.Put("objects/aws.yaml", aws);
  ASSERT_EQ(Run({"preload", "-f", file}).code, 0);
  cluster_.folder.Put("objects/aws.yaml", aws + gcp);
  Outcome second = Run({"preload", "-f", file});
  EXPECT_EQ(second.out,
            "configmap/infrastructure-aws-v2.1.0 in namespace capa-system unchanged\n"
            "configmap/infrastructure-gcp-v2.1.0 in namespace capa-system created\n")
      << second.err;
  Outcome again = Run({"preload", "-f", file});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, ReplaceAll(second.out, "created", "unchanged")) << again.err;
}

// T12: one of another source doesn't count, whatever it is called.
TEST_F(AirGap, PreloadLooksAtNoReleaseOfAnotherSource_L25_T12) {
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  const std::string file = cluster_.folder.Put(
      "objects/aws.yaml", Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "'}}"));
  ASSERT_EQ(Run({"preload", "-i", "aws:v2.0.0"}).code, 0);
  Json other = cluster_.Get(kAwsMap);
  other["metadata"]["name"] = "infrastructure-aws-2.0.0";
  other["data"]["components"] = "kind: Namespace\n";
  cluster_.Remove(kAwsMap);
  cluster_.Put("/api/v1/namespaces/capa-system/configmaps/infrastructure-aws-2.0.0", other);
  EXPECT_THAT(Run({"preload", "-i", "aws:v2.0.0"}).err, HasSubstr("the operator takes that one now"));
  Outcome made = Run({"preload", "-f", file});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

// T14: a release that is kept without signatures stays beside that with them.
TEST_F(AirGap, PreloadBringsSignaturesBesideAnotherName_L25_T14) {
  const std::string verify = "verify: {provider: cosign, secretRef: {name: keys}}";
  const std::string file = cluster_.folder.Put(
      "objects/aws.yaml", Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}, " + verify + "}}"));
  for (const char* name : {"metadata.yaml.sig", "infrastructure-components.yaml.sig"})
    cluster_.folder.Put(std::string("r/infrastructure-aws/v2.0.0/") + name, "bWV0YQ==");
  ASSERT_EQ(Run({"preload", "-f", file}).code, 0);
  Json kept = cluster_.Get(kAwsMap);
  kept["metadata"]["name"] = "kept";
  for (const char* key : {"metadata.sig", "components.sig"}) EXPECT_EQ(kept["data"].erase(key), 1u);
  cluster_.Remove(kAwsMap);
  cluster_.Put("/api/v1/namespaces/capa-system/configmaps/kept", kept);
  Outcome made = Run({"preload", "-f", file});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

// L25: one is one, also where several files have it; two of one object are of two clusters.
TEST_F(AirGap, PreloadTakesAnObjectOnce_L25) {
  const std::string one = Object("{version: v2.0.0}"), first = cluster_.folder.Put("objects/a.yaml", one);
  const std::string second = cluster_.folder.Put("objects/b.yaml", one);
  Outcome made = Run({"preload", "-f", first, "-f", second});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
  const size_t writes = cluster_.writes().size();
  for (const char* spec :
       {"{version: 2.0.0}", "{version: v2.0.0, deployment: {replicas: 2}}", "{version: v2.0.0, fetchConfig: {}}"}) {
    cluster_.folder.Put("objects/b.yaml", Object(spec));
    Outcome same = Run({"preload", "-f", first, "-f", second});
    EXPECT_EQ(same.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system unchanged\n") << same.err;
    EXPECT_EQ(same.code, 0) << spec << " asks for the same release";
  }
  for (const char* spec : {"{version: v2.1.0}", "{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}}}",
                           "{version: v2.0.0, fetchConfig: {digest: "
                           "'sha256:0000000000000000000000000000000000000000000000000000000000000000'}}"}) {
    cluster_.folder.Put("objects/b.yaml", Object(spec));
    Outcome refused = Run({"preload", "-f", first, "-f", second});
    EXPECT_EQ(refused.code, 1) << spec;
    EXPECT_THAT(refused.err, HasSubstr("b.yaml: InfrastructureProvider capa-system/aws is there twice, with two "
                                       "versions or sources"));
    EXPECT_EQ(cluster_.writes().size(), writes);
  }
}

// Nobody could tell its contract.
TEST_F(AirGap, PreloadRefusesAReleaseThatItsMetadataDoesNotName_L25) {
  const std::string folder = "r/infrastructure-aws/v3.0.0/";
  cluster_.folder.Put(folder + "metadata.yaml", kMetadata);
  cluster_.folder.Put(folder + "infrastructure-components.yaml", ComponentsOf("aws", "capa-system", "v3.0.0"));
  const std::string file = cluster_.folder.Put("objects/aws.yaml", Object("{version: v3.0.0}"));
  for (const std::vector<std::string>& which : {std::vector<std::string>{"-i", "aws:v3.0.0"}, {"-f", file}}) {
    std::vector<std::string> command = {"preload"};
    command.insert(command.end(), which.begin(), which.end());
    Outcome refused = Run(command);
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("its metadata doesn't say which contract v3.0.0 has"));
    EXPECT_THAT(cluster_.writes(), IsEmpty());
  }
}

// T14: of its own source, and of one that the command line names.
TEST_F(AirGap, PreloadBringsWhatASignedArtifactIsSignedWith_L25_T14) {
  fetch::OciStandIn registry(
      {{"v2.0.0",
        {.files = {{"metadata.yaml", kMetadata}, {"components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0")}}}}});
  Sign(registry, "v2.0.0", "c2ln");
  const std::string verify = "verify: {provider: cosign, secretRef: {name: keys}}";
  const std::string own =
      Object("{version: v2.0.0, fetchConfig: {oci: '" + registry.reference() + "', " + verify + "}}");
  const std::string other = Object("{version: v2.0.0, fetchConfig: {selector: {matchLabels: {a: b}}, " + verify + "}}");
  std::vector<std::string> command = {"preload", "-f", "-", "-o", "yaml"};
  for (const std::string& object : {own, other}) {
    Outcome made = RunAlone(command, {}, object);
    ASSERT_EQ(made.code, 0) << made.err;
    const Json map = *ParseYaml(made.out);
    EXPECT_THAT(GetString(map, {"data", std::string(api::kArtifactKey)}), HasSubstr("c2ln"));
    command.insert(command.end(), {"-u", registry.reference()});
  }
}

// I12: of titles, too; each file is found by itself.
TEST_F(AirGap, PublishTakesTitlesWithAndWithoutTheLetterV_L26) {
  fetch::OciStandIn registry({});
  cluster_.folder.Put("half/infrastructure-aws-v2.0.0-metadata.yaml", kMetadata);
  cluster_.folder.Put("half/infrastructure-aws-2.0.0-components.yaml", ComponentsOf("aws", "capa-system", "v2.0.0"));
  const std::string where = registry.reference(":all");
  Outcome made = RunAlone({"publish", "-u", where, "--dir", cluster_.folder / "half"});
  EXPECT_EQ(made.code, 0) << made.err;
  Outcome read = RunAlone({"preload", "-i", "aws:v2.0.0", "-o", "yaml", "-u", where});
  EXPECT_EQ(read.code, 0) << read.err;
}

// Of a spec that can't be read nobody knows the version, the source and the digest.
TEST_F(AirGap, PreloadTakesNoObjectThatItCannotRead_L25) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"};
  cluster_.Add(aws);
  cluster_.Change(UpgradeCluster::PathOf(aws), [](Json& object) { object["spec"]["rollout"]["timeout"] = "soon"; });
  Outcome refused = Run({"preload", "--existing"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("InfrastructureProvider capa-system/aws: spec.rollout.timeout"));
  EXPECT_THAT(cluster_.writes(), IsEmpty());
}

// What a policy has led beyond spec.version (U13).
void LeadOn(UpgradeCluster& cluster, const Json& spec) {
  const UpgradeProvider aws{api::ProviderType::kInfrastructure, "capa-system", "aws", "v2.0.0", "v1beta2"};
  cluster.Add(aws);
  cluster.Change(UpgradeCluster::PathOf(aws), [&](Json& object) {
    object["spec"] = spec;
    object["status"]["installedVersion"] = "v2.1.0";
    object["status"]["history"] =
        Json::array({{{"version", "v2.1.0"}, {"outcome", "Succeeded"}, {"insteadOf", "v2.0.0"}}});
  });
}

// U13: a new cluster begins with spec.version; what a policy has led to is what runs.
TEST_F(AirGap, PreloadTakesWhatAPolicyHasComeToAsWell_L25) {
  LeadOn(cluster_, {{"version", "v2.0.0"}});
  Outcome made = Run({"preload", "--existing"});
  for (const char* version : {"v2.0.0", "v2.1.0"}) {
    EXPECT_THAT(made.out, HasSubstr(std::string("configmap/infrastructure-aws-") + version)) << made.err;
  }
}

// U13: the policy has ended, and the object names one release, of which there is no other version.
TEST_F(AirGap, PreloadTakesWhatADigestNamesAlone_L25) {
  const std::string digest = fetch::OciDigest(ComponentsOf("aws", "capa-system", "v2.0.0"));
  LeadOn(cluster_, {{"version", "v2.0.0"}, {"fetchConfig", {{"digest", digest}}}});
  Outcome made = Run({"preload", "--existing"});
  EXPECT_EQ(made.out, "configmap/infrastructure-aws-v2.0.0 in namespace capa-system created\n") << made.err;
}

// L27: loaded into a registry such a bundle is right.
TEST_F(AirGap, BundleCreateWarnsOfObjectsWithoutAVersion_L27) {
  const std::vector<std::string> command = {
      "bundle", "create", "-f", "-", "-o", cluster_.folder / "one.tar", "--install-cert-manager=false"};
  Outcome made = RunAlone(command, {}, Object("{}"));
  EXPECT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("capa-system/aws: without spec.version the operator asks the source"));
  made = RunAlone(command, {}, Object("{version: v2.0.0}"));
  EXPECT_EQ(made.code, 0);
  EXPECT_THAT(made.err, Not(HasSubstr("spec.version")));
}

}  // namespace
}  // namespace capi::cli
