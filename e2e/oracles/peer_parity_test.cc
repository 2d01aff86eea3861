// What a user customises gives the same objects here as with the pinned real peer, on a real API server, except for the
// differences that e2e/peer/cases.yaml names. docs/peer-parity.md has the table.
//
// What the peer makes of the cases lies in e2e/peer/recorded.json. The long mode makes it anew and compares;
// CAPI_PEER_RECORD=1 makes it anew and writes it, and the table. Both are of the tree's own releases.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "e2e/oracles/peer_cases.h"
#include "e2e/support/operator_process.h"
#include "e2e/support/other_tools.h"

namespace capi::e2e {
namespace {

constexpr const char* kRecorded = "e2e/peer/recorded.json";
constexpr const char* kPage = "docs/peer-parity.md";
constexpr std::string_view kBegin = "<!-- made by e2e_peer_parity_test -->\n", kEnd = "<!-- end -->\n";
constexpr const char* kBase = "nothing";  // the case that customises nothing

// The version that e2e/tools pins.
std::string PeerVersion() {
  for (const std::string& folder : ListDir("e2e/tools").value()) {
    auto text = ReadFile("e2e/tools/" + folder + "/go.mod");
    if (!text.ok()) continue;
    for (const std::string& line : Split(*text, '\n')) {
      auto words = Split(Trim(line), ' ');
      if (words.size() >= 2 && words[0] == "sigs.k8s.io/cluster-api-operator") return words[1];
    }
  }
  return "";
}

Outcomes InstallAll(kube::ControlPlane& plane, const std::vector<PeerCase>& cases, Millis timeout) {
  Cluster cluster(plane);
  InstallPeerCore(cluster);
  for (const PeerCase& c : cases) Install(cluster, c);
  return AwaitOutcomes(cluster, cases, timeout);
}

Outcomes WithPeer(const std::vector<PeerCase>& cases) {
  auto plane = kube::ControlPlane::Start().value();
  Cluster prepared(*plane);  // the peer ends itself where its CRDs are missing
  PeerOperator peer(plane->kubeconfig());
  Outcomes outcomes = InstallAll(*plane, cases, Seconds(900));
  EXPECT_TRUE(peer.running()) << peer.LogTail();
  return outcomes;
}

// W24: a patch without effect is named in a condition and by an event, and isn't fatal.
void ExpectWarning(Cluster& cluster, const PeerCase& c) {
  constexpr std::string_view kWhat = "spec.patches[0] (DaemonSet) matches no object";
  EXPECT_EQ(cluster.See(api::ProviderType::kIpam, c.ns(), c.name()).Message("Warnings"), kWhat);
  auto events = cluster.client().List(cluster.ctx(), kube::Builtin("Event"), c.ns());
  ASSERT_TRUE(events.ok()) << events.error().message;
  EXPECT_TRUE(std::any_of(events->items.begin(), events->items.end(), [&](const kube::Object& event) {
    return GetString(event.json(), {"type"}) == "Warning" && ToJsonText(event.json()).find(kWhat) != std::string::npos;
  }));
}

// I9a: what would end a known manager is refused before anything is applied.
void ExpectRefusal(Cluster& cluster) {
  ReleaseFolder release = GetRelease("bootstrap-kubeadm", "v1.12.0");
  cluster.CreateNamespace("refused");
  cluster.StoreRelease("refused", release);
  Json spec = SelectorSpec(release);
  spec["manager"] = {{"webhook", {{"host", "127.0.0.1"}}}};
  cluster.ApplyProvider(release.type, "refused", release.name, spec);
  cluster.AwaitReason(release.type, "refused", release.name, "PreflightCheckPassed", "UnsupportedManagerField");
  Seen seen = cluster.See(release.type, "refused", release.name);
  EXPECT_NE(seen.Message("PreflightCheckPassed").find("spec.manager.webhook.host: "), std::string::npos)
      << seen.Describe();
  EXPECT_EQ(seen.Status("Stalled"), "True") << seen.Describe();
  EXPECT_FALSE(cluster.Exists({"apps", "Deployment", "refused", "capi-kubeadm-bootstrap-controller-manager"}));
}

Outcomes WithOurs(const std::vector<PeerCase>& cases) {
  auto& plane = kube::ControlPlane::Shared(false);
  Cluster cluster(plane);
  OperatorProcess ours(plane.kubeconfig());
  Outcomes outcomes = InstallAll(plane, cases, Seconds(120));
  for (const PeerCase& c : cases) {
    if (c.field == "patches, no such target") ExpectWarning(cluster, c);
  }
  ExpectRefusal(cluster);
  return outcomes;
}

// The file's form: the objects of the base case, and per case the difference from them.
Json ToRecord(const std::vector<PeerCase>& cases, const Outcomes& outcomes) {
  const Json& base = outcomes.at(kBase).at("objects");
  Json out = {{"peer", PeerVersion()}, {"base", base}, {"cases", Json::object()}};
  for (const PeerCase& c : cases) {
    const Json& outcome = outcomes.at(c.field);
    Json entry = {{"input", c.input()}};
    if (outcome.contains("reason")) {
      entry["reason"] = outcome["reason"];
    } else {
      entry["diff"] = Json::diff(base, outcome["objects"]);
    }
    out["cases"][c.field] = std::move(entry);
  }
  return out;
}

Outcomes FromRecord(const Json& record) {
  Outcomes outcomes;
  for (const auto& [field, entry] : record["cases"].items()) {
    if (entry.contains("reason")) {
      outcomes[field] = {{"reason", entry["reason"]}};
    } else {
      outcomes[field] = {{"objects", record["base"].patch(entry["diff"])}};
    }
  }
  return outcomes;
}

// A merge patch that goes into the items of lists, one by one, where they are maps.
void Change(Json& target, const Json& patch) {
  if (patch.is_array() && target.is_array() && !patch.empty() && patch.front().is_object()) {
    for (size_t i = 0; i < patch.size() && i < target.size(); ++i) Change(target[i], patch[i]);
  } else if (patch.is_object() && target.is_object()) {
    for (const auto& [key, value] : patch.items()) {
      if (value.is_null()) {
        target.erase(key);
      } else {
        Change(target[key], value);
      }
    }
  } else {
    target = patch;
  }
}

// What we have to make of a case: what the peer does, except for the named differences. I14: ours have no owners.
Json Expected(const PeerCase& c, const Outcomes& peer) {
  if (!c.reason.empty()) return {{"reason", c.reason}};
  Json out = peer.at(c.field);
  if (c.differs && out.contains("reason")) out = peer.at(kBase);
  if (c.differs) Change(out["objects"], c.change);
  if (!out.contains("objects")) return out;
  for (Json& object : out["objects"]) object["metadata"].erase("ownerReferences");
  return out;
}

std::string Row(const PeerCase& c, const Json& peer) {
  std::string refused = peer.contains("reason") ? fmt::format("the peer fails: `{}`", GetString(peer, {"reason"})) : "";
  std::string ours = refused.empty() ? "same objects" : "both refuse: `" + GetString(peer, {"reason"}) + "`";
  if (c.differs) ours = fmt::format("differs, {}: {}{}{}", c.rule, c.why, refused.empty() ? "" : "; ", refused);
  return fmt::format("| `{}` | {} |\n", c.field, ours);
}

// The page with the table that these outcomes give.
std::string Page(const std::string& now, const std::vector<PeerCase>& cases, const Outcomes& peer) {
  size_t begin = now.find(kBegin), end = now.find(kEnd);
  if (begin == std::string::npos || end == std::string::npos) return "";
  std::string table = "| What is customised | Against " + PeerVersion() + " of the peer |\n| --- | --- |\n";
  for (const PeerCase& c : cases) table += Row(c, peer.at(c.field));
  return now.substr(0, begin + kBegin.size()) + "\n" + table + "\n" + now.substr(end);
}

TEST(PeerParity, SameObjectsButForTheDifferencesNamed) {
  if (GetReleaseSet() != ReleaseSet::kTree) GTEST_SKIP() << "the record is of the tree's own releases";
  const auto cases = ReadPeerCases();
  const bool write = IsSet("CAPI_PEER_RECORD");
  if (write || TestLength() == Length::kLong) {
    Json fresh = ToRecord(cases, WithPeer(cases));
    if (write) {
      ASSERT_TRUE(WriteFile(kRecorded, fresh.dump(1) + "\n").ok());
      std::string page = Page(ReadFile(kPage).value(), cases, FromRecord(fresh));
      ASSERT_TRUE(WriteFile(kPage, page).ok());
    }
    EXPECT_EQ(Json::diff(ParseJson(ReadFile(kRecorded).value()).value(), fresh), Json::array());
  }
  const Json record = ParseJson(ReadFile(kRecorded).value()).value();
  ASSERT_EQ(record["peer"], PeerVersion()) << "make it anew: CAPI_PEER_RECORD=1";
  ASSERT_EQ(record["cases"].size(), cases.size());
  for (const PeerCase& c : cases) {
    ASSERT_EQ(record["cases"][c.field]["input"], c.input()) << c.field << " has changed: CAPI_PEER_RECORD=1";
  }
  const Outcomes peer = FromRecord(record), ours = WithOurs(cases);
  for (const PeerCase& c : cases) {
    Json expected = Expected(c, peer);
    EXPECT_EQ(Json::diff(expected, ours.at(c.field)), Json::array()) << c.field;
    if (!c.differs) continue;
    // A difference in owners alone has nothing to change.
    const Json same = c.change.empty() ? peer.at(c.field) : Expected(PeerCase{.field = c.field}, peer);
    EXPECT_NE(expected, same) << c.field << " names no difference";
  }
  EXPECT_EQ(Page(ReadFile(kPage).value(), cases, peer), ReadFile(kPage).value()) << "CAPI_PEER_RECORD=1 writes it";
}

}  // namespace
}  // namespace capi::e2e
