// The folder that a plane lives in: what lies where, and whose it is (behaviour.md G1).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace capi::local {

// nullopt for what isn't set.
using Getenv = std::function<std::optional<std::string>(const std::string& name)>;

// Without ".", ".." and a "/" at the end. kInvalidArgument for "", and where there is no working folder.
Result<std::string> AbsolutePath(const std::string& path);

// The text as one word of a shell's line, in quotes where it needs them.
std::string ShellQuote(std::string_view text);

// A folder with a plane's marker in it. A value: paths, all absolute.
class PlaneFolder {
 public:
  // Makes the folder where there is none, and the marker where it is empty. kFailedPrecondition where it has something
  // else in it: nothing of a stranger's is ever written over or removed. kPermissionDenied where it is another user's,
  // or others may write into it: what its settings name is run. kUnavailable where somebody deletes one there
  // meanwhile: then it may be called again.
  static Result<PlaneFolder> Make(const std::string& path);
  // kNotFound where no plane lives there, kPermissionDenied as Make.
  static Result<PlaneFolder> Open(const std::string& path);

  // Whether it is there still, and not removed, or another one in its place. kUnavailable where it isn't: another `up`
  // may be made now.
  Status CheckIsThere() const;

  // Whether a `down --delete` of it was broken off: Remove is to go on before anything is run, or made, here.
  bool IsHalfDeleted() const;

  const std::string& path() const { return path_; }
  // "--dir PATH", as a shell takes it.
  std::string Flag() const { return "--dir " + ShellQuote(path_); }
  // Random; its processes have it in their environment, and its private folder in its name.
  const std::string& id() const { return id_; }

  // The person's: other tools write into it, and lead it elsewhere. Nothing of the project works with it.
  std::string Kubeconfig() const { return File("kubeconfig"); }
  // The same for what the project does in the plane.
  std::string OwnKubeconfig() const { return File(kOwnKubeconfig); }
  static constexpr char kOwnKubeconfig[] = "pki/kubeconfig";  // in a plane's folder
  std::string Lock() const { return File("lock"); }
  std::string State() const { return File("state.json"); }
  std::string Settings() const { return File("settings.json"); }
  std::string Version() const { return File("version"); }  // of the newest program that has brought its operator in
  std::string Etcd() const { return File("etcd"); }
  std::string Pki(std::string_view name) const { return File("pki/" + std::string(name)); }
  std::string Logs() const { return File("logs"); }
  std::string Log(std::string_view process) const { return Logs() + "/" + std::string(process) + ".log"; }
  std::string Pods() const { return File("pods"); }

  // Makes the folders that the plane writes into, for its owner alone.
  Status MakeFolders() const;

  // A folder with a short path, since names of sockets have 107 bytes at most, in memory where there is such a place:
  // sockets, and what must not outlive the run. It isn't made here.
  std::string Private(const Getenv& getenv) const;
  // Makes it anew, empty, for its owner alone. kPermissionDenied where somebody else has made it.
  static Status MakePrivate(const std::string& folder);
  // Removes it where it is ours.
  static void RemovePrivate(const std::string& folder);
  // Writes down where this run has it: whoever ends the plane may have another environment.
  Status TellPrivate(const std::string& folder) const;
  // Removes the one that was told, and those where others may have been.
  void RemovePrivates() const;

  // Removes all that a plane makes, the marker and the lock last, and the folder where nothing else is in it; whether
  // that is gone. To be called by who holds the lock.
  Result<bool> Remove() const;

 private:
  PlaneFolder(std::string path, std::string id) : path_(std::move(path)), id_(std::move(id)) {}
  std::string File(const std::string& name) const { return path_ + "/" + name; }

  std::string path_, id_;
};

}  // namespace capi::local
