// spec: what a user declares.
#include "api/schema/schema.h"

namespace capi::api::schema {
namespace {

constexpr std::string_view kOwnNamespace =
    "Its namespace; the provider's own when not set. Another one needs the right to get what is named there, or an "
    "operator that allows all.";

Json SecretReference(std::string_view description) {
  return Reference(description, "Name of the Secret.", kOwnNamespace);
}

// Of a field that the peer doesn't have: an empty name was never stored.
Json OwnSecretReference(std::string_view description) {
  Json reference = SecretReference(description);
  reference["properties"]["name"]["minLength"] = 1;
  return reference;
}

Json Git() {
  return Object(
      "A git repository with releases; a tag is a version.",
      {{"url",
        With(Text("Where the repository is, like https://example.com/org/repo.git or git@example.com:org/repo.git."),
             {{"minLength", 1}})},
       {"path",
        Text("Folder in the repository that has metadata.yaml and the components file; without it the top one.")},
       {"secretRef",
        OwnSecretReference("Secret with credentials for this repository: username and password, or bearerToken; and "
                           "ca.crt for a server with a certificate of a CA of its own. Over ssh, which needs it: "
                           "identity and known_hosts.")}},
      {"url"});
}

Json Verify() {
  return Object(
      "How the release, its metadata and its components file, is verified before anything of it is used, offline: by "
      "the signatures that lie beside its files, or beside its artifact in a registry.",
      {{"provider", OneOf("The method; cosign is the one there is.", {"cosign"})},
       {"secretRef",
        OwnSecretReference(
            "Secret with the public keys, each under a name that ends with .pub; one of them is enough.")}},
      {"provider", "secretRef"});
}

Json FetchConfig() {
  Json config = Object(
      "Where the releases of the provider are: exactly one of url, oci, git and selector. Without it the built-in "
      "registry says where.",
      {{"url", Text("URL of the components file of a release on GitHub or GitLab, like "
                    "https://github.com/org/repo/releases/latest/infrastructure-components.yaml or "
                    "https://gitlab.example.com/api/v4/projects/org%2Frepo/packages/generic/package/latest/"
                    "infrastructure-components.yaml; or in a folder on a server, like "
                    "https://files.example.com/aws/latest/infrastructure-components.yaml. Others are refused.")},
       {"oci",
        Text("Repository or artifact in an OCI registry, like registry.example.com/org/provider; with :tag or @digest "
             "that artifact alone, else spec.version is the tag. Plain HTTP with http:// before it.")},
       {"selector", LabelSelector("ConfigMaps in the provider's namespace, each with one release. Their version is in "
                                  "label provider.cluster.x-k8s.io/version, or it is their name.")},
       {"git", Git()},
       {"secretRef",
        OwnSecretReference(
            "Secret with credentials for oci: OCI_USERNAME and OCI_PASSWORD, OCI_ACCESS_TOKEN or OCI_REFRESH_TOKEN; "
            "without it, those of configSecret. With another source refused; configSecret has the token for GitHub or "
            "GitLab.")},
       {"digest",
        With(Text("Digest of the components file; another file is refused."), {{"pattern", "^sha256:[0-9a-f]{64}$"}})},
       {"verify", Verify()}});
  return Rule(std::move(config), "[has(self.oci), has(self.url), has(self.selector), has(self.git)].exists_one(x,x)",
              "Must specify one and only one of {oci, url, selector, git}");
}

Json Patches() {
  Json target = Object("Objects that are patched: those for which every given field fits; all when not set.",
                       {{"group", Text("API group of the object, like apps.")},
                        {"version", Text("API version of the object, like v1.")},
                        {"kind", Text("Kind of the object, like Deployment.")},
                        {"name", Text("Name of the object.")},
                        {"namespace", Text("Namespace of the object.")},
                        {"labelSelector", Text("Labels of the object, as a selector like \"a=b,c in (d,e)\".")}});
  Json patch = Object("One patch, and the objects that it is for.",
                      {{"patch", Text("YAML or JSON: a list is a JSON patch (RFC 6902), an object a merge patch.")},
                       {"target", std::move(target)}});
  return ListOf("Patches for the objects of the release, in this order. Excludes manifestPatches.", std::move(patch));
}

Json Rollout() {
  return Object(
      "How long a change may take, and what happens when it fails.",
      {{"timeout", With(Duration("How long workloads may take to become healthy; 10m when not set."),
                        {{"pattern", R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)"}})},
       {"onFailure", OneOf("Hold (the default) leaves the old pods serving and says what is wrong; Rollback applies "
                           "the last good release again.",
                           {"Hold", "Rollback"})}});
}

Json Window() {
  return Object(
      "When such an upgrade may begin; at any time when not set.",
      {{"start", With(Text("Time of day in UTC, like \"02:00\"."), {{"pattern", "^([01][0-9]|2[0-3]):[0-5][0-9]$"}})},
       {"duration", With(Duration("How long it is open, 24h at most, like 2h."),
                         {{"pattern", R"(^([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+$)"}})},
       {"days", ListOf("Days on which it starts; every day when not set.",
                       OneOf("A day.", {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}))}},
      {"start", "duration"});
}

Json UpgradePolicy() {
  return Object(
      "Which newer versions the operator installs by itself; spec.version is the least one then, and isn't changed.",
      {{"type", OneOf("None installs nothing but spec.version; Patch the newest patch version of its "
                      "series; Minor the newest version of its major version. Another contract than the installed one "
                      "is never chosen.",
                      {"None", "Patch", "Minor"})},
       {"window", Window()}},
      {"type"});
}

Json AdditionalDeployments(ApiVersion version) {
  Json one =
      Object("Overrides of one Deployment.", {{"manager", Manager(version)}, {"deployment", Deployment(version)}});
  return MapOf("Overrides of further Deployments of the release, by the name of the Deployment.", std::move(one));
}

}  // namespace

Json Spec(ApiVersion version) {
  Json spec = Object(
      "What the provider is to be.",
      {{"version", Text("Version of the release, like v1.2.3. When not set, the newest stable version that fits is "
                        "chosen once and written here.")},
       {"paused", Flag("Scale all workloads of the provider to zero, and stop correcting drift.")},
       {"manager", Manager(version)},
       {"deployment", Deployment(version)},
       {"additionalDeployments", AdditionalDeployments(version)},
       {"fetchConfig", FetchConfig()},
       {"additionalManifests", Reference("ConfigMap with more objects to apply with the release, under key manifests.",
                                         "Name of the ConfigMap.", kOwnNamespace)},
       {"serviceAccountName", Text("ServiceAccount of the provider's own namespace in whose name the provider is "
                                   "applied, scaled and removed; the operator's when not set.")},
       {"manifestPatches", ListOf("Merge patches (RFC 7396) as YAML, each with kind, apiVersion and name of what it "
                                  "is for. Excludes patches.",
                                  Text("One merge patch."))},
       {"patches", Patches()},
       {"rollout", Rollout()},
       {"upgradePolicy", UpgradePolicy()}});
  if (version == ApiVersion::kV1Alpha1) {
    spec["properties"]["secretName"] = Text("Name of the Secret with the variables of the release, one key each.");
    spec["properties"]["secretNamespace"] = Text(kOwnNamespace);
  } else {
    spec["properties"]["configSecret"] = SecretReference("Secret with the variables of the release, one key each.");
  }
  return Rule(std::move(spec), "!(has(self.manifestPatches) && has(self.patches))",
              "Cannot set both 'patches' and 'manifestPatches'");
}

}  // namespace capi::api::schema
