// Finds the values of a release's variables again in the objects that were made from it (behaviour.md A2). Pure.
//
// The release is rendered with a mark for each variable. Where a mark stands in a text, the live object's text at the
// same place has the value: what lies between the words around it.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kube/meta/object.h"
#include "templating/render.h"

namespace capi::templating {

// A release with marks for values. A value.
struct MarkedRelease {
  std::vector<kube::Object> objects;                           // those with at least one mark
  std::map<std::string, std::string> names;                    // mark to variable
  std::map<std::string, std::optional<std::string>> defaults;  // of each variable, as the template has it
};

// `input` as for Render; its variables don't matter. The error is that of the render.
Result<MarkedRelease> MarkVariables(RenderInput input);

// Never holds a value in anything but `values`, `given` and `seen`.
struct RecoveredVariables {
  // Needed for the same objects: without those that the release's defaults and `environment` give anyway.
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> given;  // those
  // What stands in the place of a variable anywhere, also where the places disagree, but for defaults; the whole text
  // where it can be read in two ways.
  std::set<std::string> seen;
  std::vector<std::string> unclear;  // "A (Secret/x/y data.a): the text can be read in two ways"
  std::vector<std::string> lost;     // variables without a default that stand nowhere; sorted
};

// Takes out of `seen` what is a default, with its quotes or without: that is known to everybody.
void EraseDefaults(const std::map<std::string, std::optional<std::string>>& defaults, std::set<std::string>& seen);

RecoveredVariables RecoverVariables(const MarkedRelease& release, const std::map<kube::ObjectId, kube::Object>& live,
                                    const Variables& environment);

}  // namespace capi::templating
