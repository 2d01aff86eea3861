#include "templating/render.h"

#include <algorithm>

#include "templating/customise.h"
#include "templating/images.h"
#include "templating/known_managers.h"
#include "templating/label.h"
#include "templating/namespace.h"
#include "templating/order.h"
#include "templating/parse.h"
#include "templating/patch.h"
#include "templating/source.h"
#include "templating/substitute.h"

namespace capi::templating {
namespace {

using Objects = std::vector<kube::Object>;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

bool IsNamespace(const kube::Object& object) { return object.kind() == "Namespace"; }

// The namespace to move to: the one asked for, else the release's own. Notes what its Namespace object asks for.
Result<std::string> TargetNamespace(const RenderInput& input, const Objects& objects,
                                    std::map<std::string, std::string>& namespace_labels) {
  std::string own = TRY(OwnNamespace(objects));
  for (const kube::Object& object : objects) {
    const Json* labels = IsNamespace(object) ? Find(object.json(), {"metadata", "labels"}) : nullptr;
    if (labels == nullptr || !labels->is_object()) continue;
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) namespace_labels[key] = value.get<std::string>();
    }
  }
  std::string target = input.target_namespace.empty() ? own : input.target_namespace;
  if (target.empty()) return Invalid("target namespace can't be defaulted. Please specify a target namespace");
  return target;
}

// What old kustomize and controller-gen write for "not created yet". Nobody wishes for it, and an apply would own it.
void DropEmptyTimestamps(Objects& objects) {
  for (kube::Object& object : objects) {
    for (Json* metadata : {Find(object.json(), {"metadata"}), Find(object.json(), {"spec", "template", "metadata"})}) {
      if (metadata == nullptr || !metadata->is_object()) continue;
      auto found = metadata->find("creationTimestamp");
      if (found != metadata->end() && found->is_null()) metadata->erase(found);
    }
  }
}

// The command line prints a Namespace object, also where the release has none; the operator applies none.
void SettleNamespaceObject(const RenderInput& input, const std::string& target, Objects& objects) {
  if (!input.keep_namespace_object) {
    std::erase_if(objects, IsNamespace);
  } else if (std::none_of(objects.begin(), objects.end(), IsNamespace)) {
    objects.emplace_back(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", target}}}});
  }
}

// One rendering, step by step; stops at the first that fails.
class Rendering {
 public:
  explicit Rendering(const RenderInput& input) : input_(input) {}

  RenderResult Run() {
    bool ok = ReadObjects() && Step(RenderStep::kImages, FixReleaseImages()) && Step(RenderStep::kNamespace, Move()) &&
              CustomiseObjects() && Step(RenderStep::kPatch, Patch()) && Step(RenderStep::kImages, FixOperatorImages());
    RenderResult result;
    if (ok) {
      result.output = std::move(out_);
    } else {
      result.error = std::move(error_);
    }
    return result;
  }

 private:
  bool Step(RenderStep step, const Status& status) {
    if (!status.ok()) error_ = RenderError{step, status.error(), {}};
    return status.ok();
  }

  // The texts and the tree of the template are gone when this returns.
  bool ReadObjects() {
    Source source(input_.release->components, input_.additional_manifests);
    Substituted substituted;
    error_ = Substitute(source, input_.variables, !input_.skip_substitution, substituted);
    if (error_) return false;
    out_.variables = std::move(substituted.variables);
    auto objects = ParseObjects(source, substituted);
    if (!objects.ok()) return Step(RenderStep::kParse, objects.error());
    out_.objects = std::move(objects).value();
    DropEmptyTimestamps(out_.objects);
    // What is left to apply would be nothing, which must never read as "remove everything" (F2).
    if (!input_.keep_namespace_object && std::all_of(out_.objects.begin(), out_.objects.end(), IsNamespace)) {
      return Step(RenderStep::kParse, Invalid("failed to parse yaml: there is no object in it but a Namespace"));
    }
    return true;
  }

  Status FixReleaseImages() {
    TRY(FixImages(out_.objects, api::ManifestLabel(input_.type, input_.name), input_.images));
    out_.images = ListImages(out_.objects);
    return Ok();
  }

  Status Move() {
    out_.target_namespace = TRY(TargetNamespace(input_, out_.objects, out_.namespace_labels));
    SettleNamespaceObject(input_, out_.target_namespace, out_.objects);
    TRY(FixNamespace(out_.objects, out_.target_namespace, input_.cluster_scoped));
    AddLabels(out_.objects, api::ManifestLabel(input_.type, input_.name));
    SortForCreation(out_.objects);
    return Ok();
  }

  bool CustomiseObjects() {
    if (input_.spec == nullptr) return true;
    auto known = FindKnownManager(input_.type, input_.name, input_.release->version);
    Status done = Customise(out_.objects, *input_.spec, known ? &*known : nullptr, out_.warnings);
    if (done.ok() || done.code() != Code::kUnsupported) return Step(RenderStep::kCustomise, done);
    return Step(RenderStep::kManagerField, Error{Code::kInvalidArgument, done.error().message, {}});
  }

  Status Patch() { return input_.spec == nullptr ? Ok() : ApplyPatches(out_.objects, *input_.spec, out_.warnings); }

  // After customisation, so that a mirror also serves images that the spec names.
  Status FixOperatorImages() {
    if (input_.operator_images.empty()) return Ok();
    TRY(FixImages(out_.objects, api::ManifestLabel(input_.type, input_.name), input_.operator_images));
    out_.images = ListImages(out_.objects);
    return Ok();
  }

  const RenderInput& input_;
  RenderOutput out_;
  std::optional<RenderError> error_;
};

}  // namespace

RenderResult Render(const RenderInput& input) { return Rendering(input).Run(); }

}  // namespace capi::templating
