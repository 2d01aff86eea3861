#include "local/programs/unpack.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/files.h"
#include "base/strings.h"

namespace capi::local {
namespace {

constexpr std::string_view kGzip = "\x1f\x8b", kZstd = "\x28\xb5\x2f\xfd";
constexpr size_t kHead = 4;
constexpr mode_t kPlain = 0644, kExecutable = 0755, kFolder = 0755;

Status MakeFolder(const std::string& path) {
  // Whatever the umask.
  if (mkdir(path.c_str(), kFolder) != 0 || chmod(path.c_str(), kFolder) != 0) return FileError(path, errno);
  return Ok();
}

}  // namespace

Unpacker::~Unpacker() {
  if (fd_ >= 0) close(fd_);
}

std::string Unpacker::ContentPath(size_t number) const { return fmt::format("{}/contents/{}", folder_, number); }

Status Unpacker::BeginLayer() {
  if (files_ == 0) {
    std::error_code error;
    std::filesystem::create_directories(folder_ + "/contents", error);
    if (error) return FileError(folder_, error.value());
  }
  tree_.BeginLayer();
  gunzip_.reset();
  head_.clear();
  known_ = false;
  reader_ = std::make_unique<fetch::LayerReader>(
      fetch::LayerVisitor{.begin = [this](const fetch::LayerEntry& entry) { return BeginEntry(entry); },
                          .content = [this](std::string_view piece) { return Write(piece); },
                          .end = [this] { return EndFile(); }});
  return Ok();
}

Status Unpacker::Add(std::string_view piece) {
  if (!known_) {
    head_ += piece;
    if (head_.size() < kHead) return Ok();
    known_ = true;
    if (head_.starts_with(kZstd))
      return Error{Code::kUnsupported, "a layer is packed with zstd, which isn't unpacked here: gzip is", {}};
    if (head_.starts_with(kGzip))
      gunzip_ = std::make_unique<GunzipStream>([this](std::string_view plain) { return AddPlain(plain); });
    const std::string all = std::exchange(head_, {});
    return gunzip_ != nullptr ? gunzip_->Add(all) : AddPlain(all);
  }
  return gunzip_ != nullptr ? gunzip_->Add(piece) : AddPlain(piece);
}

// Also what no file is made of has an end: it is unpacked, too.
Status Unpacker::AddPlain(std::string_view plain) {
  bytes_ += plain.size();
  if (bytes_ > most_bytes_)
    return Error{Code::kInvalidArgument,
                 fmt::format("its files have more than {} MiB, the most there may be", most_bytes_ >> 20),
                 {}};
  return reader_->Add(plain);
}

Status Unpacker::EndLayer() {
  if (gunzip_ != nullptr) TRY(gunzip_->Finish());
  if (!known_) return Error{Code::kInvalidArgument, "a layer is empty", {}};
  return reader_->Finish();
}

Status Unpacker::BeginEntry(const fetch::LayerEntry& entry) {
  const bool file = entry.kind == fetch::LayerEntry::Kind::kFile;
  if (file) ++files_;
  TRY(tree_.Add(entry, files_));
  if (!file) return Ok();
  const std::string path = ContentPath(files_);
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kPlain);
  if (fd_ < 0 || fchmod(fd_, entry.executable ? kExecutable : kPlain) != 0) return FileError(path, errno);
  return Ok();
}

Status Unpacker::Write(std::string_view piece) {
  while (!piece.empty()) {
    const ssize_t n = write(fd_, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return FileError(folder_, errno);
    piece.remove_prefix(static_cast<size_t>(n));
  }
  return Ok();
}

Status Unpacker::EndFile() {
  const int fd = std::exchange(fd_, -1);
  return close(fd) == 0 ? Ok() : Status(FileError(folder_, errno));
}

Status Unpacker::Finish() {
  std::vector<std::string> names;
  TRY(WriteFolder(tree_.root(), names));
  std::error_code ignored;
  std::filesystem::remove_all(folder_ + "/contents", ignored);
  return Ok();
}

// Folders on the way are those that were made here, so nothing is written through a link.
Status Unpacker::WriteFolder(const ImageTree::Node& folder, std::vector<std::string>& names) {
  const std::string here = names.empty() ? root() : root() + "/" + Join(names, "/");
  TRY(MakeFolder(here));
  for (const auto& [name, node] : folder.children) {
    const std::string path = here + "/" + name;
    switch (node->kind) {
      case ImageTree::Node::Kind::kFolder: {
        names.push_back(name);
        TRY(WriteFolder(*node, names));
        names.pop_back();
        break;
      }
      case ImageTree::Node::Kind::kFile: TRY(WriteFile(*node, path)); break;
      case ImageTree::Node::Kind::kLink: TRY(WriteLink(*node, names, path)); break;
    }
  }
  return Ok();
}

Status Unpacker::WriteFile(const ImageTree::Node& file, const std::string& path) {
  const auto [place, is_new] = placed_.emplace(file.content, path);
  const int failed =
      is_new ? std::rename(ContentPath(file.content).c_str(), path.c_str()) : link(place->second.c_str(), path.c_str());
  return failed == 0 ? Ok() : Status(FileError(path, errno));
}

Status Unpacker::WriteLink(const ImageTree::Node& link, const std::vector<std::string>& folder,
                           const std::string& path) const {
  const ImageTree::Place to = tree_.Follow(folder, link.target);
  if (to.node == nullptr) return Ok();
  std::string target;
  for (size_t i = 0; i < folder.size(); ++i) target += "../";
  target += to.path.empty() ? "." : Join(to.path, "/");
  return symlink(target.c_str(), path.c_str()) == 0 ? Ok() : Status(FileError(path, errno));
}

}  // namespace capi::local
