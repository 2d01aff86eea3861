// spec.deployment: what of a provider's Deployment can be overridden.
#include "api/schema/schema.h"

namespace capi::api::schema {
namespace {

// A key of a ConfigMap or Secret in the namespace of the pod.
Json KeyOf(std::string_view description) {
  return Atomic(Object(description,
                       {{"name", With(Text("Name of the object."), {{"default", ""}})},
                        {"key", Text("Key in its data whose value is taken.")},
                        {"optional", Flag("Whether pods start without it when the object or the key is missing.")}},
                       {"key"}));
}

Json EnvSource() {
  Json field = Atomic(Object("A field of the pod.",
                             {{"apiVersion", Text("Version of the schema that fieldPath is written for.")},
                              {"fieldPath", Text("Path of the field, like metadata.name.")}},
                             {"fieldPath"}));
  Json resource =
      Atomic(Object("A resource of the container.",
                    {{"containerName", Text("Name of the container whose resource is meant; this one when not set.")},
                     {"resource", Text("The resource, like limits.cpu.")},
                     {"divisor", Quantity("Unit that the value is given in.")}},
                    {"resource"}));
  Json file = Atomic(Object("A key of a file in a volume.",
                            {{"volumeName", Text("Name of the volume.")},
                             {"path", Text("Path of the file in the volume.")},
                             {"key", Text("Name of the variable in that file.")},
                             {"optional", With(Flag("Whether file and key may be missing."), {{"default", false}})}},
                            {"key", "path", "volumeName"}));
  return Object("Where the value comes from, instead of value.", {{"configMapKeyRef", KeyOf("A key of a ConfigMap.")},
                                                                  {"secretKeyRef", KeyOf("A key of a Secret.")},
                                                                  {"fieldRef", std::move(field)},
                                                                  {"resourceFieldRef", std::move(resource)},
                                                                  {"fileKeyRef", std::move(file)}});
}

Json Env() {
  Json variable = Object("One environment variable; either value or valueFrom is set.",
                         {{"name", Text("Name of the variable.")},
                          {"value", Text("Value of the variable, as it is.")},
                          {"valueFrom", EnvSource()}},
                         {"name"});
  return ListOf("Environment variables; one of the same name in the release is replaced.", std::move(variable));
}

Json Resources() {
  Json claim = Object("One resource claim.",
                      {{"name", Text("Name of the entry in the pod's resourceClaims.")},
                       {"request", Text("Name of the request in that claim; all when not set.")}},
                      {"name"});
  return Object("Compute resources of the container; replaces those of the release.",
                {{"claims", ListByKey("Resource claims that the container uses.", std::move(claim), {"name"})},
                 {"limits", MapOf("The most that the container may use, by resource (cpu, memory).",
                                  Quantity("Amount, like 500m or 128Mi."))},
                 {"requests", MapOf("What the container needs at least, by resource; the scheduler reserves it.",
                                    Quantity("Amount, like 100m or 64Mi."))}});
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
       {"command",
        ListOf("Command that the container runs instead of its image's; an empty list clears that of the release.",
               Text("One word of the command."))}},
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
  Json toleration = Object("One taint of nodes that pods may run beside.",
                           {{"key", Text("Key of the taint; empty with operator Exists matches all.")},
                            {"operator", Text("Equal (the default) or Exists.")},
                            {"value", Text("Value of the taint, for operator Equal.")},
                            {"effect", Text("NoSchedule, PreferNoSchedule or NoExecute; empty matches all.")},
                            {"tolerationSeconds", Long("How long the taint is tolerated with NoExecute.")}});
  return ListOf("Tolerations of the pods; replaces those of the release, and an empty list clears them.",
                std::move(toleration));
}

Json PullSecrets() {
  Json secret =
      Atomic(Object("One Secret with credentials of a registry.",
                    {{"name", With(Text("Name of the Secret, in the provider's namespace."), {{"default", ""}})}}));
  return ListOf("Secrets for pulling images; replaces those of the release.", std::move(secret));
}

Json SpreadConstraints() {
  Json constraint = Object(
      "One rule for how evenly pods are spread.",
      {{"maxSkew", With(Integer("By how many pods two domains may differ at most."), {{"minimum", 1}})},
       {"topologyKey", With(Text("Label of nodes whose values are the domains, like topology.kubernetes.io/zone."),
                            {{"minLength", 1}})},
       {"whenUnsatisfiable", OneOf("What happens to a pod that no node fits: DoNotSchedule has it wait, "
                                   "ScheduleAnyway only prefers nodes that fit.",
                                   {"DoNotSchedule", "ScheduleAnyway"})},
       {"labelSelector", LabelSelector("Pods that are counted.", /*strict=*/true)},
       {"matchLabelKeys",
        ListOf("Labels of the pod: only pods with the same values are counted.", Text("Name of a label."))},
       {"minDomains",
        With(Integer("How many domains there are to be at least, with DoNotSchedule."), {{"minimum", 1}})},
       {"nodeAffinityPolicy",
        OneOf("Whether nodes count that the pod's affinity rules out: Honor (not) or Ignore (they do).",
              {"Honor", "Ignore"})},
       {"nodeTaintsPolicy",
        OneOf("Whether nodes count whose taints the pod doesn't tolerate: Honor (not) or Ignore (they do).",
              {"Honor", "Ignore"})}},
      {"maxSkew", "topologyKey", "whenUnsatisfiable"});
  return ListOf("How pods spread over zones or nodes; replaces what the release says.",
                Rule(std::move(constraint), "!has(self.minDomains) || self.whenUnsatisfiable == 'DoNotSchedule'",
                     "minDomains is for whenUnsatisfiable: DoNotSchedule alone"));
}

Json Strategy() {
  Json rolling = Object("Bounds of a RollingUpdate.",
                        {{"maxSurge", IntOrString("How many pods more than wanted there may be, a number or percent.")},
                         {"maxUnavailable", IntOrString("How many pods may be missing, a number or percent.")}});
  Json strategy = Object("How old pods are replaced by new ones.",
                         {{"type", OneOf("RollingUpdate starts new pods beside the old ones; Recreate stops the old "
                                         "ones first, and nobody serves meanwhile.",
                                         {"RollingUpdate", "Recreate"})},
                          {"rollingUpdate", std::move(rolling)}});
  return Rule(std::move(strategy), "!(has(self.rollingUpdate) && has(self.type) && self.type == 'Recreate')",
              "rollingUpdate can't be set with type Recreate");
}

}  // namespace

