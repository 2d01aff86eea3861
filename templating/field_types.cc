#include "templating/field_types.h"

#include <algorithm>
#include <span>

#include "kube/meta/object.h"

namespace capi::templating {
namespace {

enum class Type { kText, kNumber, kBoolean };

// "*" is every member of a map, "[]" every item of a list.
struct Field {
  std::string_view path;
  Type type = Type::kText;
};

// Of every object.
constexpr Field kMetadata[] = {
    {"apiVersion"},        {"kind"},
    {"metadata.name"},     {"metadata.namespace"},
    {"metadata.labels.*"}, {"metadata.annotations.*"},
};

// Of a pod template.
constexpr Field kPod[] = {
    {"metadata.labels.*"},
    {"metadata.annotations.*"},
    {"spec.serviceAccountName"},
    {"spec.priorityClassName"},
    {"spec.dnsPolicy"},
    {"spec.restartPolicy"},
    {"spec.nodeSelector.*"},
    {"spec.imagePullSecrets[].name"},
    {"spec.tolerations[].key"},
    {"spec.tolerations[].operator"},
    {"spec.tolerations[].value"},
    {"spec.tolerations[].effect"},
    {"spec.tolerations[].tolerationSeconds", Type::kNumber},
    {"spec.terminationGracePeriodSeconds", Type::kNumber},
    {"spec.hostNetwork", Type::kBoolean},
    {"spec.hostPID", Type::kBoolean},
    {"spec.automountServiceAccountToken", Type::kBoolean},
    {"spec.volumes[].name"},
    {"spec.volumes[].secret.secretName"},
    {"spec.volumes[].secret.optional", Type::kBoolean},
    {"spec.volumes[].configMap.name"},
    {"spec.volumes[].configMap.optional", Type::kBoolean},
    {"spec.volumes[].hostPath.path"},
    {"spec.volumes[].hostPath.type"},
};

// Of each of a pod's containers.
constexpr Field kContainer[] = {
    {"name"},
    {"image"},
    {"imagePullPolicy"},
    {"workingDir"},
    {"args[]"},
    {"command[]"},
    {"env[].name"},
    {"env[].value"},
    {"env[].valueFrom.fieldRef.fieldPath"},
    {"env[].valueFrom.secretKeyRef.name"},
    {"env[].valueFrom.secretKeyRef.key"},
    {"env[].valueFrom.configMapKeyRef.name"},
    {"env[].valueFrom.configMapKeyRef.key"},
    {"envFrom[].secretRef.name"},
    {"envFrom[].configMapRef.name"},
    {"ports[].name"},
    {"ports[].protocol"},
    {"ports[].containerPort", Type::kNumber},
    {"ports[].hostPort", Type::kNumber},
    {"volumeMounts[].name"},
    {"volumeMounts[].mountPath"},
    {"volumeMounts[].subPath"},
    {"volumeMounts[].readOnly", Type::kBoolean},
    {"securityContext.privileged", Type::kBoolean},
    {"securityContext.readOnlyRootFilesystem", Type::kBoolean},
    {"securityContext.runAsUser", Type::kNumber},
};

constexpr Field kWorkload[] = {
    {"spec.replicas", Type::kNumber},
    {"spec.paused", Type::kBoolean},
    {"spec.selector.matchLabels.*"},
    {"spec.strategy.type"},
};
constexpr Field kSecret[] = {{"data.*"}, {"stringData.*"}, {"type"}, {"immutable", Type::kBoolean}};
constexpr Field kService[] = {
    {"spec.type"},
    {"spec.selector.*"},
    {"spec.ports[].name"},
    {"spec.ports[].port", Type::kNumber},
};
constexpr Field kBinding[] = {
    {"roleRef.name"}, {"roleRef.kind"}, {"subjects[].kind"}, {"subjects[].name"}, {"subjects[].namespace"},
};
constexpr Field kRole[] = {
    {"rules[].apiGroups[]"},
    {"rules[].resources[]"},
    {"rules[].resourceNames[]"},
    {"rules[].verbs[]"},
};
constexpr Field kWebhooks[] = {
    {"webhooks[].name"},
    {"webhooks[].failurePolicy"},
    {"webhooks[].timeoutSeconds", Type::kNumber},
    {"webhooks[].clientConfig.service.name"},
    {"webhooks[].clientConfig.service.path"},
    {"webhooks[].clientConfig.service.port", Type::kNumber},
};
constexpr Field kCertificate[] = {{"spec.secretName"}, {"spec.dnsNames[]"}, {"spec.issuerRef.name"}};

struct KindRow {
  std::string_view group, kind;
  std::span<const Field> fields;
  std::string_view pod;  // where its pod template is; "" for none
};

constexpr KindRow kKinds[] = {
    {"", "ConfigMap", kSecret, ""},
    {"", "Secret", kSecret, ""},
    {"", "Service", kService, ""},
    {"admissionregistration.k8s.io", "MutatingWebhookConfiguration", kWebhooks, ""},
    {"admissionregistration.k8s.io", "ValidatingWebhookConfiguration", kWebhooks, ""},
    {"apps", "DaemonSet", kWorkload, "spec.template"},
    {"apps", "Deployment", kWorkload, "spec.template"},
    {"apps", "StatefulSet", kWorkload, "spec.template"},
    {"batch", "CronJob", {}, "spec.jobTemplate.spec.template"},
    {"batch", "Job", {}, "spec.template"},
    {"cert-manager.io", "Certificate", kCertificate, ""},
    {"rbac.authorization.k8s.io", "ClusterRole", kRole, ""},
    {"rbac.authorization.k8s.io", "ClusterRoleBinding", kBinding, ""},
    {"rbac.authorization.k8s.io", "Role", kRole, ""},
    {"rbac.authorization.k8s.io", "RoleBinding", kBinding, ""},
};

std::string_view Describe(const Json& value) {
  if (value.is_boolean()) return "a boolean";
  if (value.is_number()) return "a number";
  if (value.is_string()) return "a text";
  return value.is_object() ? "a map" : "a list";
}

std::string_view Describe(Type type) {
  return type == Type::kText ? "a text" : type == Type::kNumber ? "a number" : "a boolean";
}

bool Has(const Json& value, Type type) {
  if (value.is_null()) return true;
  return type == Type::kText ? value.is_string() : type == Type::kNumber ? value.is_number() : value.is_boolean();
}

// Calls `each` for all values at `path` below `value`, with "", and where something on the way is no list or map, for
// that, with what it should be, until it says false. `steps` is how it got there.
template <typename Each>
bool ForEachAt(const Json& value, std::string_view path, std::vector<std::string>& steps, const Each& each) {
  if (path.empty()) return each(value, "");
  if (value.is_null()) return true;
  bool list = path.starts_with("[]");
  if (list ? !value.is_array() : !value.is_object()) return each(value, list ? "a list" : "a map");
  size_t end = list ? 2 : std::min(path.find_first_of(".["), path.size());
  std::string_view step = path.substr(0, end), rest = path.substr(end);
  if (rest.starts_with('.')) rest.remove_prefix(1);
  auto below = [&](std::string name, const Json& member) {
    steps.push_back(std::move(name));
    bool more = ForEachAt(member, rest, steps, each);
    steps.pop_back();
    return more;
  };
  if (list) {
    for (size_t i = 0; i < value.size(); ++i) {
      if (!below(std::to_string(i), value[i])) return false;
    }
  } else if (step == "*") {
    for (const auto& [name, member] : value.items()) {
      if (!below(name, member)) return false;
    }
  } else if (auto member = value.find(std::string(step)); member != value.end()) {
    return below(member.key(), *member);
  }
  return true;
}

// One object's check.
class Check {
 public:
  Check(const Json& object, size_t most) : object_(object), most_(most) {}

