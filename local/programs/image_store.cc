#include "local/programs/image_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "api/text.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "local/programs/unpack.h"

namespace capi::local {
namespace {

constexpr std::uint64_t kMostOfConfiguration = 4u << 20;  // bytes
constexpr Seconds kLook{5};                               // for a registry, where what is here would do
constexpr Seconds kAnew{60};                              // for all of an image, where what is left of it would do
constexpr Millis kLockLook{20};
constexpr std::uint64_t kMostPacked = std::uint64_t{4} << 30;

bool MayMove(const api::OciReference& reference) {
  return reference.digest.empty() && (reference.tag.empty() || reference.tag == "latest");
}

// Nothing of this is for another machine: who asks has nothing else to try with this image.
Error AsUnsupported(Error error) {
  if (error.code == Code::kNotFound && error.message.find("it is not for") != std::string::npos)
    error.code = Code::kUnsupported;
  return error;
}

Result<std::string> ReadConfiguration(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest) {
  if (manifest.configuration_size > kMostOfConfiguration)
    return Error{Code::kInvalidArgument, "its configuration is too large", {}};
  std::string out;
  TRY(pull.Blob(ctx, manifest.configuration, manifest.configuration_size, [&](std::string_view piece) {
    out += piece;
    return Ok();
  }));
  return out;
}

// What its bytes are is wrong, and not this machine.
bool IsOfImage(const Error& error) { return error.code == Code::kInvalidArgument || error.code == Code::kUnsupported; }

// How many files, folders and links an unpacked image has. kInternal where they can't all be seen.
Result<std::uint64_t> EntriesOf(const std::string& folder) {
  std::uint64_t count = 0;
  std::error_code error;
  // A folder that may not be read is none of the image's: they are made readable.
  constexpr auto kSkip = std::filesystem::directory_options::skip_permission_denied;
  for (std::filesystem::recursive_directory_iterator it(folder + "/root", kSkip, error), end; !error && it != end;
       it.increment(error))
    ++count;
  if (error && error.value() != ENOENT) return FileError(folder, error.value());
  return count;
}

// As it was when it was unpacked.
std::uint64_t RecordedEntries(const std::string& folder) {
  constexpr size_t kMostDigits = 20;
  std::uint64_t count = 0;
  auto text = ReadFile(folder + "/entries", kMostDigits);
  return text.ok() && api::ParseUint(*text, count) ? count : 0;
}

// Of an image among all processes: while one looks whether it is whole, and puts it there. Thread-compatible.
class FileLock {
 public:
  // Waits for the others: as long as a folder is moved; one of them may be stopped, or on another machine.
  static Result<std::unique_ptr<FileLock>> Take(const Context& ctx, const std::string& path) {
    const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) return FileError(path, errno);
    auto lock = std::unique_ptr<FileLock>(new FileLock(fd));
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 && (errno == EINTR || errno == EWOULDBLOCK)) {
      TRY(ctx.Check());
      SystemClock().Sleep(ctx.stop, kLockLook);
    }
    return lock;  // also where the file system has no locks
  }
  ~FileLock() { close(fd_); }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  const int fd_;
};

// A disk that is full to the last byte takes etcd's with it.
Status CheckRoom(const std::string& folder, std::uint64_t bytes) {
  std::error_code error;
  const std::uint64_t room = std::filesystem::space(folder, error).available;
  if (error) return FileError(folder, error.value());
  if (room >= bytes) return Ok();
  return Error{Code::kFailedPrecondition,
               fmt::format("{} has room for {} MiB, and the image has {} MiB, packed: make room", folder, room >> 20,
                           (bytes >> 20) + 1),
               {}};
}

}  // namespace

std::string ImageStore::FolderOf(const std::string& digest) const {
  return folder_ + "/" + ReplaceAll(digest, ":", "-");
}

std::string ImageStore::NameFile(const api::OciReference& reference) const {
  return folder_ + "/names/" + Sha256Hex(reference.ToString() + " " + platform_);
}

bool ImageStore::IsThere(const std::string& digest) const {
  struct stat info {};
  return stat((FolderOf(digest) + "/config.json").c_str(), &info) == 0;
}

std::string ImageStore::KnownDigest(const api::OciReference& reference) const {
  auto digest = ReadFile(NameFile(reference), 100);
  if (!digest.ok() || !api::IsSha256Digest(*digest)) return "";
  return IsThere(*digest) ? *digest : "";
}

Status ImageStore::MoveAside(const std::string& digest) const {
  const std::unique_ptr<Scratch> scratch = TRY(Scratch::Create(folder_));
  const std::string folder = FolderOf(digest);
  const bool gone = std::rename(folder.c_str(), (scratch->path() + "/broken").c_str()) == 0 || errno == ENOENT;
  return gone ? Ok() : Status(FileError(folder, errno));
}

