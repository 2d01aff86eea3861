#include "local/programs/image_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "api/text.h"
#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "local/programs/executable.h"
#include "local/programs/scratch.h"
#include "local/programs/unpack.h"

namespace capi::local {
namespace {

constexpr std::uint64_t kMostOfConfiguration = 4u << 20;  // bytes
constexpr std::uint64_t kMostPacked = std::uint64_t{4} << 30;

fetch::Platform Here() { return *fetch::ParsePlatform(ThisPlatform()); }

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

// How many files, folders and links an unpacked image has.
std::uint64_t EntriesOf(const std::string& folder) {
  std::uint64_t count = 0;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator it(folder + "/root", error), end; !error && it != end;
       it.increment(error))
    ++count;
  return count;
}

// As it was when it was unpacked.
std::uint64_t RecordedEntries(const std::string& folder) {
  constexpr size_t kMostDigits = 20;
  std::uint64_t count = 0;
  auto text = ReadFile(folder + "/entries", kMostDigits);
  return text.ok() && api::ParseUint(*text, count) ? count : 0;
}

}  // namespace

std::string ImageStore::FolderOf(const std::string& digest) const {
  return folder_ + "/" + ReplaceAll(digest, ":", "-");
}

std::string ImageStore::NameFile(const api::OciReference& reference) const {
  return folder_ + "/names/" + Sha256Hex(reference.ToString());
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

Result<Program> ImageStore::Find(const Context& ctx, const api::OciReference& reference) {
  const Turns::Turn turn = TRY(pulls_.Take(ctx, reference.ToString()));
  const std::string digest = TRY(Unpacked(ctx, reference));
  auto program = ProgramOf(digest);
  if (program.ok() || EntriesOf(FolderOf(digest)) == RecordedEntries(FolderOf(digest))) return program;
  ctx.log.Warn("files of an image were lost on this machine: it is pulled again", {{"image", reference.ToString()}});
  TRY(MoveAside(digest));
  return ProgramOf(TRY(Pull(ctx, reference)));
}

Result<std::string> ImageStore::Unpacked(const Context& ctx, const api::OciReference& reference) {
  const std::string known = KnownDigest(reference);
  if (!known.empty() && !MayMove(reference)) return known;
  auto pulled = Pull(ctx, reference);
  if (pulled.ok() || known.empty() || !pulled.error().Transient()) return pulled;
  ctx.log.Warn("the registry of an image is away: what is here of it is used",
               {{"image", reference.ToString()}, {"reason", pulled.error().message}});
  return known;
}

Result<std::string> ImageStore::Pull(const Context& ctx, const api::OciReference& reference) {
  fetch::OciPull pull(reference, registry_(reference.host));
  // The index that a digest names has to be whole.
  const bool whole = !reference.digest.empty();
  auto image = pull.Image(ctx, whole ? std::vector<fetch::Platform>{} : std::vector<fetch::Platform>{Here()});
  if (!image.ok()) return AsUnsupported(image.error());
  auto manifest = ChooseManifest(*image, Here());
  if (!manifest.ok()) return AsUnsupported(manifest.error());
  if (!IsThere(manifest->digest)) {
    ctx.log.Info("pulling an image", {{"image", reference.ToString()}, {"digest", manifest->digest}});
    TRY(Unpack(ctx, pull, *manifest));
  }
  std::error_code error;
  std::filesystem::create_directories(folder_ + "/names", error);
  if (error) return FileError(folder_ + "/names", error.value());
  TRY(WriteFile(NameFile(reference), manifest->digest));
  return manifest->digest;
}

Status ImageStore::Unpack(const Context& ctx, fetch::OciPull& pull, const ChosenManifest& manifest) {
  std::uint64_t packed = 0;
  for (const ImageLayer& layer : manifest.layers) packed += layer.size;
  if (packed > kMostPacked)
    return Error{Code::kInvalidArgument,
                 fmt::format("its layers have more than {} MiB, the most there may be", kMostPacked >> 20),
                 {}};
  const std::string configuration = TRY(ReadConfiguration(ctx, pull, manifest));
  if (Status is_for = fetch::CheckPlatforms(configuration, {Here()}); !is_for.ok())
    return AsUnsupported(is_for.error());
  TRY(ReadImageConfig(configuration));
  const std::unique_ptr<Scratch> scratch = TRY(Scratch::Create(folder_));
  Unpacker unpacker(scratch->path());
  auto take = [&](std::string_view piece) -> Status {
    TRY(ctx.Check());
    return unpacker.Add(piece);
  };
  for (const ImageLayer& layer : manifest.layers) {
    TRY(unpacker.BeginLayer());
    TRY_WITH(pull.Blob(ctx, layer.digest, layer.size, take), "layer " + layer.digest);
    TRY_WITH(unpacker.EndLayer(), "layer " + layer.digest);
  }
  TRY(unpacker.Finish());
  TRY(WriteFile(scratch->path() + "/entries", fmt::format("{}", EntriesOf(scratch->path()))));
  TRY(WriteFile(scratch->path() + "/config.json", configuration));
  // What is there without this file isn't whole, and would stand in the way.
  if (!IsThere(manifest.digest)) TRY(MoveAside(manifest.digest));
  return scratch->Keep(FolderOf(manifest.digest));
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
    out.path = TRY(ProgramIn(out.root, words.front(), config.working_folder, config.Variable("PATH")));
    TRY(CheckRuns(out.path));
    words.erase(words.begin());
  }
  out.entrypoint_arguments = std::move(config.entrypoint);
  out.cmd = std::move(config.cmd);
  out.environment = std::move(config.environment);
  return out;
}

}  // namespace capi::local
