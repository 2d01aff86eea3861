#include "fetch/git/git.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "api/text.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "fetch/download.h"
#include "fetch/git/conversation.h"
#include "fetch/git/pack.h"
#include "fetch/git/protocol.h"
#include "fetch/git/release_files.h"
#include "fetch/url.h"

namespace capi::fetch {
namespace {

constexpr size_t kMostPacked = 8u << 20;  // of what the server sends of a version
constexpr size_t kMostReleases = 2;       // that are kept: what is chosen, and what is fetched
constexpr std::string_view kPlainComponents = "components.yaml";
constexpr std::string_view kLfs = "version https://git-lfs.github.com/spec/";

Error NotFound(std::string message) { return Error{Code::kNotFound, std::move(message), {}}; }
Error Invalid(std::string message) { return Error{Code::kInvalidArgument, std::move(message), {}}; }

// Of one tag, the files that a release may have. A value.
struct GitRelease {
  std::map<std::string, std::string> texts;
  std::vector<std::string> others;  // names of what else is there
};

// Thread-safe.
class GitRepository : public Repository {
 public:
  GitRepository(api::GitReference reference, Result<GitCredentials> credentials, std::string components,
                const HttpOptions& options, GitFiles files)
      : reference_(std::move(reference)),
        credentials_(std::move(credentials)),
        components_(std::move(components)),
        options_(options),
        files_(files) {}

  std::string Describe() const override { return reference_.ToString(); }
  std::string ComponentsFile() const override { return components_; }

  Result<std::vector<api::Version>> Versions(const Context& ctx) override {
    auto tags = Tags(ctx);
    if (!tags.ok()) return tags.error().With(fmt::format("failed to list the versions of {}", Describe()));
    std::vector<api::Version> versions;
    for (const auto& [tag, id] : **tags) {
      if (auto version = api::Version::Parse(tag); version.ok()) versions.push_back(*std::move(version));
    }
    Order(versions);
    return versions;
  }

  Result<std::string> File(const Context& ctx, const api::Version& version, std::string_view name) override {
    auto text = Read(ctx, version, std::string(name));
    if (text.ok()) return text;
    return text.error().With(fmt::format("failed to get {} of {} {}", name, Describe(), version.ToString()));
  }

 private:
  Result<std::string> Read(const Context& ctx, const api::Version& version, const std::string& name) {
    const auto release = TRY(ReleaseOf(ctx, version));
    if (auto found = release->texts.find(name); found != release->texts.end()) {
      if (found->second.starts_with(kLfs))
        return Invalid("the file is kept in Git LFS, which isn't read: commit the file itself");
      return found->second;
    }
    std::vector<std::string> there = release->others;
    for (const auto& [file, text] : release->texts) there.push_back(file);
    return NotFound(fmt::format("{} has no file of that name{}{}",
                                reference_.folder.empty() ? "its top folder" : "folder " + reference_.folder,
                                there.empty() ? "" : "; it has ", there.empty() ? "" : JoinNames(there, 10)));
  }

  // Our own limit of time is the server's slowness.
  Result<std::unique_ptr<GitConversation>> Begin(const Context& ctx, GitServer& server) const {
    if (!credentials_.ok()) return credentials_.error();
    auto talk = TRY(Talk(reference_, *credentials_, options_));
    const std::string begun = TRY(talk->Begin(ctx));
    server = TRY(ReadGitServer(begun, talk->over_http()));
    return talk;
  }

  Result<std::shared_ptr<const GitTags>> Tags(const Context& ctx) {
    const Context limited = ctx.WithTimeout(options_.request_timeout);
    auto tags = AskTags(limited);
    if (!tags.ok()) return OfOwnLimit(ctx, tags.error());
    return tags;
  }

  Result<std::shared_ptr<const GitTags>> AskTags(const Context& ctx) {
    {
      MutexLock lock(mu_);
      if (tags_) return tags_;
    }
    GitServer server;
    const auto talk = TRY(Begin(ctx, server));
    if (server.speaks_v2) {
      const std::string answer = TRY(talk->Ask(ctx, AskForTags(server), 1, options_.max_answer));
      server.tags = TRY(ReadGitTags(answer));
    }
    MutexLock lock(mu_);
    tags_ = std::make_shared<const GitTags>(std::move(server.tags));
    return tags_;
  }

  Result<std::shared_ptr<const GitRelease>> ReleaseOf(const Context& ctx, const api::Version& version) {
    const auto tags = TRY(Tags(ctx));
    const std::string with_v = version.ToString(), without = with_v.substr(1);  // I12
    auto tag = tags->find(with_v);
    if (tag == tags->end()) tag = tags->find(without);
    if (tag == tags->end()) return NotFound(fmt::format("there is no tag {}", with_v));
    {
      MutexLock lock(mu_);
      if (auto kept = releases_.find(tag->first); kept != releases_.end()) return kept->second;
      if (too_much_) return *too_much_;
    }
    auto release = AskRelease(ctx.WithTimeout(options_.request_timeout), tag->first, tag->second);
    if (!release.ok()) return OfOwnLimit(ctx, release.error()).With(fmt::format("tag {}", tag->first));
    auto kept = std::make_shared<const GitRelease>(*std::move(release));
    MutexLock lock(mu_);
    if (releases_.size() >= kMostReleases) releases_.clear();
    releases_[tag->first] = kept;
    return kept;
  }

