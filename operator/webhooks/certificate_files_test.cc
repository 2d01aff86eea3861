#include "operator/webhooks/certificate_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/files.h"
#include "base/mutex.h"
#include "base/processes/temporary_folder.h"
#include "base/testing/await.h"

namespace capi::ops {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What was served and logged. Thread-safe.
struct Seen {
  Mutex mu;
  std::vector<std::string> served CAPI_GUARDED_BY(mu), logged CAPI_GUARDED_BY(mu);

  // As a server: a certificate is taken with its own key alone.
  Status Serve(const http::Certificate& certificate) {
    if (certificate.cert_pem != certificate.key_pem) return Error{Code::kInvalidArgument, "another key", {}};
    MutexLock lock(mu);
    served.push_back(certificate.cert_pem);
    return Ok();
  }
  static void Log(void* self, std::string_view line) {
    auto* seen = static_cast<Seen*>(self);
    MutexLock lock(seen->mu);
    seen->logged.emplace_back(line);
  }
  std::vector<std::string> Served() {
    MutexLock lock(mu);
    return served;
  }
  size_t Lines() {
    MutexLock lock(mu);
    return logged.size();
  }
};

TEST(ServeCertificateFiles, ServesWhatTheFilesHoldAndAgainWhenTheyChange) {  // T7
  TemporaryFolder folder;
  FakeClock clock;
  Seen seen;
  Context ctx;
  ctx.clock = &clock;
  ctx.log = Logger::ToSink(LogLevel::kWarn, LogFormat::kText, Seen::Log, &seen);
  std::jthread thread([&](const std::stop_token& stop) {
    auto serve = [&](const http::Certificate& certificate) { return seen.Serve(certificate); };
    EXPECT_TRUE(ServeCertificateFiles(ctx.WithStop(stop), folder.path(), serve).ok());
  });
  auto write = [&](const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFile(folder.path() + "/" + name, text).ok());
  };
  auto await = [&](const std::function<bool()>& done) {
    return Await([&] {
      clock.Advance(Millis(100));
      return done();
    });
  };
  EXPECT_TRUE(await([&] { return seen.Lines() == 1; })) << "there are none yet";
  EXPECT_THAT(seen.Served(), IsEmpty());
  write("tls.key", "one");
  write("tls.crt", "one");
  EXPECT_TRUE(await([&] { return seen.Served().size() == 1; }));
  size_t lines = seen.Lines();
  write("tls.crt", "two");
  EXPECT_TRUE(await([&] { return seen.Lines() > lines; })) << "half of a change can't be used";
  write("tls.key", "two");
  EXPECT_TRUE(await([&] { return seen.Served().size() == 2; }));
  EXPECT_THAT(seen.Served(), ElementsAre("one", "two")) << "each once";
}

}  // namespace
}  // namespace capi::ops
