// From a release, its variables and a spec to the objects that go to the cluster. Pure: no clock, environment, file or
// network. One signature for operator, command line and local mode.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/release.h"
#include "api/types.h"
#include "kube/meta/object.h"
#include "templating/customise/images.h"
#include "templating/scope.h"

namespace capi::templating {

// Value of a variable; nullopt where it isn't set. Set to "" counts as set.
using Variables = std::function<std::optional<std::string>(const std::string& name)>;

// How much a render takes; what needs more is refused. With these a render stays below 52 MiB, whatever its input,
// where the text of the spec is no more than the API server takes (3 MiB).
struct RenderLimits {
  size_t text = api::kMaxReleaseBytes;  // of the release and the additional manifests, before and after substitution
  size_t memory = 32u << 20;            // of all values together, with those that patches add
  size_t objects = 5'000;               // and documents
};

struct RenderInput {
  api::ProviderType type = api::ProviderType::kCore;
  std::string name;  // "aws"
  const api::Release* release = nullptr;
  std::string additional_manifests;  // text of the ConfigMap's key `manifests`; "" for none
  Variables variables;
  std::string target_namespace;             // "" for the release's own (command line)
  const api::ProviderSpec* spec = nullptr;  // null: no customisation (command line)
  ImageOverrides images;                    // of the Secret or configuration file: before customisation
  ImageOverrides operator_images;           // of the operator's clusterctl.yaml: last
  ScopeLookup cluster_scoped;               // of kinds that the release doesn't bring; null where no cluster is
  bool keep_namespace_object = false;       // the command line prints it; the operator never applies it (I8)
  bool skip_substitution = false;
  bool check_types = true;  // false where `variables` gives other texts than values
  RenderLimits limits;
};

struct RenderOutput {
  std::vector<kube::Object> objects;  // in order of application, as clusterctl orders them
  std::string target_namespace;
  std::vector<std::string> variables;  // all names in the template, sorted
  std::vector<std::string> images;     // in document order
  std::vector<std::string> warnings;   // a patch that matches nothing, ...: for events and a condition's message
  std::map<std::string, std::string> namespace_labels;  // that the release's Namespace object asks for (I8)
};

// Which step failed, so that the caller can pick a condition's reason.
// kTwoNamespaces: the release has more than one Namespace object; kDuplicates: two objects of one identity (I8).
// kManagerField: a field of spec.manager that the manager has no flag for (I9a).
enum class RenderStep {
  kVariables,
  kParse,
  kImages,
  kTwoNamespaces,
  kNamespace,
  kDuplicates,
  kCustomise,
  kManagerField,
  kPatch,
};

struct RenderError {
  RenderStep step;
  Error error;                       // kInvalidArgument; line and column of the file as fetched where known
  std::vector<std::string> missing;  // names of missing variables, sorted
};

// Never throws.
struct RenderResult {
  std::optional<RenderOutput> output;
  std::optional<RenderError> error;  // exactly one of both is set
};

RenderResult Render(const RenderInput& input);

}  // namespace capi::templating
