#include "templating/render.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"
#include "kube/meta/kind.h"
#include "templating/customise/customise.h"
#include "templating/customise/images.h"
#include "templating/customise/known_managers.h"
#include "templating/label.h"
#include "templating/namespace.h"
#include "templating/order.h"
#include "templating/parse.h"
#include "templating/patch/patch.h"
#include "templating/source.h"
#include "templating/substitute.h"

namespace capi::templating {
namespace {

using Objects = std::vector<kube::Object>;

Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// The labels that the release's Namespace object asks for.
std::map<std::string, std::string> NamespaceLabels(const Objects& objects) {
  std::map<std::string, std::string> out;
  for (const kube::Object& object : objects) {
    const Json* labels = IsNamespace(object) ? Find(object.json(), {"metadata", "labels"}) : nullptr;
    if (labels == nullptr || !labels->is_object()) continue;
    for (const auto& [key, value] : labels->items()) {
      if (value.is_string()) out[key] = value.get<std::string>();
    }
  }
  return out;
}

// kInvalidArgument where two objects have one identity: the one applied last would overwrite the other (I8). `place`
// tells where an object is, "" for where that isn't known.
template <typename PlaceOf>
Status CheckIdentities(const Objects& objects, PlaceOf place) {
  constexpr size_t kMostNamed = 3;
  std::map<kube::ObjectId, size_t> first;
  std::vector<std::string> named;
  size_t twice = 0;
  for (size_t i = 0; i < objects.size(); ++i) {
    auto [before, is_new] = first.try_emplace(objects[i].id(), i);
    if (is_new || ++twice > kMostNamed) continue;
    std::string places = place(before->second);
    if (!places.empty()) places = fmt::format(" ({}, and {})", places, place(i));
    named.push_back(before->first.ToString() + places);
  }
  if (twice == 0) return Ok();
  return Invalid(fmt::format("two objects would be one, and the second overwrite the first: {}{}", Join(named, ", "),
                             twice > kMostNamed ? fmt::format(" and {} more", twice - kMostNamed) : ""));
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
    std::erase_if(objects, kube::IsNamespace);
  } else if (std::none_of(objects.begin(), objects.end(), kube::IsNamespace)) {
    objects.emplace_back(Json{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", target}}}});
  }
}

// One rendering, step by step; stops at the first that fails.
class Rendering {
 public:
  explicit Rendering(const RenderInput& input) : input_(input) {}

  RenderResult Run() {
    bool ok = ReadObjects() && Step(RenderStep::kImages, FixReleaseImages()) && Move() && CustomiseObjects() &&
              Step(RenderStep::kPatch, Patch()) && Step(RenderStep::kImages, FixOperatorImages());
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

  Status CheckSize() const {
    size_t size = input_.release->components.size() + input_.additional_manifests.size();
    if (size <= input_.limits.text) return Ok();
    return Invalid(fmt::format("the release{} has {} bytes: more than {} are not read",
                               input_.additional_manifests.empty() ? "" : " with the additional manifests", size,
                               input_.limits.text));
  }

  // The texts and the tree of the template are gone when this returns.
  bool ReadObjects() {
    if (!Step(RenderStep::kParse, CheckSize())) return false;
    Source source(input_.release->components, input_.additional_manifests);
    Substituted substituted;
    error_ = Substitute(source, input_.variables, !input_.skip_substitution, substituted, input_.limits.text);
    if (error_) return false;
    out_.variables = std::move(substituted.variables);
    auto parsed = ParseObjects(source, substituted, input_.limits, input_.check_types);
    if (!parsed.ok()) return Step(RenderStep::kParse, parsed.error());
    out_.objects = std::move(parsed->objects);
    places_ = std::move(parsed->places);
    DropEmptyTimestamps(out_.objects);
    // What is left to apply would be nothing, which must never read as "remove everything" (F2).
    if (!input_.keep_namespace_object && std::all_of(out_.objects.begin(), out_.objects.end(), kube::IsNamespace)) {
      return Step(RenderStep::kParse, Invalid("failed to parse yaml: there is no object in it but a Namespace"));
    }
    return true;
  }

  Status FixReleaseImages() {
    TRY(FixImages(out_.objects, api::ManifestLabel(input_.type, input_.name), input_.images));
    out_.images = ListImages(out_.objects);
    return Ok();
  }

  // While the objects are as in the text, place for place.
  bool Move() {
    auto own = OwnNamespace(out_.objects);
    if (!own.ok()) return Step(RenderStep::kTwoNamespaces, own.error());
    out_.target_namespace = input_.target_namespace.empty() ? *own : input_.target_namespace;
    if (out_.target_namespace.empty()) {
      return Step(RenderStep::kNamespace,
                  Invalid("target namespace can't be defaulted. Please specify a target namespace"));
    }
    out_.namespace_labels = NamespaceLabels(out_.objects);
    bool ok = Step(RenderStep::kNamespace, FixNamespace(out_.objects, out_.target_namespace, input_.cluster_scoped)) &&
              Step(RenderStep::kDuplicates, CheckIdentities(out_.objects, [&](size_t i) {
                     return places_[i].In(Source(input_.release->components, input_.additional_manifests));
                   }));
    if (!ok) return false;
    places_.clear();
    SettleNamespaceObject(input_, out_.target_namespace, out_.objects);
    AddLabels(out_.objects, api::ManifestLabel(input_.type, input_.name));
    SortForCreation(out_.objects);
    return true;
  }

  bool CustomiseObjects() {
    if (input_.spec == nullptr) return true;
    auto known = FindKnownManager(input_.type, input_.name, input_.release->version);
    Status done = Customise(out_.objects, *input_.spec, known ? &*known : nullptr, out_.warnings);
    if (done.ok() || done.code() != Code::kUnsupported) return Step(RenderStep::kCustomise, done);
    return Step(RenderStep::kManagerField, Error{Code::kInvalidArgument, done.error().message, {}});
  }

  // Patches may change anything but by what the objects are found again, and who they are.
  Status Patch() {
    if (input_.spec == nullptr || (input_.spec->patches.empty() && input_.spec->manifest_patches.empty())) return Ok();
    TRY(ApplyPatches(out_.objects, *input_.spec, input_.limits.memory, out_.warnings));
    auto made = std::find_if(out_.objects.begin(), out_.objects.end(), kube::IsNamespace);
    if (!input_.keep_namespace_object && made != out_.objects.end()) {
      return Invalid(
          fmt::format("a patch makes a Namespace ({}) of an object: Namespaces are not applied", made->name()));
    }
    AddLabels(out_.objects, api::ManifestLabel(input_.type, input_.name));
    return CheckIdentities(out_.objects, [](size_t) { return ""; });
  }

  // After customisation, so that a mirror also serves images that the spec names.
  Status FixOperatorImages() {
    if (input_.operator_images.empty()) return Ok();
    TRY(FixImages(out_.objects, api::ManifestLabel(input_.type, input_.name), input_.operator_images));
    out_.images = ListImages(out_.objects);
    return Ok();
  }

  const RenderInput& input_;
  RenderOutput out_;
  std::vector<ObjectPlace> places_;  // of out_.objects, until they are sorted
  std::optional<RenderError> error_;
};

}  // namespace

RenderResult Render(const RenderInput& input) { return Rendering(input).Run(); }

}  // namespace capi::templating
