// spec.deployment: what of a provider's Deployment can be overridden.
#include "api/schema/schema.h"

namespace capi::api::schema {
namespace {

Json IntOrString(std::string_view description) {
  return {{"anyOf", Json::array({{{"type", "integer"}}, {{"type", "string"}}})},
          {"x-kubernetes-int-or-string", true},
          {"description", description}};
}

// A key of a ConfigMap or Secret in the namespace of the pod.
Json KeyOf(std::string_view description) {
  return Atomic(Object(description,
                       {{"name", With(Text("Name of the object."), {{"default", ""}})},
                        {"key", Text("The key.")},
                        {"optional", Flag("Whether object and key may be missing.")}},
                       {"key"}));
}

Json EnvSource() {
  Json field = Atomic(Object("A field of the pod.",
                             {{"apiVersion", Text("Version of the schema that fieldPath is written for.")},
                              {"fieldPath", Text("Path of the field, like metadata.name.")}},
                             {"fieldPath"}));
  Json resource = Atomic(Object("A resource of the container.",
                                {{"containerName", Text("Name of the container.")},
                                 {"resource", Text("The resource, like limits.cpu.")},
                                 {"divisor", Quantity("Unit that the value is given in.")}},
                                {"resource"}));
  Json file = Atomic(Object("A key of a file in a volume.",
                            {{"volumeName", Text("Name of the volume.")},
                             {"path", Text("Path of the file in the volume.")},
                             {"key", Text("The key.")},
                             {"optional", With(Flag("Whether file and key may be missing."), {{"default", false}})}},
                            {"key", "path", "volumeName"}));
  return Object("Where the value comes from, instead of value.", {{"configMapKeyRef", KeyOf("A key of a ConfigMap.")},
                                                                  {"secretKeyRef", KeyOf("A key of a Secret.")},
                                                                  {"fieldRef", std::move(field)},
                                                                  {"resourceFieldRef", std::move(resource)},
                                                                  {"fileKeyRef", std::move(file)}});
}

Json Env() {
  Json variable = Object(
      "One variable.",
      {{"name", Text("Name of the variable.")}, {"value", Text("Value of the variable.")}, {"valueFrom", EnvSource()}},
      {"name"});
  return ListOf("Environment variables; one of the same name in the release is replaced.", std::move(variable));
}

Json Resources() {
  Json claim = Object("One claim.",
                      {{"name", Text("Name of the entry in the pod's resourceClaims.")},
                       {"request", Text("Name of the request in that claim; all when not set.")}},
                      {"name"});
  return Object("Compute resources of the container; replaces those of the release.",
                {{"claims", ListByKey("Resource claims that the container uses.", std::move(claim), {"name"})},
                 {"limits", MapOf("The most that the container may use.", Quantity("An amount."))},
                 {"requests", MapOf("What the container needs at least.", Quantity("An amount."))}});
}

constexpr std::string_view kParts = "Parts of the image's name that replace those of the release.";

Json ImageParts() {
  return Object(
      kParts,
      {{"repository",
        Text("Registry and path, like registry.example.com/mirror; the digest of the release's image stays.")},
       {"name",
        Text("Name of the image, the last part of its path; the digest of the release's image is dropped then.")},
       {"tag", Text("Tag; the digest of the release's image is dropped then.")}});
}

// v1alpha1 has one field for both. What else is in the object, the conversion refuses.
Json Image() {
  return Any(
      "Image, with registry and tag or digest; or as an object with any of repository, name and tag, which replace "
      "those of the release's image.");
}

Json Container(ApiVersion version) {
  Json container = Object(
      "One container, found by its name.",
      {{"name", Text("Name of the container in the release.")},
       {"args", Arguments("Arguments to set, keys with their dashes; one that the release has is replaced.", version)},
       {"env", Env()},
       {"resources", Resources()},
       {"command", ListOf("Entry point; an empty list clears that of the release.", Text("One word."))}},
      {"name"});
  if (version == ApiVersion::kV1Alpha1) {
    container["properties"]["image"] = Image();
    return container;
  }
  container["properties"]["imageUrl"] = Text("Image, with registry and tag or digest.");
  container["properties"]["image"] = ImageParts();
  return Rule(std::move(container), "!(has(self.image) && has(self.imageUrl))",
              "Cannot set both 'image' and 'imageUrl'");
}

Json Tolerations() {
  Json toleration =
      Object("One toleration.", {{"key", Text("Key of the taint; empty with operator Exists matches all.")},
                                 {"operator", Text("Equal (the default) or Exists.")},
                                 {"value", Text("Value of the taint.")},
                                 {"effect", Text("NoSchedule, PreferNoSchedule or NoExecute; empty matches all.")},
                                 {"tolerationSeconds", Long("How long the taint is tolerated with NoExecute.")}});
  return ListOf("Tolerations of the pods; replaces those of the release, and an empty list clears them.",
                std::move(toleration));
}

Json PullSecrets() {
  Json secret = Atomic(Object("One Secret.", {{"name", With(Text("Name of the Secret."), {{"default", ""}})}}));
  return ListOf("Secrets for pulling images; replaces those of the release.", std::move(secret));
}

Json SpreadConstraints() {
  Json constraint =
      Object("One constraint.",
             {{"maxSkew", Integer("How uneven the spread may be.")},
              {"topologyKey", Text("Label of nodes that makes the domains.")},
              {"whenUnsatisfiable", Text("DoNotSchedule or ScheduleAnyway.")},
              {"labelSelector", LabelSelector("Pods that are counted.")},
              {"matchLabelKeys", ListOf("Labels of the pod that select with their values too.", Text("A label."))},
              {"minDomains", Integer("How many domains there must be.")},
              {"nodeAffinityPolicy", Text("Honor or Ignore the node affinity of the pod.")},
              {"nodeTaintsPolicy", Text("Honor or Ignore taints of nodes.")}},
             {"maxSkew", "topologyKey", "whenUnsatisfiable"});
  return ListOf("How pods spread over domains; replaces what the release says.", std::move(constraint));
}

Json Strategy() {
  return Object("How old pods are replaced by new ones.",
                {{"type", Text("RollingUpdate or Recreate.")},
                 {"rollingUpdate",
                  Object("For RollingUpdate.",
                         {{"maxSurge", IntOrString("How many pods more than wanted there may be, number or percent.")},
                          {"maxUnavailable", IntOrString("How many pods may be missing, number or percent.")}})}});
}

}  // namespace

Json Deployment(ApiVersion version) {
  return Object(
      "Settings of the provider's Deployment. A field that is not set leaves what the release says.",
      {{"replicas", With(Integer("How many pods run."), {{"minimum", 0}})},
       {"nodeSelector", MapOf("Labels that a node must have; replaces those of the release.", Text("A value."))},
       {"tolerations", Tolerations()},
       {"affinity", Free("Affinity of the pods (core/v1 Affinity); replaces that of the release.")},
       {"containers", ListByKey("Containers to change.", Container(version), {"name"})},
       {"initContainers", ListByKey("Init containers to change.", Container(version), {"name"})},
       {"serviceAccountName", Text("ServiceAccount that the pods run as.")},
       {"imagePullSecrets", PullSecrets()},
       {"labels", MapOf("Labels to add to Deployment and pods.", Text("A value."))},
       {"annotations", MapOf("Annotations to add to Deployment and pods.", Text("A value."))},
       {"priorityClassName", Text("Priority class of the pods.")},
       {"topologySpreadConstraints", SpreadConstraints()},
       {"securityContext", Free("Security context of the pods (core/v1 PodSecurityContext); replaces that of the "
                                "release.")},
       {"strategy", Strategy()}});
}

}  // namespace capi::api::schema
