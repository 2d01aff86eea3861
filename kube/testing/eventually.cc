#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/yaml/yaml.h"
#include "kube/testing/control_plane.h"

namespace capi::kube {
namespace {

[[noreturn]] void Die(const Error& error) {
  std::fprintf(stderr, "ApplyYaml: %s\n", error.message.c_str());
  std::abort();
}

Status ApplyDocument(Client& client, const Object& object) {
  Context ctx;
  auto resource = TRY(client.mapper().For(ctx, object.id().group_kind(), object.group_version().version));
  TRY(client.Apply(ctx, resource, object, {.field_manager = "test"}));
  return Ok();
}

}  // namespace

void ApplyYaml(Client& client, std::string_view yaml) {
  auto documents = ParseYamlStream(yaml);
  if (!documents.ok()) Die(documents.error());
  for (YamlDocument& document : *documents) {
    const Object object(std::move(document.value));
    Status done = Ok();
    // A kind whose CRD was applied this instant isn't served yet, though the CRD may say so.
    Eventually([&] {
      done = ApplyDocument(client, object);
      if (!done.ok() && done.code() == Code::kNotFound) client.mapper().Invalidate();
      return done.ok() || done.code() != Code::kNotFound;
    });
    if (!done.ok()) Die(done.error());
  }
}

bool Eventually(const std::function<bool()>& done, Millis timeout, Millis every) {
  constexpr Millis kLongest{50};
  Clock& clock = SystemClock();
  const MonoTime begun = clock.Monotonic();
  for (;;) {
    if (done()) return true;
    const Millis waited = std::chrono::duration_cast<Millis>(clock.Monotonic() - begun);
    if (waited >= timeout) return false;
    std::this_thread::sleep_for(std::clamp(waited / 20, every, std::max(every, kLongest)));
  }
}

}  // namespace capi::kube
