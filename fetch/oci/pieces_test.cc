// Pieces to which no answer comes.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/http/testing.h"
#include "base/mutex.h"
#include "fetch/oci/artifact.h"
#include "fetch/oci/image_testing.h"

namespace capi::fetch {
namespace {

using testing::ElementsAre;

constexpr size_t kMiB = 1u << 20;

// Takes what is written, but of pieces what `says` gives: a status, or 0 for no answer.
class Refusing {
 public:
  using Says = std::function<int(size_t piece, size_t asked)>;
  explicit Refusing(Says says) : says_(std::move(says)) {}

  // One layer of 17 MiB.
  Status Send() {
    const std::string layer(17 * kMiB, 'x');
    OciImage image;
    image.manifests = {{std::string(kOciManifestType), "{}"}};
    image.blobs = {{OciDigest(layer), layer.size()}};
    const Blobs blobs = {{OciDigest(layer), layer}};
    Hurried ctx;
    return OciPush(*api::ParseOciReference(server_.url() + "/org/image:v1"), {})
        .WriteImage(ctx, image, PieceOf(blobs), {});
  }
  // MiB of each that came.
  std::vector<size_t> pieces() const {
    MutexLock lock(mu_);
    return pieces_;
  }

 private:
  std::string Answer(const std::string& request) {
    auto is = [&request](std::string_view method) { return request.starts_with(method); };
    auto answer = [](int status, const std::string& more, std::string_view body = "") {
      return fmt::format("HTTP/1.1 {} x\r\n{}Content-Length: {}\r\n\r\n{}", status, more, body.size(), body);
    };
    const bool is_upload = request.find("/uploads/") < request.find("\r\n");
    if (is("HEAD ") || is("DELETE ")) return answer(404, "");
    if (is("GET ")) return is_upload ? answer(404, "") : answer(200, "", "{}");
    if (!is_upload) return answer(201, "");
    if (is("POST ")) return answer(202, "Location: /v2/org/image/blobs/uploads/1\r\n");
    MutexLock lock(mu_);
    pieces_.push_back((request.size() - request.find("\r\n\r\n") - 4) / kMiB);
    const int status = says_(pieces_.back(), pieces_.size());
    if (status == 0) return "";
    return answer(status == 202 && is("PUT ") ? 201 : status, "Location: /v2/org/image/blobs/uploads/1\r\n");
  }
  const Says says_;
  mutable Mutex mu_;
  std::vector<size_t> pieces_ CAPI_GUARDED_BY(mu_);
  http_testing::RawServer server_{[this](http_testing::Peer& peer, int) {
    for (std::string request; !(request = peer.ReadRequest()).empty();) {
      const std::string answer = Answer(request);
      if (answer.empty()) return;
      peer.Write(answer);
    }
  }};
};

// Some registries close a connection on which too much comes.
TEST(Pieces, SmallerOnesFollowWhereNoAnswerComes_L28) {
  Refusing registry([](size_t piece, size_t) { return piece > 4 ? 0 : 202; });
  Status sent = registry.Send();
  EXPECT_TRUE(sent.ok()) << sent.error().message;
  EXPECT_THAT(registry.pieces(), ElementsAre(16, 4, 4, 4, 4, 1));
}

// Stores of objects may want 5 MiB of each piece, and say so by a refusal alone: of the first one that is smaller, or
// of the next.
TEST(Pieces, LargerOnesFollowWhereSmallerAreRefused_L28) {
  for (int refusal : {400, 413, 416, 500}) {
    for (size_t later : {0u, 1u}) {
      SCOPED_TRACE(fmt::format("{} {}", refusal, later));
      Refusing registry([=](size_t piece, size_t asked) {
        if (asked == 1) return 0;
        return piece < 5 && piece > 1 && asked >= 2 + later ? refusal : 202;
      });
      Status sent = registry.Send();
      EXPECT_TRUE(sent.ok()) << sent.error().message;
      if (later == 0)
        EXPECT_THAT(registry.pieces(), ElementsAre(16, 4, 16, 1));
      else
        EXPECT_THAT(registry.pieces(), ElementsAre(16, 4, 4, 16, 1));
    }
  }
}

// One that is away is away: neither is refused.
TEST(Pieces, NoAnswerToAnyIsAnOutage_L28) {
  Refusing registry([](size_t, size_t) { return 0; });
  EXPECT_EQ(registry.Send().code(), Code::kUnavailable);
  EXPECT_THAT(registry.pieces(), ElementsAre(16, 4, 16, 4));
}

}  // namespace
}  // namespace capi::fetch