bool ImageStore::Has(const api::OciReference& reference) const {
  return !MayMove(reference) && !KnownDigest(reference).empty();
}

Result<bool> ImageStore::IsLost(const std::string& digest, bool again) {
  {
    MutexLock lock(mu_);
    if (counted_.contains(digest) && !again) return false;
  }
  const bool lost = TRY(EntriesOf(FolderOf(digest))) < RecordedEntries(FolderOf(digest));
  MutexLock lock(mu_);
  if (!lost) counted_.insert(digest);
  return lost;
}

Result<Program> ImageStore::Find(const Context& ctx, const api::OciReference& reference) {
  const Turns::Turn turn = TRY(pulls_.Take(ctx, reference.ToString()));
  const std::string digest = TRY(Unpacked(ctx, reference));
  auto program = ProgramOf(digest);
  const bool starts = program.ok() && !program->entrypoint_error;
  auto lost = IsLost(digest, !starts);
  if (!lost.ok() || !*lost) return program;
  ctx.log.Warn("files of an image were lost on this machine: it is pulled again", {{"image", reference.ToString()}});
  auto again =
      starts ? Pull(ctx.WithTimeout(kAnew), ctx.WithTimeout(kLook), reference, true) : Pull(ctx, ctx, reference, true);
  if (again.ok() || (starts && ctx.Check().ok())) {
    // What it removes itself at each start isn't brought back each time; and who starts doesn't wait each time for a
    // registry that is away.
    MutexLock lock(mu_);
    counted_.insert(digest);
  }
  if (again.ok()) return ProgramOf(*again);
  return starts ? program : Result<Program>(again.error());  // it may do with what is left
}

Result<std::string> ImageStore::Unpacked(const Context& ctx, const api::OciReference& reference) {
  const std::string known = KnownDigest(reference);
  if (known.empty()) return Pull(ctx, ctx, reference, false);
  if (!MayMove(reference)) return known;
  // Whoever is started again doesn't wait for a registry that is away.
  auto pulled = Pull(ctx, ctx.WithTimeout(kLook), reference, false);
  if (pulled.ok() || pulled.code() == Code::kUnsupported) return pulled;
  TRY(ctx.Check());
  ctx.log.Warn("what is here of an image is used: whether there is a newer one can't be told, or it can't be had",
               {{"image", reference.ToString()}, {"reason", pulled.error().message}});
  return known;
}

Error ImageStore::OfRegistry(Error error, const api::OciReference& reference) const {
  const bool wanted = error.code == Code::kUnauthenticated || error.code == Code::kPermissionDenied;
  if (wanted && registry_(reference.host).credentials.empty())
    error.message = fmt::format(
        "registry {} has none for everybody, and is asked without credentials (imagePullSecrets aren't read)",
        reference.host);
  return error;
}

Result<fetch::OciImage> ImageStore::Look(const Context& look, fetch::OciPull& pull,
                                         const api::OciReference& reference) const {
  // The index that a digest names has to be whole.
  std::vector<fetch::Platform> platforms;
  if (reference.digest.empty()) platforms.push_back(*fetch::ParsePlatform(platform_));
  auto image = pull.Image(look, platforms);
  if (!image.ok()) return OfRegistry(AsUnsupported(image.error()), reference);
  return image;
}

Result<std::string> ImageStore::Pull(const Context& ctx, const Context& look, const api::OciReference& reference,
                                     bool anew) {
  fetch::OciPull pull(reference, registry_(reference.host));
  const fetch::OciImage image = TRY(Look(look, pull, reference));
  return Take(ctx, pull, image, reference, anew);
}

Result<std::string> ImageStore::Take(const Context& ctx, fetch::OciPull& pull, const fetch::OciImage& image,
                                     const api::OciReference& reference, bool anew) {
  auto manifest = ChooseManifest(image, *fetch::ParsePlatform(platform_));
  if (!manifest.ok()) return AsUnsupported(manifest.error());
  if (anew || !IsThere(manifest->digest)) {
    if (auto bad = BadImage(manifest->digest)) return *bad;
    ctx.log.Info("pulling an image", {{"image", reference.ToString()}, {"digest", manifest->digest}});
    TRY(Unpack(ctx, pull, *manifest, reference));
  }
  std::error_code error;
  std::filesystem::create_directories(folder_ + "/names", error);
  if (error) return FileError(folder_ + "/names", error.value());
  TRY(WriteFile(NameFile(reference), manifest->digest));
  return manifest->digest;
}

std::optional<Error> ImageStore::BadImage(const std::string& digest) const {
  MutexLock lock(mu_);
  auto bad = bad_.find(digest);
  return bad == bad_.end() ? std::nullopt : std::optional(bad->second);
}

