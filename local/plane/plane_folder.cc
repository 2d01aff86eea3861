#include "local/plane/plane_folder.h"

#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"

namespace capi::local {
namespace {

namespace fs = std::filesystem;

constexpr char kMarker[] = "capi-local.json";
constexpr int kFormat = 1;
constexpr char kLock[] = "lock";
// The data of a plane that is being deleted. As long as it is there nobody runs what is left.
constexpr char kGoing[] = "etcd.gone";
// All that a plane makes in its folder, but the marker and the lock.
constexpr const char* kOwn[] = {"etcd",          "pods",       "pki",     "logs",    "kubeconfig",
                                "settings.json", "state.json", "private", "version", kGoing};

Result<std::string> NewId() {
  unsigned char bytes[8];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) return Error{Code::kInternal, "no random numbers", {}};
  std::string id;
  for (unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

// "" where it has no marker.
Result<std::string> MarkedId(const std::string& folder) {
  const std::string path = fmt::format("{}/{}", folder, kMarker);
  auto text = ReadFile(path, 1u << 16);
  if (!text.ok() && text.code() == Code::kNotFound) return std::string();
  if (!text.ok()) return text.error();
  auto marker = ParseJson(*text);
  const std::string id = marker.ok() ? GetString(*marker, {"plane"}) : "";
  if (id.empty()) return Error{Code::kFailedPrecondition, fmt::format("{}: it is no marker of a plane", path), {}};
  if (GetInt(*marker, {"format"}) != kFormat)
    return Error{Code::kFailedPrecondition, fmt::format("{}: the plane was made by another version", path), {}};
  return id;
}

// A folder of ours that nobody else may look into.
bool IsOurs(const std::string& folder) {
  struct stat info {};
  return lstat(folder.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == geteuid() &&
         (info.st_mode & 077) == 0;
}

Status CheckOwner(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return FileError(folder, errno);
  auto refused = [](std::string message) { return Error{Code::kPermissionDenied, std::move(message), {}}; };
  if (info.st_uid != geteuid())
    return refused(fmt::format("{} is another user's: name a folder of your own with --dir", folder));
  if ((info.st_mode & 022) == 0) return Ok();
  return refused(fmt::format("others may write into {}: `chmod go-w {}`, or name another folder with --dir", folder,
                             ShellQuote(folder)));
}

// A marker that isn't whole yet.
bool IsNewMarker(const std::string& name) {
  return name.starts_with('.') && name.find(fmt::format(".{}.", kMarker)) != name.npos;
}

// Or a lock alone, which one that was killed while it removed a plane has left, or what another `up` begins with.
Result<bool> HasNothing(const std::string& folder) {
  const std::vector<std::string> names = TRY(ListDir(folder));
  return std::all_of(names.begin(), names.end(),
                     [](const std::string& name) { return name == kLock || IsNewMarker(name); });
}

// The id of the marker that is there afterwards: of two `up` at once one makes it, and never over the other's. "" where
// that one is gone again, kNotFound where the folder is.
Result<std::string> MakeMarker(const std::string& folder) {
  const std::string id = TRY(NewId());
  const std::string path = fmt::format("{}/{}", folder, kMarker);
  const std::string made = fmt::format("{}/.{}.{}", folder, kMarker, id);
  TRY(WriteFile(made, ToJsonText({{"plane", id}, {"format", kFormat}}) + "\n", 0600));
  const bool linked = link(made.c_str(), path.c_str()) == 0;
  const bool lost = !linked && errno == EEXIST;
  // A file system without links.
  if (!linked && !lost && rename(made.c_str(), path.c_str()) != 0) return FileError(path, errno);
  if (linked || lost) unlink(made.c_str());
  return lost ? MarkedId(folder) : id;
}

Status MakeFolder(const std::string& folder) {
  if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return Ok();
  return FileError(folder, errno);
}

bool IsUsable(const std::string& folder) {
  struct stat info {};
  return !folder.empty() && folder.front() == '/' && folder.size() < 64 && stat(folder.c_str(), &info) == 0 &&
         S_ISDIR(info.st_mode) && access(folder.c_str(), W_OK | X_OK) == 0;
}

}  // namespace

Result<std::string> AbsolutePath(const std::string& path) {
  if (path.empty()) return Error{Code::kInvalidArgument, "\"\" is no path", {}};
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error) return Error{Code::kInvalidArgument, fmt::format("\"{}\": {}", path, error.message()), {}};
  std::string out = absolute;
  while (out.size() > 1 && out.back() == '/') out.pop_back();
  return out;
}

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:@%+=";
  if (!text.empty() && text.find_first_not_of(kPlain) == text.npos) return std::string(text);
  return "'" + ReplaceAll(std::string(text), "'", "'\\''") + "'";
}

Result<PlaneFolder> PlaneFolder::Make(const std::string& path) {
  const std::string folder = TRY(AbsolutePath(path));
  std::error_code error;
  const bool there = fs::exists(folder, error);
  if (there && !fs::is_directory(folder, error))
    return Error{Code::kInvalidArgument, fmt::format("{} is no folder: name another one with --dir", folder), {}};
  if (there) TRY(CheckOwner(folder));
  std::string id = there ? TRY(MarkedId(folder)) : "";
  if (!id.empty()) return PlaneFolder(folder, std::move(id));
  if (there && !TRY(HasNothing(folder))) {
    return Error{Code::kFailedPrecondition,
                 fmt::format("{} has files in it that are no plane's: name another folder with --dir", folder),
                 {}};
  }
  const fs::path above = fs::path(folder).parent_path();
  if (!there && !fs::create_directories(above, error) && error)
    return Error{Code::kInvalidArgument, fmt::format("{}: {}", above.string(), error.message()), {}};
  if (!there) TRY(MakeFolder(folder));
  if (!there) TRY(CheckOwner(folder));  // somebody else may have made it meanwhile
  auto made = MakeMarker(folder);
  const bool deleted = made.ok() ? made->empty() : made.code() == Code::kNotFound;
  if (deleted) return Error{Code::kUnavailable, fmt::format("{} was deleted meanwhile", folder), {}};
  if (!made.ok()) return made.error();
  return PlaneFolder(folder, *std::move(made));
}

Result<PlaneFolder> PlaneFolder::Open(const std::string& path) {
  const std::string folder = TRY(AbsolutePath(path));
  std::string id = TRY(MarkedId(folder));
  if (id.empty()) {
    return Error{
        Code::kNotFound,
        fmt::format("no plane lives in {}: `clusterctl local up --dir {}` makes one", folder, ShellQuote(path)),
        {}};
  }
  TRY(CheckOwner(folder));
  return PlaneFolder(folder, std::move(id));
}

Status PlaneFolder::CheckIsThere() const {
  const auto id = MarkedId(path_);
  if (id.ok() && *id == id_) return Ok();
  return Error{Code::kUnavailable, fmt::format("the plane in {} was deleted meanwhile", path_), {}};
}

bool PlaneFolder::IsHalfDeleted() const {
  std::error_code error;
  return fs::exists(File(kGoing), error);
}

Status PlaneFolder::MakeFolders() const {
  for (const std::string& folder : {Etcd(), File("pki"), Logs(), Pods()}) TRY(MakeFolder(folder));
  return Ok();
}

std::string PlaneFolder::Private(const Getenv& getenv) const {
  const std::string name = "/capi-local-" + id_;
  for (const std::string& place : {getenv("XDG_RUNTIME_DIR").value_or(""), std::string("/dev/shm")}) {
    if (IsUsable(place)) return place + name;
  }
  return "/tmp" + name;
}

Status PlaneFolder::MakePrivate(const std::string& folder) {
  RemovePrivate(folder);
  if (mkdir(folder.c_str(), 0700) != 0) return FileError(folder, errno);
  return Ok();
}

void PlaneFolder::RemovePrivate(const std::string& folder) {
  std::error_code ignored;
  if (IsOurs(folder)) fs::remove_all(folder, ignored);
}

Status PlaneFolder::TellPrivate(const std::string& folder) const { return WriteFile(File("private"), folder, 0600); }

void PlaneFolder::RemovePrivates() const {
  const std::string name = "/capi-local-" + id_;
  for (const std::string& place :
       {fmt::format("/run/user/{}", geteuid()), std::string("/dev/shm"), std::string("/tmp")})
    RemovePrivate(place + name);
  const auto told = ReadFile(File("private"), 1u << 12);
  if (told.ok() && told->ends_with(name)) RemovePrivate(*told);
}

Result<bool> PlaneFolder::Remove() const {
  std::error_code error;
  // In one step, which needs no room on the disk: nobody runs on a part of the data where this is broken off.
  fs::rename(Etcd(), File(kGoing), error);
  const bool none = error == std::errc::no_such_file_or_directory;
  if (error && !none && !IsHalfDeleted())
    return Error{Code::kInternal, fmt::format("{}: {}", Etcd(), error.message()), {}};
  for (const char* name : kOwn) {
    fs::remove_all(File(name), error);
    if (error) return Error{Code::kInternal, fmt::format("{}: {}", File(name), error.message()), {}};
  }
  for (const std::string& name : TRY(ListDir(path_))) {
    if (IsNewMarker(name)) fs::remove(File(name), error);
  }
  // The lock at the end: whoever has waited for it finds that there is no plane any more.
  for (const char* name : {kMarker, kLock}) {
    fs::remove(File(name), error);
    if (error) return Error{Code::kInternal, fmt::format("{}: {}", File(name), error.message()), {}};
  }
  return fs::remove(path_, error) && !error;
}

}  // namespace capi::local
