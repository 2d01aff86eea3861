// Installer::RenderAgain: what is applied, rendered once more to restore from it (behaviour.md D1).
#include "operator/act/install/installation.h"
#include "operator/act/install/installer.h"

namespace capi::ops {

std::optional<Hold> Installer::RenderAgain(const Context& ctx, const Observation& o, PhaseTimes& times) {
  const StoredRelease* stored = AppliedRelease(o);
  Observation then = o;
  then.provider.spec.version = stored->version->ToString();
  Installation m;
  m.stored = *stored;
  std::optional<Hold> held = Load(ctx, then, m);
  if (!held) held = Inspect(then, m);
  if (!held) held = Render(ctx, then, m);
  AddTimes(times, m.times);
  if (held) return held;
  KeepRender(o, o.provider.status.applied, m);
  ctx.log.Info("rendered what is applied again", {{"version", m.candidate.version.ToString()}});
  return std::nullopt;
}

}  // namespace capi::ops
