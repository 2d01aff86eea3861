#include "operator/webhooks/serving_certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/http/certificate.h"
#include "base/testing/value_or_abort.h"

namespace capi::ops {
namespace {

using std::chrono::hours;
namespace key = certificate_key;

constexpr hours kDay{24}, kYear{24 * 365};
const WallTime kStart{Seconds(1'800'000'000)};
const std::vector<std::string> kHosts = {"127.0.0.1", "x.ns.svc"};

CertificateInputs At(WallTime now, std::optional<WallTime> injected_since = {}) {
  return {kHosts, now, injected_since};
}

SecretData Do(CertificateStep step, const SecretData& data, const CertificateInputs& inputs) {
  return ValueOrAbort(MakeCertificate(step, data, inputs), StepName(step));
}

SecretData Made() { return Do(CertificateStep::kMakeAll, {}, At(kStart)); }

SecretData With(SecretData data, const char* name, const std::string& value) {
  data[name] = value;
  return data;
}

SecretData Without(SecretData data, const char* name) {
  data.erase(name);
  return data;
}

void ExpectStep(const std::optional<SecretData>& data, const CertificateInputs& inputs, CertificateStep step) {
  auto plan = PlanCertificate(data, inputs);
  EXPECT_EQ(StepName(plan.step), StepName(step)) << plan.why;
  EXPECT_EQ(plan.why.empty(), step == CertificateStep::kKeep);
  if (step == CertificateStep::kKeep) return;
  auto made = MakeCertificate(step, data.value_or(SecretData()), inputs);
  ASSERT_TRUE(made.ok()) << made.error().message;
  auto after = PlanCertificate(*made, inputs);
  EXPECT_EQ(StepName(after.step), "Kept") << after.why << ": one step is enough for now";
}

TEST(PlanCertificate, TakesOneStepAtATime) {  // T7
  const SecretData made = Made(), other = Made();
  // At the moments of a rotation, with serving certificates that were renewed in time.
  const WallTime later = kStart + kYear * 2 + kDay * 10, switched = later + kDay;
  const SecretData late = Do(CertificateStep::kRenew, made, At(later - kDay));
  const SecretData both = Do(CertificateStep::kTrustNext, late, At(later));
  const SecretData next = Do(CertificateStep::kIssueByNext, both, At(switched, later));
  CertificateInputs more_hosts = At(kStart + kDay), fewer_hosts = At(kStart + kDay);
  more_hosts.hosts.push_back("y.ns.svc");
  fewer_hosts.hosts.pop_back();
  const Seconds a_moment(1);
  using Step = CertificateStep;
  struct Case {
    std::string_view name;
    std::optional<SecretData> data;
    CertificateInputs inputs;
    Step step;
  };
  const Case cases[] = {
      {"there is none", std::nullopt, At(kStart), Step::kMakeAll},
      {"an empty one", SecretData{}, At(kStart), Step::kMakeAll},
      {"somebody else's", SecretData{{"password", "x"}}, At(kStart), Step::kMakeAll},
      {"fresh", made, At(kStart), Step::kKeep},
      {"fresh, for a clock that is behind", made, At(kStart - Seconds(3000)), Step::kKeep},
      {"before two thirds of its life", made, At(kStart + kDay * 59), Step::kKeep},
      {"after two thirds of its life", made, At(kStart + kDay * 61), Step::kRenew},
      {"expired", made, At(kStart + kDay * 91), Step::kRenew},
      {"not yet valid: the clock went back", made, At(kStart - kDay), Step::kMakeAll},
      {"everything expired", made, At(kStart + kYear * 3 + kDay), Step::kMakeAll},
      {"one host more", made, more_hosts, Step::kRenew},
      {"one host less", made, fewer_hosts, Step::kRenew},
      {"no certificate", Without(made, key::kServing), At(kStart), Step::kRenew},
      {"no key", Without(made, key::kServingKey), At(kStart), Step::kRenew},
      {"a damaged certificate", With(made, key::kServing, "nonsense"), At(kStart), Step::kRenew},
      {"the key of another", With(made, key::kServingKey, other.at(key::kServingKey)), At(kStart), Step::kRenew},
      {"a certificate of another CA",
       With(With(made, key::kServing, other.at(key::kServing)), key::kServingKey, other.at(key::kServingKey)),
       At(kStart), Step::kRenew},
      {"no bundle", Without(made, key::kBundle), At(kStart), Step::kMakeAll},
      {"a damaged bundle", With(made, key::kBundle, made.at(key::kBundle) + "-----BEGIN CERTIFICATE-----\n"),
       At(kStart), Step::kMakeAll},
      {"a bundle without a CA", With(made, key::kBundle, made.at(key::kServing)), At(kStart), Step::kMakeAll},
      {"no CA's key: what is served can go on", Without(made, key::kAuthorityKey), At(kStart), Step::kTrustNext},
      {"no CA's key, and nothing to serve", Without(Without(made, key::kAuthorityKey), key::kServing), At(kStart),
       Step::kMakeAll},
      {"another CA's key", With(made, key::kAuthorityKey, other.at(key::kAuthorityKey)), At(kStart), Step::kTrustNext},
      {"two thirds of the CA's life", late, At(later), Step::kTrustNext},
      {"the next CA isn't everywhere", both, At(later + kDay), Step::kKeep},
      {"the next CA is everywhere just now", both, At(later + kDay, later + kDay), Step::kKeep},
      {"a moment too early", both, At(later + kBundleSettles - a_moment, later), Step::kKeep},
      {"the next CA has settled", both, At(later + kBundleSettles, later), Step::kIssueByNext},
      {"meanwhile the certificate is due", both, At(later + kDay * 61), Step::kRenew},
      {"the next CA alone has its key, and nothing to serve", Without(Without(both, key::kAuthorityKey), key::kServing),
       At(later), Step::kIssueByNext},
      {"the former CA's certificate may still be served", Do(Step::kRenew, next, At(switched + kDay * 61)),
       At(switched + kDay * 89), Step::kKeep},
      {"the next CA is there, and nothing to serve can be read",
       With(Without(both, key::kAuthorityKey), key::kServing, "nonsense"), At(later), Step::kIssueByNext},
      {"the former CA's certificate has just ended", Do(Step::kRenew, next, At(switched + kDay * 61)),
       At(switched + kDay * 90), Step::kDropOthers},
      {"a former CA's end, and no former CA", With(made, key::kOthersTrustedUntil, FormatTime(kStart)),
       At(kStart + kDay), Step::kKeep},
      {"one that ends with its CA is followed by none that would end later",
       Do(Step::kRenew, both, At(kStart + kYear * 3 - kDay * 60)), At(kStart + kYear * 3 - kDay * 15), Step::kKeep},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    ExpectStep(c.data, c.inputs, c.step);
  }
}

TEST(MakeCertificate, RefusesAStepWithoutItsCa) {
  EXPECT_EQ(MakeCertificate(CertificateStep::kRenew, {}, At(kStart)).code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeCertificate(CertificateStep::kIssueByNext, Made(), At(kStart)).code(), Code::kInvalidArgument);
  EXPECT_EQ(MakeCertificate(CertificateStep::kDropOthers, {}, At(kStart)).code(), Code::kInvalidArgument);
}

// A cluster over the years: the leader looks now and then, the bundle reaches what clients trust by late, API servers
// see it some minutes later, and replicas serve what they last saw of the Secret.
class World {
 public:
  explicit World(unsigned seed) : random_(seed) {}

  void Step(WallTime now) {
    Inject(now);
    auto plan = PlanCertificate(data_, {kHosts, now, injected_since_});
    ++steps_[std::string(StepName(plan.step))];
    if (plan.step != CertificateStep::kKeep) Write(plan.step, now);
    CatchUp(now);
  }
  // "" or why a client that trusts what API servers know would refuse a replica.
  std::string Refused(WallTime now) const {
    for (const SecretData& served : served_) {
      for (const std::string& host : kHosts) {
        auto verified = http::VerifyServing(served.at(key::kServing), known_bundle_, host, now);
        if (!verified.ok()) return verified.error().message;
      }
    }
    return "";
  }
  int Count(const std::string& step) const {
    auto found = steps_.find(step);
    return found == steps_.end() ? 0 : found->second;
  }
  const SecretData& data() const { return *data_; }

 private:
  bool Chance(int one_in) { return random_() % static_cast<unsigned>(one_in) == 0; }

  void Inject(WallTime now) {
    if (!data_ || injected_ == data_->at(key::kBundle)) return;
    if (!injected_.empty() && !Chance(5)) return;  // ten days on average
    injected_ = data_->at(key::kBundle);
    injected_since_ = now;
    if (known_bundle_.empty()) known_bundle_ = injected_;
  }
  void Write(CertificateStep step, WallTime now) {
    SecretData before = data_.value_or(SecretData());
    data_ = Do(step, before, {kHosts, now, injected_since_});
    if (before[key::kBundle] != data_->at(key::kBundle)) injected_since_.reset();
  }
  // A step takes longer than API servers need to see what was injected; replicas may be twenty days behind.
  void CatchUp(WallTime now) {
    if (injected_since_ && now > *injected_since_) known_bundle_ = injected_;
    if (served_.empty()) served_.assign(3, *data_);
    served_[0] = *data_;
    for (size_t i = 1; i < served_.size(); ++i) {
      if (Chance(5) || now - behind_since_[i] > kDay * 20) {
        served_[i] = *data_;
        behind_since_[i] = now;
      }
    }
  }

  std::mt19937 random_;
  std::optional<SecretData> data_;
  std::string injected_, known_bundle_;
  std::optional<WallTime> injected_since_;
  std::vector<SecretData> served_;
  WallTime behind_since_[3] = {};
  std::map<std::string, int> steps_;
};

TEST(PlanCertificate, ServesNothingInYearsThatIsNotTrusted) {  // T7
  World world(/*seed=*/1);
  WallTime now = kStart;
  world.Step(now);
  world.Step(now + Seconds(600));  // the first bundle comes to everybody
  for (now += kDay; now < kStart + kYear * 7; now += kDay * 2) {
    world.Step(now);
    ASSERT_EQ(world.Refused(now), "") << "day " << (now - kStart) / kDay;
  }
  EXPECT_EQ(world.Count("Made"), 1) << "never all at once";
  EXPECT_EQ(world.Count("AuthorityReplaced"), 3) << "every two years";
  EXPECT_EQ(world.Count("FormerAuthorityDropped"), 3);
  EXPECT_GT(world.Count("Renewed"), 30);
  EXPECT_LT(world.Count("Renewed"), 60);
  EXPECT_EQ(http::SplitCertificates(world.data().at(key::kBundle))->size(), 1u);
}

}  // namespace
}  // namespace capi::ops
