// A folder of manifests on disk: numbered files that people edit, and what became of them.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/local_clusters/references.h"
#include "kube/meta/object.h"

namespace capi::cli::local_clusters {

// An object of a file, as it stands there. A value.
struct Manifest {
  kube::Object object;
  std::string file;  // its name in the folder
  int line = 1;
  std::string Where() const;  // "01_cluster_a.yaml:1"
};

// kInvalidArgument for what is no object with apiVersion, kind and name, and for a List; no error repeats a value.
Status CheckObject(const kube::Object& object);

// Writes each object into a file of its own. kAlreadyExists, before anything is written, for a folder that has YAML
// files already. Returns the names, sorted; where one can't be written, all are taken away again.
Result<std::vector<std::string>> WriteManifests(const std::string& folder, const std::vector<kube::Object>& objects);

// All objects of the folder's *.yaml, *.yml and *.json, in file-name order; hidden files, backups (~) and folders are
// left out. kInvalidArgument for any other file, for what is no object with apiVersion, kind and name, for a List, and
// for one object that is there twice; each with file and line.
Result<std::vector<Manifest>> ReadManifests(const std::string& folder);

// The name of the first Cluster. kInvalidArgument for a folder without one.
Result<std::string> FirstCluster(const std::string& folder, const std::vector<Manifest>& manifests);

// All with their references filled in. kInvalidArgument names every variable that has no value.
Status FillInAll(std::vector<Manifest>& manifests, const templating::Variables& variables, FilledIn& filled);

// The programs in the folder's `hooks`, named for their stages (stages.h). kInvalidArgument for one that isn't
// executable, or has another name.
Result<std::vector<std::string>> ListHooks(const std::string& folder);

// Where the objects as the cluster has them are written: `applied` in the folder. No value of a Secret, and no
// credential of `hider`, is in them. Manifests that are there and no longer written go.
Status WriteApplied(const std::string& folder, const std::vector<Manifest>& live, const Hider& hider);

}  // namespace capi::cli::local_clusters
