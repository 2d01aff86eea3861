// What a git server answers: whatever it is, an object that is read has the name that its bytes have, and nothing comes
// of it that is beyond the limits.
#include "api/validate/git_reference.h"
#include "base/fuzz.h"
#include "fetch/git/pack.h"
#include "fetch/git/protocol.h"
#include "fetch/git/release_files.h"

namespace {

using namespace capi;

void ReadObjects(std::string_view input) {
  const fetch::PackLimits limits{
      .objects = 64, .unpacked = 1u << 20, .object = 64u << 10, .kept = 128u << 10, .depth = 8};
  // Its sum is of no use against who makes it.
  Sha1 sum;
  sum.Add(input);
  const Sha1Digest is = sum.Finish();
  auto pack = fetch::Pack::Read({}, std::string(input) + std::string(is.data(), is.size()), limits);
  if (!pack.ok()) {
    FUZZ_REQUIRE(pack.code() == Code::kInvalidArgument);
    return;
  }
  FUZZ_REQUIRE(pack->size() <= limits.objects);
  for (const Sha1Digest& id : pack->Ids()) {
    auto type = pack->TypeOf(id);
    FUZZ_REQUIRE(type.ok());
    auto text = pack->Get(id, *type);
    if (text.ok()) FUZZ_REQUIRE(text->size() <= limits.object && fetch::IdOf(*type, *text) == id);
    auto folder = fetch::FolderOfTag(*pack, id, "a/b");
    if (!folder.ok()) FUZZ_REQUIRE(folder.code() == Code::kInvalidArgument || folder.code() == Code::kNotFound);
  }
}

}  // namespace

CAPI_FUZZ(git, "fetch/git",
          {"001e# service=git-upload-pack\n0000000eversion 2\n0018object-format=sha1\n0012fetch=shallow\n0000",
           "0048b0b3ae23b0b3ae23b0b3ae23b0b3ae23b0b3ae23b0b3 refs/tags/v1.0.0\n0000",
           "0008NAK\n000a\x01PACK!0006\x02.0000", "https://git.example.com:8443/org/repository.git",
           "ssh://me@[::1]:2222/a", "git@git.example.com:org/repository.git"}) {
  for (const bool over_http : {false, true}) {
    auto server = fetch::ReadGitServer(input, over_http);
    if (server.ok()) FUZZ_REQUIRE(server->tags.size() <= input.size());
    if (!server.ok()) FUZZ_REQUIRE(server.code() == Code::kInvalidArgument || server.code() == Code::kUnsupported);
  }
  auto tags = fetch::ReadGitTags(input);
  FUZZ_REQUIRE(tags.ok() || tags.code() == Code::kInvalidArgument);
  std::string answer(input);
  if (fetch::KeepPack(answer).ok()) FUZZ_REQUIRE(answer.size() <= input.size());
  if (auto reference = api::ParseGitReference({std::string(input), "", {}}); reference.ok()) {
    auto again = api::ParseGitReference({reference->ToString(), "", {}});
    FUZZ_REQUIRE(again.ok() && again->ToString() == reference->ToString());
    FUZZ_REQUIRE(reference->path.find_first_of("'\"\\ ?#%$`\n") == std::string::npos);
    FUZZ_REQUIRE(reference->host.find_first_of("/@?#% ") == std::string::npos);
  }
  ReadObjects(input);
}