  // Of a tag that the server has named: where there is no such repository by now there will be again.
  static Error OfNamedTag(Error error) {
    if (error.code == Code::kNotFound) error.code = Code::kUnavailable;
    return error;
  }

  // `too_much`: whether it is more than is read.
  static Result<Pack> AskObjects(const Context& ctx, GitConversation& talk, const GitServer& server,
                                 const GitWants& wants, bool& too_much) {
    auto answer = talk.Ask(ctx, AskForObjects(server, wants), SectionsOfObjects(server, wants), kMostPacked, &too_much);
    if (!answer.ok()) return OfNamedTag(answer.error());
    TRY(KeepPack(*answer));
    return Pack::Read(ctx, *std::move(answer), {}, &too_much);
  }

  // A commit has much the same files as the one before it, all of which come each time.
  void RememberTooMuch(const std::string& tag_name, const Error& error) {
    MutexLock lock(mu_);
    too_much_ = error.With(fmt::format(
        "not asked for: the server sends all files of a commit, and those of tag {} aren't to be read", tag_name));
  }

  // Where the server can leave files out, it is asked for those that count alone.
  Result<GitRelease> AskRelease(const Context& ctx, const std::string& tag_name, ObjectId tag) {
    GitServer server;
    const auto begun = Begin(ctx, server);
    if (!begun.ok()) return OfNamedTag(begun.error());
    GitConversation& talk = **begun;
    // Version 0 names the tags each time, and gives what they name by now alone. Nothing of this one is read so far.
    if (const auto now = server.tags.find(tag_name); now != server.tags.end()) tag = now->second;
    const GitWants commit{{tag}, true, true};
    bool too_much = false;
    auto whole = AskObjects(ctx, talk, server, commit, too_much);
    if (!whole.ok()) {
      if (!server.filters && too_much) RememberTooMuch(tag_name, whole.error());
      return whole.error();
    }
    const Pack& pack = *whole;
    const GitFolder folder = TRY(FolderOfTag(pack, tag, reference_.folder));
    std::map<std::string, ObjectId> files;
    GitRelease release;
    release.others = folder.others;
    for (const auto& [name, id] : folder.files) {
      if (CountsAsFile(name, folder)) {
        files.emplace(NameOf(name, folder), id);
      } else {
        release.others.push_back(name);
      }
    }
    GitWants missing;
    for (const auto& [name, id] : files) {
      if (!pack.Has(id)) missing.ids.push_back(id);
    }
    const bool all = missing.ids.empty();
    const Pack more = all ? Pack() : TRY(AskObjects(ctx, talk, server, missing, too_much));
    for (const auto& [name, id] : files) {
      auto text = (pack.Has(id) ? pack : more).Get(id, ObjectType::kBlob);
      if (!text.ok()) return Invalid(text.error().message);
      if (text->size() > options_.max_file) {
        return Invalid(
            fmt::format("{} is too large: {} bytes, and {} at most are read", name, text->size(), options_.max_file));
      }
      release.texts.emplace(name, *std::move(text));
    }
    return release;
  }

  // Under a plain name the components count where there are none under the provider's type.
  std::string NameOf(const std::string& name, const GitFolder& folder) const {
    if (folder.files.contains(components_) || !name.starts_with(kPlainComponents)) return name;
    return components_ + name.substr(kPlainComponents.size());
  }

  // metadata.yaml, the components, and what lies beside these two to verify them by (T14).
  bool CountsAsFile(const std::string& name, const GitFolder& folder) const {
    const std::string as = NameOf(name, folder);
    for (const std::string& file : {std::string(kMetadataFile), components_}) {
      if (file == components_ && files_ == GitFiles::kMetadata) continue;
      if (as == file) return true;
      for (std::string_view suffix : api::kSignatureSuffixes) {
        if (as == file + std::string(suffix)) return true;
      }
    }
    return false;
  }

  const api::GitReference reference_;
  const Result<GitCredentials> credentials_;
  const std::string components_;
  const HttpOptions options_;
  const GitFiles files_;
  Mutex mu_;
  std::shared_ptr<const GitTags> tags_ CAPI_GUARDED_BY(mu_);  // null: not asked for so far
  std::map<std::string, std::shared_ptr<const GitRelease>> releases_ CAPI_GUARDED_BY(mu_);  // by tag
  std::optional<Error> too_much_ CAPI_GUARDED_BY(mu_);
};

}  // namespace

Result<std::unique_ptr<Repository>> OpenGit(const api::GitSource& source,
                                            const std::map<std::string, std::string>& secret, api::ProviderType type,
                                            std::string_view name, const HttpOptions& options, GitFiles files) {
  api::GitReference reference = TRY(api::ParseGitReference(source));
  auto credentials = ReadGitCredentials(reference, secret);
  return std::unique_ptr<Repository>(std::make_unique<GitRepository>(std::move(reference), std::move(credentials),
                                                                     ComponentsFileOf(type, name), options, files));
}

}  // namespace capi::fetch
