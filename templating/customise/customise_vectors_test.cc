// spec.manager, spec.deployment, spec.additionalDeployments and the operator's image overrides, against what
// cluster-api-operator makes of them (testdata/vectors/customisation.json).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/releases.h"
#include "base/testing/value_or_abort.h"
#include "base/testing/vectors.h"
#include "templating/customise/images.h"
#include "templating/render.h"
#include "templating/testing/vectors.h"

namespace capi::templating {
namespace {

using testing::HasSubstr;

// What we do in the superseded cases.
struct Departure {
  std::string error;  // what we say where we refuse
  std::string args;   // else the args of the manager's container, with a space between
};

// The args of base "example": its bare --leader-elect as `elect`, its "--namespace base-ns" as `ns`, and `more` behind.
std::string Example(std::string_view elect, std::string_view more = "", std::string_view ns = "--namespace base-ns") {
  return fmt::format(
      "--webhook-port=2345 {} --v=2 "
      "--feature-gates=MachinePool=true,MachineSetPreflightChecks=true,PriorityQueue=false "
      "{}{}",
      elect, ns, more);
}

const std::map<std::string, Departure>& Departures() {
  static const std::map<std::string, Departure> kTable = {
      {"I006", {"couldn't parse image name: repository name must be canonical", ""}},
      {"K035", {"", Example("--leader-elect=false")}},
      {"K036", {"", Example("--leader-elect")}},
      {"K069", {"", Example("--leader-elect", "", "--namespace=testNS")}},
      {"K081",
       {"",
        "--leader-elect --diagnostics-address=localhost:8080 --insecure-diagnostics=true "
        "--feature-gates=MachinePool=true,ClusterTopology=false,KubeadmBootstrapFormatIgnition=false,"
        "PriorityQueue=false,ReconcilerRateLimiting=false,InPlaceUpdates=false"}},
      {"K102", {"", Example("--leader-elect=true")}},
      {"K103", {"", Example("--leader-elect=false")}},
      {"K104",
       {"", Example("--leader-elect=true",
                    " --leader-election-id=here/foo --leader-elect-lease-duration=25200s "
                    "--leader-elect-renew-deadline=25200s --leader-elect-retry-period=25200s")}},
      {"K105", {"", Example("--leader-elect=true")}},
      {"K106", {"", Example("--leader-elect=true")}},
      {"K107", {"", Example("--leader-elect=false")}},
      {"K108",
       {"", Example("--leader-elect=true", " --leader-elect-lease-duration=15s --leader-elect-renew-deadline=11s")}},
      {"K109",
       {"",
        "--leader-elect=false --diagnostics-address=:8443 --insecure-diagnostics=false "
        "--feature-gates=MachinePool=true,ClusterTopology=false,PriorityQueue=false,ReconcilerRateLimiting=false"}},
      {"K110", {"", Example("--leader-elect=true", " --leader-elect-lease-duration=60s")}},
      {"K122", {"arg \"--leader-elect\" already exists", ""}},
      {"K126",
       {"",
        "--webhook-port=3579 --leader-elect=true --v=5 --feature-gates=ANOTHER=false,MachinePool=true,"
        "MachineSetPreflightChecks=true,PriorityQueue=false,TEST=true --namespace=testNS --machine-concurrency=3 "
        "--health-addr=:6789 --metrics-bind-addr=:4567 --webhook-cert-dir=/tmp/certs "
        "--profiler-address=localhost:1234 --leader-election-id=here/foo --leader-elect-lease-duration=25200s "
        "--leader-elect-renew-deadline=25200s --leader-elect-retry-period=25200s --sync-period=25200s "
        "--test-option=test-value"}},
      {"K127", {"spec.manager.controller.groupKindConcurrency[\"machine\"]: the manager of", ""}},
      {"K128", {"spec.manager.controller.groupKindConcurrency[\"machine\"]: the manager of", ""}},
  };
  return kTable;
}

std::string VendorsFile(const std::string& path) { return ValueOrAbort(ReadFile(ReleasesDir() + "/" + path), path); }

// The results for a vendor's release hold for that file alone; the other bases are in the vectors. Null for these.
const Json* FileOf(const Json& vectors, const Json& c) {
  return Find(vectors, {"bases", c["base"].get<std::string>(), "file"});
}

RenderResult RenderCase(const Json& vectors, const Json& c, const api::Provider& provider) {
  const Json* file = FileOf(vectors, c);
  api::Release release;
  release.version = api::Version::Parse(provider.spec.version).value();
  release.components = file != nullptr
                           ? VendorsFile(file->get<std::string>())
                           : vectors["bases"][c["base"].get<std::string>()]["components"].get<std::string>();
  RenderInput input;
  input.type = provider.id.type;
  input.name = provider.id.name;
  input.release = &release;
  input.target_namespace = provider.id.ns;
  input.spec = &provider.spec;
  if (c.contains("images")) input.operator_images = ParseImageOverrides(c["images"].get<std::string>()).value();
  input.variables = [&](const std::string& name) -> std::optional<std::string> {
    const Json* value = Find(c, {"variables", name});
    return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
  };
  return Render(input);
}

// The workloads of `objects` in the form of the vectors.
Json Workloads(const std::vector<kube::Object>& objects, const Json& want) {
  Json out = Json::array();
  for (const Json& workload : want) {
    for (const kube::Object& object : objects) {
      if (object.kind() != workload["kind"] || object.name() != workload["name"]) continue;
      Json entry = {
          {"kind", object.kind()}, {"name", object.name()}, {"pod", object.json()["spec"]["template"]["spec"]}};
      if (const Json* replicas = Find(object.json(), {"spec", "replicas"})) entry["replicas"] = *replicas;
      out.push_back(std::move(entry));
    }
  }
  return out;
}

void SortArgs(Json& workloads) {
  for (Json& workload : workloads) {
    for (Json& container : workload["pod"]["containers"]) {
      if (container.contains("args")) std::sort(container["args"].begin(), container["args"].end());
    }
  }
}

void SetManagerArgs(Json& workloads, std::string_view args) {
  for (Json& container : workloads[0]["pod"]["containers"]) {
    if (container["name"] == "manager") container["args"] = Split(args, ' ');
  }
}

void Check(const Json& vectors, const Json& c, const Departure& departure) {
  auto provider = api::ParseProvider(kube::Object(c["provider"]));
  ASSERT_TRUE(provider.ok()) << provider.error().message;
  auto result = RenderCase(vectors, c, *provider);
  std::string error = !departure.error.empty() ? departure.error : c.value("error", std::string());
  if (!error.empty()) {
    ASSERT_TRUE(result.error.has_value());
    EXPECT_THAT(result.error->error.message, HasSubstr(error));
    return;
  }
  ASSERT_TRUE(result.output.has_value()) << result.error->error.message;
  Json want = c["want"]["workloads"];
  if (!departure.args.empty()) SetManagerArgs(want, departure.args);
  Json got = Workloads(result.output->objects, want);
  if (c.value("args_any_order", false)) {
    SortArgs(got);
    SortArgs(want);
  }
  want = WithoutEmpty(want);
  got = WithoutEmpty(got);
  EXPECT_EQ(Json::diff(WithoutZeroes(want, got), WithoutZeroes(got, want)), Json::array());
}

void CheckReference(const Json& vectors, const Json& c) { Check(vectors, c, {}); }

void CheckOurs(const Json& vectors, const Json& c) { Check(vectors, c, Departures().at(c["id"].get<std::string>())); }

constexpr std::string_view kFile = "customisation.json";
constexpr size_t kOnVendors = 27;

TEST(CustomiseVectors, FollowTheReferenceButForTheSupersededOnes) {
  auto in_tree = [](const Json& vectors, const Json& c) { return FileOf(vectors, c) == nullptr; };
  RunVectors(std::string(kFile), CheckReference, CheckOurs, VectorPart{in_tree, 155 - kOnVendors});
}

const Json& AllVectors() {
  static const Json vectors = LoadVectors(std::string(kFile));
  return vectors;
}

std::vector<const Json*> CasesOnVendors() {
  std::vector<const Json*> out;
  if (GetReleaseSet() != ReleaseSet::kVendors) return out;
  for (const Json& c : AllVectors()["cases"]) {
    if (FileOf(AllVectors(), c) != nullptr) out.push_back(&c);
  }
  return out;
}

std::string CaseId(const testing::TestParamInfo<const Json*>& info) { return (*info.param)["id"].get<std::string>(); }

class CustomiseOnVendors : public testing::TestWithParam<const Json*> {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CustomiseOnVendors);  // for the other sets there is none
INSTANTIATE_TEST_SUITE_P(Vendors, CustomiseOnVendors, testing::ValuesIn(CasesOnVendors()), CaseId);

TEST_P(CustomiseOnVendors, FollowsTheReferenceOrWhatSupersedesIt) {
  EXPECT_EQ(CasesOnVendors().size(), kOnVendors);
  std::string file = FileOf(AllVectors(), *GetParam())->get<std::string>();
  const std::string id = file.substr(0, file.rfind('/'));
  CAPI_NEED_RELEASES(id);
  RunVector(std::string(kFile), AllVectors(), *GetParam(), CheckReference, CheckOurs);
}

}  // namespace
}  // namespace capi::templating
