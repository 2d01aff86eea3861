// Credentials in manifests on disk: files hold ${NAME} in the place of a credential's value, and an annotation that
// says which references are to be filled in; every other ${...} of a file is the text of somebody's script. Pure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/meta/object.h"
#include "templating/render.h"

namespace capi::cli::local_clusters {

// On an object of a file: the names of the references in it, with commas between. Never reaches a cluster.
inline constexpr std::string_view kFillIn = "operator.cluster.x-k8s.io/fill-in";

// Whether a variable is a credential by its name: AWS_SECRET_ACCESS_KEY, GITHUB_TOKEN. One that ends with _NAME isn't.
bool NamesCredential(std::string_view variable);

// The names of all variables that a template has, those in another one's default too; none where it doesn't parse.
std::set<std::string> VariablesIn(std::string_view text);

// Which variables of a template are credentials. A value.
struct CredentialRules {
  std::set<std::string> yes, no;  // by --credential and --no-credential; they take precedence over names
  std::set<std::string> plain;    // never: the cluster's name, the counts, ...
};

// The objects of a template with its values filled in, and ${NAME} for each credential: those by their names, and all
// that the text of a Secret has. A credential needs no value yet. `mark`: random digits, at least 16, that the text
// doesn't have. kInvalidArgument names a variable without value, or a credential that the template takes apart
// (${NAME:0:3}) or names an object with, or one by a Secret alone that stands for a number elsewhere. `defaulted` gets
// the credentials that have no value and for which the template's own default is in the objects.
Result<std::vector<kube::Object>> RenderWithReferences(std::string_view text, const templating::Variables& variables,
                                                       const CredentialRules& rules, const std::string& ns,
                                                       const std::string& mark,
                                                       std::set<std::string>* defaulted = nullptr);

// The names in its annotation, none where it has none.
std::vector<std::string> ReferencesOf(const kube::Object& object);

// The values that were filled in, by name. A value that holds credentials: for no log, and no file.
using FilledIn = std::map<std::string, std::string>;

// `object` with the values in the place of its references, without the annotation; `filled` gets the values, `missing`
// the names that have none. kInvalidArgument for a name of the annotation that the object has no reference of.
Result<kube::Object> FillIn(kube::Object object, const templating::Variables& variables, FilledIn& filled,
                            std::set<std::string>& missing);

// The other way round, for what others say and the cluster has: references in the place of those values of four
// characters or more (shorter ones occur by chance), as they are, quoted or in base64. Made once: what it looks for is
// the same for all texts. A value that holds credentials.
class Hider {
 public:
  Hider() = default;  // of no values
  explicit Hider(const FilledIn& filled);

  // A server's error, a program's log.
  std::string WithoutValues(std::string text) const;
  // The same, and without lines of these values from six bytes on, whatever their indentation: of a program that may
  // write its input in another form.
  std::string WithoutLines(std::string text) const;
  // Without the end of a value that `text` begins with: what WithoutValues can't know where others have cut a text.
  std::string WithoutCutValue(std::string text) const;
  // `live` without these values, wherever they are but in its identity, which no credential is a part of. Of a Secret
  // all values are left out; of what Cluster API and its providers have, tokens, passwords, contents of files and the
  // like, into which those providers write what Secrets have.
  kube::Object WithoutCredentials(kube::Object live) const;

 private:
  // A form of a value, and its name.
  using Written = std::pair<std::string, std::string>;
  static std::vector<Written> WrittenOf(const FilledIn& filled, bool with_lines);
  static std::string Hidden(std::string text, const std::vector<Written>& values, size_t first = 0);
  void LeaveOutCredentials(Json& json) const;

  std::vector<Written> values_, lines_;  // `lines_`: and of the lines of values
  std::set<std::string> names_;
};

}  // namespace capi::cli::local_clusters