  void Fields(std::string_view at, std::span<const Field> fields) {
    std::vector<std::string> steps;
    for (const Field& field : fields) {
      if (found_.size() >= most_) return;
      std::string path(at);
      if (!path.empty()) path += '.';
      path += field.path;
      ForEachAt(object_, path, steps, [&](const Json& value, std::string_view wanted) {
        if (wanted.empty() && !Has(value, field.type)) wanted = Describe(field.type);
        if (!wanted.empty()) found_.push_back({steps, Describe(value), wanted});
        return found_.size() < most_;
      });
    }
  }

  std::vector<WrongType> found() && { return std::move(found_); }

 private:
  const Json& object_;
  const size_t most_;
  std::vector<WrongType> found_;
};

}  // namespace

std::vector<WrongType> FindWrongTypes(const Json& object, size_t most) {
  Check check(object, most);
  check.Fields("", kMetadata);
  std::string group = kube::GroupVersion::Parse(GetString(object, {"apiVersion"})).group;
  std::string kind = GetString(object, {"kind"});
  auto row = std::find_if(std::begin(kKinds), std::end(kKinds),
                          [&](const KindRow& r) { return r.group == group && r.kind == kind; });
  if (row == std::end(kKinds)) return std::move(check).found();
  check.Fields("", row->fields);
  if (row->pod.empty()) return std::move(check).found();
  check.Fields(row->pod, kPod);
  for (std::string_view list : {"containers", "initContainers"}) {
    check.Fields(std::string(row->pod) + ".spec." + std::string(list) + "[]", kContainer);
  }
  return std::move(check).found();
}

}  // namespace capi::templating