Json Deployment(ApiVersion version) {
  return Object(
      "Settings of the provider's Deployment. A field that is not set leaves what the release says.",
      {{"replicas", With(Integer("How many pods run. To stop the provider for a while set spec.paused instead."),
                         {{"minimum", 0}})},
       {"nodeSelector",
        MapOf("Labels that a node must have; replaces those of the release.", Text("Value of the label."))},
       {"tolerations", Tolerations()},
       {"affinity", Free("Affinity of the pods (core/v1 Affinity); replaces that of the release.")},
       {"containers",
        ListByKey("Changes of containers that the release has, by their names.", Container(version), {"name"})},
       {"initContainers",
        ListByKey("Changes of init containers that the release has, by their names.", Container(version), {"name"})},
       {"serviceAccountName", Text("ServiceAccount that the pods run as, instead of the release's.")},
       {"imagePullSecrets", PullSecrets()},
       {"labels", MapOf("Labels to add to Deployment and pods.", Text("Value of the label."))},
       {"annotations", MapOf("Annotations to add to Deployment and pods.", Text("Value of the annotation."))},
       {"priorityClassName", Text("PriorityClass of the pods: which of them may displace others when nodes are full.")},
       {"topologySpreadConstraints", SpreadConstraints()},
       {"securityContext", Free("Security context of the pods (core/v1 PodSecurityContext); replaces that of the "
                                "release.")},
       {"strategy", Strategy()}});
}

}  // namespace capi::api::schema
