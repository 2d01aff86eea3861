// From a release's text to its objects: every error names a place or what is missing, and none tells a variable's
// value.
#include "base/fuzz.h"
#include "templating/parse.h"
#include "templating/substitute.h"

CAPI_FUZZ(substitute, "templating",
          {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${NAME:=a}}\n---\napiVersion: v1\nkind: "
           "Secret\nmetadata:\n  name: ${B}\n",
           "a: ${B}\n  c: ${D}\n", "a: 'x\nb: ${C}\n", "# nothing ${A}\n", "kind: ${K}\napiVersion: [", "${Q}: *${R}\n",
           "p: !!int\n  ${B}\n", "p: !!bool \"x\n  ${B}\"\n", "\rp: *${B}\n",
           "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, labels: {${B}: ${ABC:=5}}}\n"}) {
  using namespace capi::templating;
  constexpr std::string_view kSecret = "qZ7sEcReTvAlUe";
  auto tells = [&](const std::string& message) { return message.find(kSecret) != message.npos; };
  size_t half = input.find("\n%%%%\n");
  Source source(input.substr(0, half), half == input.npos ? "" : input.substr(half + 6));
  // What breaks YAML, and a plain word.
  auto value = [&](const std::string& name) -> std::optional<std::string> {
    if (name.size() % 3 == 0) return std::nullopt;
    return (name.size() % 3 == 1 ? "" : "\n- {\"") + std::string(kSecret);
  };
  Substituted out;
  if (auto error = Substitute(source, value, true, out)) {
    const std::string& message = error->error.message;
    FUZZ_REQUIRE(!tells(message));
    bool missing = message.starts_with("failed to perform variable substitution: ");
    FUZZ_REQUIRE(missing ? !error->missing.empty() : message.starts_with("variable at line "));
    return;
  }
  auto objects = ParseObjects(source, out);
  if (objects.ok()) {
    FUZZ_REQUIRE(!objects->objects.empty());
    FUZZ_REQUIRE(objects->places.size() == objects->objects.size());
    for (const capi::kube::Object& object : objects->objects) FUZZ_REQUIRE(!object.kind().empty());
    return;
  }
  const std::string& message = objects.error().message;
  FUZZ_REQUIRE(!tells(message) || input.find(kSecret) != input.npos);
  FUZZ_REQUIRE(message.find(" line ") != message.npos || message.find("there is no object") != message.npos);
}
