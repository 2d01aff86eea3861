#include "api/schema/api_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/adoption.h"
#include "api/conversion/convert.h"
#include "api/kinds.h"
#include "api/schema/crds.h"
#include "api/schema/schema.h"

namespace capi::api {
namespace {

constexpr std::string_view kIntroduction = R"(# API reference

Printed from the tables in api/ by `gen_crds`; do not edit.

Group `{}`, version `{}`. All kinds are namespaced, belong to the categories
`capi-providers` and `cluster-api-operator`, and have the same spec and the same status.

```yaml
apiVersion: {}/{}
kind: InfrastructureProvider
metadata:
  name: aws
  namespace: capa-system
spec:
  version: v2.10.0
  configSecret:
    name: aws-variables
```

Conditions and their reasons are on a page of their own: [reasons.md](reasons.md). An example of each source that
`fetchConfig` may name, and which hosts these may be, is in [sources.md](sources.md).

## Version v1alpha1

`CoreProvider`, `BootstrapProvider`, `ControlPlaneProvider` and `InfrastructureProvider` are served at `{}` too: all fields
of this page, some of them in other words. The operator's webhook converts them, and nothing of a spec is lost on the way:
whoever writes `v1alpha1` reads the same at `v1alpha1`, from a note in an annotation. Only where an object's annotations have
no room left for it (256 KiB in all) it is read in the words of the table, with dashes before each argument. The API server
warns that the version is deprecated.

| v1alpha1 | v1alpha2 |
| --- | --- |
| `secretName`, `secretNamespace` | `configSecret.name`, `configSecret.namespace` |
| `deployment.containers[].image`, a text | `deployment.containers[].imageUrl` |
| `deployment.containers[].image`, with any of `repository`, `name` and `tag` | the same |
| `manager.metricsAddress` | `manager.metrics.bindAddress` |
| `syncPeriod: 660`, a number of seconds in any duration | `syncPeriod: 660s` |
| `args: {{awscluster-concurrency: 12}}`, numbers and switches, names without dashes | `args: {{"--awscluster-concurrency": "12"}}` |
| `status.conditions[].severity` | none: a condition that is `False` has `Error` where that is bad, else `Info` |
)";

struct AnnotationInfo {
  std::string_view name, meaning;
};
constexpr AnnotationInfo kAnnotations[] = {
    {kAnnotationPaused, "Hands off: the operator changes nothing and only says so in a condition."},
    {kAnnotationReconcileAt,
     "Any new value has a release fetched again that the operator fetched, or that `bundle load`, or `preload` for an "
     "object without a selector, put into the cluster; one that a selector finds (of `init`, say), or that you put "
     "there yourself, is read again. All of it is applied "
     "([more](upgrades.md#fetch-and-apply-everything-again))."},
    {kAnnotationAllowDowngrade, "`\"true\"` allows a spec.version that is older than what is installed."},
    {kAnnotationDeleteCrds, "`\"true\"` deletes the CRDs of the provider with it, once no object of theirs exists."},
    {kAnnotationOverwriteDifferences,
     "`\"true\"` lets the operator overwrite what differs from the release when it takes over what another tool "
     "installed."},
    {kAnnotationAllowedReferences,
     "Written by the operator's webhook: who may read what the spec names in other namespaces. Set to anything else, "
     "the "
     "rights of whoever does so are looked at again."},
    {kAnnotationForceDelete, "`\"true\"` deletes the provider though workload clusters or other providers need it."},
    {kAnnotationOldForm,
     "Written by the conversion: how the spec was written at v1alpha1 "
     "([format](formats.md#spec-as-it-was-written-at-the-other-version))."},
    {kAnnotationNewForm, "The same of an object at v1alpha1: how its spec was written at v1alpha2."},
};

std::string TypeOf(const Json& field) {
  if (field.contains("x-kubernetes-int-or-string")) return "integer or string";
  std::string type = GetString(field, {"type"});
  if (type == "array") return "list of " + TypeOf(field["items"]);
  if (field.contains("additionalProperties")) return "map of " + TypeOf(field["additionalProperties"]);
  return type;
}

// What else the schema says of a field, for its meaning.
std::string Notes(const Json& field, bool required) {
  std::string out;
  if (required) out += " Required.";
  if (field.contains("default") && !GetString(field, {"default"}, "other").empty()) {
    out += fmt::format(" Default: `{}`.", ToJsonText(field["default"]));
  }
  if (field.contains("minimum")) out += fmt::format(" At least {}.", field["minimum"].get<int>());
  if (GetString(field, {"x-kubernetes-list-type"}) == "map") {
    out += fmt::format(" One entry per `{}`.", field["x-kubernetes-list-map-keys"][0].get<std::string>());
  }
  return out;
}

bool IsRequired(const Json& parent, const std::string& name) {
  const Json* required = Find(parent, {"required"});
  return required != nullptr && std::find(required->begin(), required->end(), name) != required->end();
}

void AppendFields(const Json& object, const std::string& path, std::string& out) {
  const Json* fields = Find(object, {"properties"});
  if (fields == nullptr) return;
  for (const auto& [name, field] : fields->items()) {
    std::string at = path.empty() ? name : path + "." + name;
    out += fmt::format("| `{}` | {} | {}{} |\n", at, TypeOf(field), GetString(field, {"description"}),
                       Notes(field, IsRequired(object, name)));
    if (name == "additionalDeployments") continue;  // its entries are manager and deployment again
    if (field.contains("items")) {
      AppendFields(field["items"], at + "[]", out);
    } else {
      AppendFields(field, at, out);
    }
  }
}

std::string Table(std::string_view title, const Json& object) {
  std::string out = fmt::format("\n## {}\n\n| Field | Type | Meaning |\n| --- | --- | --- |\n", title);
  AppendFields(object, "", out);
  return out;
}

std::string Kinds() {
  std::string out = "\n## Kinds\n\n| Kind | Resource | Short name | Label `cluster.x-k8s.io/provider` |\n";
  out += "| --- | --- | --- | --- |\n";
  for (const ProviderKind& kind : kProviderKinds) {
    out += fmt::format("| `{}` | `{}` | `{}` | `{}` |\n", kind.kind, kind.plural, kind.short_name,
                       ManifestLabel(kind.type, "<name>"));
  }
  return out;
}

std::string Columns() {
  std::string out = "\n## Columns of kubectl get\n\n| Column | Meaning |\n| --- | --- |\n";
  for (const Json& column : PrinterColumns()) {
    bool wide = column.contains("priority");
    out += fmt::format("| {} | {}{} |\n", GetString(column, {"name"}), GetString(column, {"description"}),
                       wide ? " Shown with `-o wide`." : "");
  }
  return out;
}

std::string Annotations() {
  std::string out = "\n## Annotations\n\n| Annotation | Meaning |\n| --- | --- |\n";
  for (const AnnotationInfo& info : kAnnotations) out += fmt::format("| `{}` | {} |\n", info.name, info.meaning);
  return out;
}

}  // namespace

std::string ApiMarkdown() {
  return fmt::format(fmt::runtime(kIntroduction), kGroup, kVersion, kGroup, kVersion, kOldVersion) + Kinds() +
         Columns() + Annotations() + Table("Spec", schema::Spec()) + Table("Status", schema::Status());
}

}  // namespace capi::api