Error ImageStore::KeepBad(const std::string& digest, Error error) {
  if (!IsOfImage(error)) return error;
  MutexLock lock(mu_);
  return bad_.insert_or_assign(digest, std::move(error)).first->second;
}

Status ImageStore::Unpack(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest,
                          const api::OciReference& reference) {
  std::uint64_t packed = 0;
  for (const ImageLayer& layer : manifest.layers) packed += layer.size;
  if (packed > kMostPacked)
    return Error{Code::kInvalidArgument,
                 fmt::format("its layers have more than {} MiB, the most there may be", kMostPacked >> 20),
                 {}};
  auto configuration = ReadConfiguration(ctx, pull, manifest);
  if (!configuration.ok()) return OfRegistry(configuration.error(), reference);
  Status is_for = fetch::CheckPlatforms(*configuration, {*fetch::ParsePlatform(platform_)});
  if (!is_for.ok()) return KeepBad(manifest.digest, AsUnsupported(is_for.error()));
  if (auto read = ReadImageConfig(*configuration); !read.ok()) return KeepBad(manifest.digest, read.error());
  const std::unique_ptr<Scratch> scratch = TRY(Scratch::Create(folder_));
  TRY(CheckRoom(scratch->path(), packed));
  TRY(UnpackLayers(ctx, pull, manifest, reference, scratch->path()));
  const std::uint64_t entries = TRY(EntriesOf(scratch->path()));
  TRY(WriteFile(scratch->path() + "/entries", fmt::format("{}", entries)));
  TRY(WriteFile(scratch->path() + "/config.json", *configuration));
  return PutThere(ctx, *scratch, manifest.digest);
}

Status ImageStore::UnpackLayers(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest,
                                const api::OciReference& reference, const std::string& folder) {
  Unpacker unpacker(folder);
  for (const ImageLayer& layer : manifest.layers) {
    const std::string which = "layer " + layer.digest;
    Status own = unpacker.BeginLayer();  // of what came, or of this machine; any other is the registry's
    auto take = [&](std::string_view piece) -> Status {
      TRY(ctx.Check());
      if (own.ok()) own = unpacker.Add(piece);
      return own.ok() || IsOfImage(own.error()) ? Ok() : own;  // at its end is known whether these are its bytes
    };
    if (!own.ok()) return own.error();
    Status came = pull.Blob(ctx, layer.digest, layer.size, take);
    if (!came.ok() && (own.ok() || IsOfImage(own.error()))) return OfRegistry(came.error(), reference).With(which);
    if (own.ok()) own = unpacker.EndLayer();
    if (!own.ok()) return KeepBad(manifest.digest, own.error().With(which));
  }
  Status done = unpacker.Finish();
  return done.ok() ? Ok() : Status(KeepBad(manifest.digest, done.error()));
}

// One that is whole stays: programs of another process run in it.
Status ImageStore::PutThere(const Context& ctx, Scratch& scratch, const std::string& digest) {
  std::error_code error;
  std::filesystem::create_directories(folder_ + "/names", error);
  const auto lock = TRY(FileLock::Take(ctx, folder_ + "/names/" + Sha256Hex(digest) + ".lock"));
  auto lost = IsThere(digest) ? IsLost(digest, true) : Result<bool>(true);
  // What is there and isn't whole would stand in the way.
  if (TRY(std::move(lost))) TRY(MoveAside(digest));
  return scratch.Keep(FolderOf(digest));
}

Result<Program> ImageStore::ProgramOf(const std::string& digest) const {
  const std::string text = TRY(ReadFile(FolderOf(digest) + "/config.json", kMostOfConfiguration));
  ImageConfig config = TRY(ReadImageConfig(text));
  Program out;
  out.root = FolderOf(digest) + "/root";
  out.source = "image " + digest;
  struct stat info {};
  out.working_folder = PathBelow(out.root, config.working_folder);
  if (stat(out.working_folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) out.working_folder = out.root;
  std::vector<std::string>& words = config.entrypoint.empty() ? config.cmd : config.entrypoint;
  if (!words.empty()) {
    auto path = ProgramIn(out.root, words.front(), config.working_folder, config.Variable("PATH"));
    Status runs = path.ok() ? CheckRuns(*path) : Status(path.error());
    if (runs.ok()) {
      out.path = *path;
    } else {
      out.entrypoint_error = runs.error();
    }
    words.erase(words.begin());
  }
  out.entrypoint_arguments = std::move(config.entrypoint);
  out.cmd = std::move(config.cmd);
  out.environment = std::move(config.environment);
  return out;
}

}  // namespace capi::local
