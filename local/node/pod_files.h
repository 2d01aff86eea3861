// A Pod's folders on this machine: its home, logs, volumes, and the kubeconfig of its ServiceAccount (behaviour.md G5).
#pragma once

#include <map>
#include <string>
#include <utility>

#include "kube/client/client.h"
#include "local/node/node.h"
#include "local/node/pod_inputs.h"

namespace capi::local {

// Of one Pod. Thread-compatible; the paths may be asked for by any thread.
class PodFiles {
 public:
  PodFiles(kube::Client& client, const NodeOptions& options, Clock& clock, kube::Object pod);

  std::string folder() const { return folder_; }
  std::string home() const { return folder_ + "/home"; }
  std::string tmp() const { return folder_ + "/tmp"; }
  std::string volumes() const { return private_ + "/volumes"; }
  std::string kubeconfig() const { return private_ + "/kubeconfig"; }  // there is one where HasToken()
  std::string Log(const std::string& container) const { return folder_ + "/" + container + ".log"; }
  bool HasToken() const;  // the Pod asks for that of its ServiceAccount, as most do

  Status MakeFolders();
  // Writes what has changed: the volumes, and tokens when four fifths of their time are over by the clock on the wall
  // (a laptop may have slept). Goes through all, and returns the first error. Errors name the volume; those that are
  // kNotFound may pass.
  Status Refresh(const Context& ctx);
  // All but the logs; these too where the Pod goes.
  void Remove(bool logs);

  InputSource Source(const Context& ctx);

 private:
  struct Token {
    std::string text;
    WallTime renew{};
  };
  Result<Variables> Read(const Context& ctx, const std::string& kind, const std::string& name);
  Result<std::string> GetToken(const Context& ctx, const std::string& audience, std::int64_t seconds);
  Status WriteKubeconfig(const Context& ctx);
  Status RefreshVolume(const Json& volume, const InputSource& source);
  Status WriteVolume(const std::string& folder, const VolumeFiles& files);
  // Written only where it is another one than the last time.
  Status Write(const std::string& path, const std::string& content, unsigned mode);

  kube::Client& client_;
  const NodeOptions& options_;
  Clock& clock_;
  const kube::Object pod_;
  const std::string folder_, private_;
  std::map<std::pair<std::string, std::int64_t>, Token> tokens_;  // by audience and time
  std::map<std::string, std::string> written_;                    // digests by path
};

// The name of a Pod's folders: NAMESPACE_NAME, cut where it is too long for a file.
std::string PodFolderName(const kube::Object& pod);
// mkdir -p, each for this user alone.
Status MakeFolder(const std::string& path);

}  // namespace capi::local
