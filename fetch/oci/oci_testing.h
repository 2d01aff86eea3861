// A registry on loopback that speaks the distribution protocol, for tests: with repository "org/provider", and with
// others as they are pushed.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/http/server/server.h"
#include "base/mutex.h"
#include "fetch/oci/oci.h"

namespace capi::fetch {

// A value.
struct OciArtifact {
  std::vector<std::pair<std::string, std::string>> files;  // title and text; "" for no title
  bool as_blobs = false;                                   // the older manifest of artifacts
};

// A request that came. A value.
struct OciRequest {
  std::string host;  // "registry", "tokens" or "store"
  std::string method, target, authorization, body;
};

enum class OciAuth { kNone, kBasic, kBearer };

// A registry, its token server, and the store that it redirects to for blobs. Tags come in pages of two. Takes what is
// pushed; where there are tokens, with one that was asked for with the right to push. Of uploads it is as strict as
// ghcr.io (a piece has 4 MiB at most) and as the one of the distribution project (it takes what comes next, of an
// upload that it knows, where the place says what there is; who takes one back needs the right to delete). Thread-safe.
class OciStandIn {
 public:
  // What answers in place of the stand-in, where it does. Set before the first request.
  using Fault = std::function<std::optional<http::Response>(const http::ServerRequest& request)>;

  explicit OciStandIn(std::map<std::string, OciArtifact> artifacts, OciAuth auth = OciAuth::kNone);
  ~OciStandIn();

  std::string reference(std::string_view rest = "") const;  // "http://127.0.0.1:1234/org/provider" and what is given
  std::string host() const;                                 // "127.0.0.1:1234"
  std::string token_host() const;                           // the same of its token server
  std::string digest(const std::string& tag) const;         // of its manifest
  std::unique_ptr<Repository> Open(std::string_view rest = "", OciOptions options = {}) const;
  std::vector<OciRequest> seen() const;
  void set_registry_fault(Fault fault) { registry_fault_ = std::move(fault); }
  void set_store_fault(Fault fault) { store_fault_ = std::move(fault); }
  void set_token_fault(Fault fault) { token_fault_ = std::move(fault); }
  // What it says of the length of pieces. Set before the first request.
  void set_least_piece(std::string least) { least_piece_ = std::move(least); }
  // Pieces of which it takes half, and answers 502. Set before the first request.
  void set_breaks_off(std::function<bool(const http::ServerRequest&)> which) { breaks_off_ = std::move(which); }
  // Uploads that are neither whole nor taken back.
  size_t uploads() const;
  // What it holds: the text of the manifest that a tag or a digest names ("/v2/org/aws/:v1.0.0" of another repository),
  // and that of a file; "" for none.
  std::string manifest(const std::string& which) const;
  std::string blob(const std::string& digest) const;
  // An image "org/name" and its tag: an index of these platforms, or without any a manifest alone, of linux/amd64. Each
  // has a layer of this text and the platform's name. Its digest.
  std::string PutImage(const std::string& repository, const std::string& tag, const std::vector<std::string>& platforms,
                       const std::string& layer);
  // Tokens that were given so far count no more.
  void ExpireTokens();

 private:
  http::Response Registry(const http::ServerRequest& request);
  http::Response Tokens(const http::ServerRequest& request);
  http::Response Store(const http::ServerRequest& request);
  http::Response Tags(const http::ServerRequest& request) const;
  http::Response Manifest(const std::string& which) const;
  http::Response Write(const http::ServerRequest& request, const std::string& base, const std::string& rest);
  http::Response WriteBlob(const http::ServerRequest& request, const std::string& base, const std::string& rest)
      CAPI_REQUIRES(mu_);
  http::Response PutManifest(const std::string& tag, const std::string& text) CAPI_REQUIRES(mu_);
  std::string PutImageManifest(const std::string& layer, const std::string& platform) CAPI_REQUIRES(mu_);
  std::optional<http::Response> Refusal(const http::ServerRequest& request) const;
  void Note(std::string_view host, const http::ServerRequest& request);

  const OciAuth auth_;
  std::vector<std::string> tags_;  // that it began with
  std::string least_piece_;
  Fault registry_fault_, store_fault_, token_fault_;
  std::function<bool(const http::ServerRequest&)> breaks_off_;
  mutable Mutex mu_;
  std::map<std::string, std::string> manifests_ CAPI_GUARDED_BY(mu_);  // by tag, and by digest
  std::map<std::string, std::string> blobs_ CAPI_GUARDED_BY(mu_);      // by digest
  std::map<std::string, std::string> uploads_ CAPI_GUARDED_BY(mu_);    // what came so far, by the end of their places
  int begun_ CAPI_GUARDED_BY(mu_) = 0;                                 // uploads
  std::vector<OciRequest> seen_ CAPI_GUARDED_BY(mu_);
  int generation_ CAPI_GUARDED_BY(mu_) = 1;  // of tokens
  // The registry's handlers name the other two: it ends first.
  std::unique_ptr<http::Server> store_, tokens_, registry_;
};

// Who waits for it has waited at once: its time is the real one, and those waits. Thread-compatible.
class HurriedClock : public Clock {
 public:
  WallTime Now() override { return SystemClock().Now() + hurried_; }
  MonoTime Monotonic() override { return SystemClock().Monotonic() + hurried_; }
  bool WaitUntil(std::condition_variable_any&, Mutex&, const std::stop_token&, MonoTime deadline,
                 const std::function<bool()>& ready) override {
    const auto wait = deadline - Monotonic();
    waits.push_back(std::chrono::round<Seconds>(wait));
    hurried_ += std::chrono::ceil<Millis>(wait);
    return ready();
  }
  std::vector<Seconds> waits;

 protected:
  Millis hurried_{0};
};

inline constexpr std::string_view kOciUser = "robot", kOciPassword = "s3cret", kOciRefresh = "r3fresh";
inline constexpr std::string_view kOciMetadata =
    "apiVersion: clusterctl.cluster.x-k8s.io/v1alpha3\nkind: Metadata\nreleaseSeries:\n"
    "- {major: 1, minor: 10, contract: v1beta1}\n- {major: 1, minor: 11, contract: v1beta2}\n";

// With metadata.yaml and components.yaml.
OciArtifact PlainArtifact(std::string components = "kind: Namespace\n");
http::Response OciAnswer(int status, std::string body = "{}");

}  // namespace capi::fetch
