#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/yaml.h"
#include "kube/testing/control_plane.h"

namespace capi::kube {
namespace {

[[noreturn]] void Die(const Error& error) {
  std::fprintf(stderr, "ApplyYaml: %s\n", error.message.c_str());
  std::abort();
}

Status ApplyDocument(Client& client, Object object) {
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
    auto done = ApplyDocument(client, Object(std::move(document.value)));
    if (!done.ok()) Die(done.error());
  }
}

bool Eventually(const std::function<bool()>& done, Millis timeout, Millis every) {
  Clock& clock = SystemClock();
  MonoTime end = clock.Monotonic() + timeout;
  for (;;) {
    if (done()) return true;
    if (clock.Monotonic() >= end) return false;
    std::this_thread::sleep_for(every);
  }
}

}  // namespace capi::kube
