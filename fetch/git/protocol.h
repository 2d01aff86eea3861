// What is said to git-upload-pack, and what it answers: version 2 of its protocol, and version 0 where it speaks no
// other one.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fetch/git/objects.h"

namespace capi::fetch {

// Of each tag, without "refs/tags/", what it names: an annotated tag's own object, or a commit.
using GitTags = std::map<std::string, ObjectId>;

// How a server begins. A value.
struct GitServer {
  bool speaks_v2 = false;
  bool filters = false;     // it can leave files out
  bool names_hash = false;  // it wants to be told of SHA-1
  std::string multi_ack;    // of version 0: the word for it, "" for none; some answer nobody who doesn't say it
  GitTags tags;             // of version 0; the other one tells them when it is asked
};
// `over_http`: a line before it names the service. kInvalidArgument for what is none, or is cut off; kUnsupported for a
// repository of SHA-256, and a server that can't give one commit alone.
Result<GitServer> ReadGitServer(std::string_view text, bool over_http);

std::string AskForTags(const GitServer& server);
Result<GitTags> ReadGitTags(std::string_view answer);

// A value.
struct GitWants {
  std::vector<ObjectId> ids;
  bool without_history = false;
  bool without_files = false;  // where the server filters
};
std::string AskForObjects(const GitServer& server, const GitWants& wants);
// How many sections end the answer to AskForObjects, where the connection stays open.
int SectionsOfObjects(const GitServer& server, const GitWants& wants);
// The pack in the answer, which takes its place. kUnavailable where it is cut off, or the server refuses it.
Status KeepPack(std::string& answer);

}  // namespace capi::fetch
