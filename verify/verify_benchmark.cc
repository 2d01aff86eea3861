// What the verification of a release costs: its components file, with each kind of key.
#include <benchmark/benchmark.h>

#include "base/encoding.h"
#include "base/testing/value_or_abort.h"
#include "verify/bundle.h"
#include "verify/keys.h"
#include "verify/keys_testing.h"

namespace capi::verify {
namespace {

constexpr size_t kSize = 3'000'000;  // as large as components files of providers are

void Verify(benchmark::State& state, const char* kind) {
  const KeyPair pair(kind);
  const std::string text(kSize, 'a'), signature = Base64Encode(pair.Sign(text));
  const PublicKeys keys = ValueOrAbort(PublicKeys::Read({{"cosign.pub", pair.PublicPem()}}), "a key");
  for (auto _ : state) {
    Message message(text);
    if (!CheckFileSignature(keys, message, signature).ok()) state.SkipWithError("it isn't verified");
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kSize));
}

BENCHMARK_CAPTURE(Verify, P256, "P-256")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Verify, P384, "P-384")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Verify, RSA4096, "RSA4096")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Verify, Ed25519, "Ed25519")->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace capi::verify

BENCHMARK_MAIN();
