#include "local/programs/image_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/testing/temp_folder.h"
#include "fetch/oci/image_testing.h"
#include "local/programs/testing.h"

namespace capi::local {
namespace {

using fetch::OciAnswer;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr const char* kScript = "#!/bin/sh\necho \"$@\"\n";

std::string ManagerLayer(const std::string& content = kScript) {
  return fetch::TestLayer({{"manager", '0', content, "", 0755}, {"app/", '5'}});
}

class Images : public testing::Test {
 protected:
  Images() {
    registry_.set_registry_fault([this](const http::ServerRequest& request) -> std::optional<http::Response> {
      if (away_) return OciAnswer(503);
      if (damages_ && request.path.ends_with(fetch::OciDigest(Gzip(ManagerLayer()))))
        return OciAnswer(200, Gzip(ManagerLayer("#!/bin/sh\nevil")));
      return {};
    });
  }
  std::string Push(const MadeImage& made, const std::string& what = "org/manager:v1") {
    Status pushed = fetch::OciPush(fetch::At(registry_, what), {}).WriteImage({}, made.image, made.Pieces(), {}, {});
    EXPECT_TRUE(pushed.ok()) << pushed.error().message;
    return made.image.digest();
  }
  Result<Program> Find(const std::string& what = "org/manager:v1", const Context& ctx = fetch::Hurried()) {
    return store_.Find(ctx, fetch::At(registry_, what));
  }
  // What was asked of the registry since the last call.
  size_t Asked() {
    const size_t now = registry_.seen().size();
    return now - std::exchange(seen_, now);
  }
  std::vector<std::string> Kept() const {
    auto names = ListDir(folder_.path());
    return names.ok() ? *names : std::vector<std::string>();
  }
  // Where the files of the image are.
  std::string RootOf(const std::string& digest) const { return FolderOf(digest) + "/root"; }
  std::string FolderOf(const std::string& digest) const {
    return folder_ / ("sha256-" + digest.substr(digest.find(':') + 1));
  }

  std::atomic<bool> away_{false}, damages_{false};
  TempFolder folder_;
  fetch::OciStandIn registry_{std::map<std::string, fetch::OciArtifact>()};
  ImageStore store_{folder_.path(), [](const std::string&) { return fetch::OciOptions(); }};
  size_t seen_ = 0;
};

// G9: the image's own entrypoint, cmd, environment and working folder count.
TEST_F(Images, AProgramIsUnpackedAndStartedAsItsImageSays_G9) {
  const std::string digest = Push(MakeImage({fetch::TestLayer({{"manager", '0', "below"}}), ManagerLayer()},
                                            {{"Entrypoint", {"/manager", "--a"}},
                                             {"Cmd", {"--b"}},
                                             {"Env", {"PATH=/bin", "SSL_CERT_FILE=/certs"}},
                                             {"WorkingDir", "/app"}}));
  auto program = Find();
  ASSERT_TRUE(program.ok()) << program.error().message;
  EXPECT_EQ(program->root, RootOf(digest));
  EXPECT_EQ(program->path, program->root + "/manager");
  EXPECT_EQ(*ReadFile(program->path), kScript);
  EXPECT_THAT(program->entrypoint_arguments, ElementsAre("--a"));
  EXPECT_THAT(program->cmd, ElementsAre("--b"));
  EXPECT_THAT(program->environment, ElementsAre(Pair("PATH", "/bin"), Pair("SSL_CERT_FILE", "/certs")));
  EXPECT_EQ(program->working_folder, program->root + "/app");
  EXPECT_EQ(program->source, "image " + digest);
  // From then on the registry isn't asked, also by another process.
  EXPECT_GT(Asked(), 0u);
  EXPECT_TRUE(Find().ok());
  ImageStore other(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  EXPECT_EQ(other.Find({}, fetch::At(registry_, "org/manager:v1"))->path, program->path);
  EXPECT_EQ(Asked(), 0u);
  EXPECT_EQ(Find("org/manager@" + digest)->path, program->path);
  EXPECT_EQ(Asked(), 1u) << "a digest names the same files, which aren't read again";
}

TEST_F(Images, OfAnIndexItIsTheOneForThisMachine_G9) {
  const std::string other = Architecture() == "amd64" ? "arm64" : "amd64";
  const MadeImage here = MakeImage({ManagerLayer()}, {{"Entrypoint", {"/manager"}}});
  const MadeImage there = MakeImage({ManagerLayer("#!/bin/sh\nother")}, {{"Entrypoint", {"/manager"}}}, other);
  const std::string index = Push(MadeImage::Index({{other, there}, {Architecture(), here}}));
  EXPECT_EQ(Find()->root, RootOf(here.image.digest()));
  EXPECT_EQ(Find("org/manager@" + index)->root, RootOf(here.image.digest()));
  EXPECT_THAT(Kept(), ElementsAre("names", "sha256-" + here.image.digest().substr(7)));
}

TEST_F(Images, WhatIsForAnotherMachineIsRefused_G9) {
  const std::string other = Architecture() == "amd64" ? "arm64" : "amd64";
  const MadeImage there = MakeImage({ManagerLayer()}, {{"Entrypoint", {"/manager"}}}, other);
  const std::string alone = Push(there, "org/manager:alone"), index = Push(MadeImage::Index({{other, there}}));
  for (const std::string& what : {std::string("org/manager:v1"), "org/manager@" + index,
                                  std::string("org/manager:alone"), "org/manager@" + alone}) {
    auto program = Find(what);
    ASSERT_FALSE(program.ok()) << what;
    EXPECT_EQ(program.code(), Code::kUnsupported) << what;
    EXPECT_THAT(program.error().message,
                HasSubstr("it is not for linux/" + Architecture() + "; there is linux/" + other));
  }
  EXPECT_THAT(Kept(), IsEmpty());
}

// G9: "latest", and no tag, may be another image each time; as with a kubelet the registry is asked.
TEST_F(Images, WhatMayMoveIsAskedForAgain_G9) {
  Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}), "org/manager:latest");
  const std::string first = Find("org/manager:latest")->path;
  EXPECT_EQ(Find("org/manager")->path, first);
  Push(MakeImage({ManagerLayer("#!/bin/sh\nnew")}, {{"Cmd", {"/manager"}}}), "org/manager:latest");
  const std::string second = Find("org/manager:latest")->path;
  EXPECT_NE(second, first);
  away_ = true;
  EXPECT_EQ(Find("org/manager:latest")->path, second) << "a registry that is away doesn't matter";
  EXPECT_EQ(Find("org/other:latest").code(), Code::kUnavailable);
}

TEST_F(Images, NothingHalfIsLeft_G9) {
  const MadeImage made = MakeImage({ManagerLayer(), fetch::TestLayer({{"../x"}})}, {{"Cmd", {"/manager"}}});
  Push(made);
  auto program = Find();
  EXPECT_EQ(program.code(), Code::kInvalidArgument);
  EXPECT_THAT(program.error().message, HasSubstr("leads out of the image"));
  EXPECT_THAT(program.error().message, HasSubstr("layer sha256:"));
  EXPECT_THAT(Kept(), IsEmpty());
  // A blob that isn't what its digest says is none of the image, whatever it is.
  Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}), "org/manager:v2");
  damages_ = true;
  EXPECT_FALSE(Find("org/manager:v2").ok());
  EXPECT_THAT(Kept(), IsEmpty());
  damages_ = false;
  EXPECT_TRUE(Find("org/manager:v2").ok());
}

// G9: a folder that was cleaned in part, or damaged, is made again.
TEST_F(Images, WhatWasLostIsPulledAgain_G9) {
  const std::string digest = Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  const std::string program = RootOf(digest) + "/manager";
  ASSERT_TRUE(Find().ok());
  for (const std::string& lost : {FolderOf(digest) + "/config.json", program, RootOf(digest)}) {
    ASSERT_GT(std::filesystem::remove_all(lost), 0u) << lost;
    auto again = Find();
    ASSERT_TRUE(again.ok()) << again.error().message;
    EXPECT_EQ(*ReadFile(program), kScript);
    EXPECT_THAT(Kept(), ElementsAre("names", "sha256-" + digest.substr(7)));
  }
  // An image that never had its program isn't pulled again each time.
  Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/none"}}}), "org/manager:v2");
  EXPECT_EQ(Find("org/manager:v2")->entrypoint_error->code, Code::kNotFound);
  Asked();
  EXPECT_EQ(Find("org/manager:v2")->entrypoint_error->code, Code::kNotFound);
  EXPECT_EQ(Asked(), 0u);
}

// G9: also what isn't the entrypoint; what is left runs on while the registry is away.
TEST_F(Images, WhatLiesBesideTheProgramIsPulledAgain_G9) {
  const std::string digest = Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  ASSERT_TRUE(Find().ok());
  const std::string lost = RootOf(digest) + "/app";
  ASSERT_TRUE(std::filesystem::remove(lost));
  ImageStore next(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  away_ = true;
  EXPECT_TRUE(next.Find(fetch::Hurried(), fetch::At(registry_, "org/manager:v1")).ok());
  away_ = false;
  ImageStore another(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });  // of the next run
  EXPECT_TRUE(another.Find({}, fetch::At(registry_, "org/manager:v1")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(lost));
  // What is more than there was is of who works in it.
  ASSERT_TRUE(WriteFile(RootOf(digest) + "/more", "").ok());
  Asked();
  ImageStore last(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  EXPECT_TRUE(last.Find({}, fetch::At(registry_, "org/manager:v1")).ok());
  EXPECT_EQ(Asked(), 0u);
}

// G9: a program that removes what its image has isn't waited for at each of its starts.
TEST_F(Images, WhatAProgramRemovesIsPulledAgainOnce_G9) {
  const std::string digest = Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  ASSERT_TRUE(Find().ok());
  ImageStore next(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  for (bool pulls : {true, false}) {
    ASSERT_TRUE(std::filesystem::remove(RootOf(digest) + "/app"));
    Asked();
    EXPECT_TRUE(next.Find({}, fetch::At(registry_, "org/manager:v1")).ok());
    EXPECT_EQ(Asked() > 0, pulls);
  }
  // Nor for a registry that is away.
  away_ = true;
  ImageStore last(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  for (bool pulls : {true, false}) {
    Asked();
    EXPECT_TRUE(last.Find({}, fetch::At(registry_, "org/manager:v1")).ok());
    EXPECT_EQ(Asked() > 0, pulls);
  }
}

// G9: who waits for another process that holds an image ends with its context.
TEST_F(Images, WaitingForAnotherProcessEnds_G9) {
  const std::string digest = Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  ASSERT_TRUE(std::filesystem::create_directories(folder_ / "names"));
  const int held = open((folder_ / ("names/" + Sha256Hex(digest) + ".lock")).c_str(), O_RDWR | O_CREAT, 0644);
  ASSERT_EQ(flock(held, LOCK_EX), 0);
  EXPECT_EQ(Find("org/manager:v1", Context{}.WithTimeout(Millis(300))).code(), Code::kDeadlineExceeded);
  close(held);
  EXPECT_TRUE(Find().ok());
}

// G9: an image whose bytes are refused isn't pulled again and again.
TEST_F(Images, OneThatCantBeUnpackedIsPulledOnce_G9) {
  const std::string bad = fetch::TestLayer({{"../x"}});
  Push(MakeImage({ManagerLayer(), bad}, {{"Cmd", {"/manager"}}}));
  const std::string first = Find().error().message;
  auto asked_for_it = [&] {
    const auto seen = registry_.seen();
    return std::count_if(seen.begin(), seen.end(), [&](const auto& one) {
      return one.target.find(fetch::OciDigest(Gzip(bad))) != std::string::npos;
    });
  };
  const auto before = asked_for_it();
  EXPECT_GT(before, 0);
  EXPECT_EQ(Find().error().message, first);
  EXPECT_EQ(asked_for_it(), before);
}

// G9: a cache that another kind of machine fills, too.
TEST_F(Images, EachPlatformHasItsOwn_G9) {
  const std::string other = Architecture() == "amd64" ? "arm64" : "amd64";
  const MadeImage here = MakeImage({ManagerLayer()}, {{"Entrypoint", {"/manager"}}});
  const MadeImage there = MakeImage({ManagerLayer("#!/bin/sh\nother")}, {{"Entrypoint", {"/manager"}}}, other);
  Push(MadeImage::Index({{other, there}, {Architecture(), here}}));
  ImageStore another(
      folder_.path(), [](const std::string&) { return fetch::OciOptions(); }, "linux/" + other);
  EXPECT_EQ(another.Find({}, fetch::At(registry_, "org/manager:v1"))->root, RootOf(there.image.digest()));
  EXPECT_EQ(Find()->root, RootOf(here.image.digest()));
}

// G9: whoever may not write here is told so, and not that a registry wants a login.
TEST_F(Images, AFolderThatCantBeWrittenIsNamed_G9) {
  Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  const std::string store = "/proc/1/none";  // nobody makes a folder there
  ImageStore images(store, [](const std::string&) { return fetch::OciOptions(); });
  auto found = images.Find({}, fetch::At(registry_, "org/manager:v1"));
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().message, HasSubstr(store));
}

TEST_F(Images, WhatDoesntRunHereIsRefused_G9) {
  const std::pair<MadeImage, const char*> cases[] = {
      {MakeImage({ManagerLayer("#!/bin/none\n")}, {{"Entrypoint", {"/manager"}}}), "is a script for \"/bin/none\""},
      {MakeImage({ManagerLayer(Elf(ThisMachine(), "/lib/ld-none.so.1"))}, {{"Cmd", {"/manager"}}}), "wants the loader"},
      {MakeImage({ManagerLayer()}, {{"Cmd", {"/none"}}}), "the image has no program \"/none\""},
  };
  int tag = 0;
  for (const auto& [made, words] : cases) {
    const std::string what = fmt::format("org/manager:v{}", ++tag);
    Push(made, what);
    auto program = Find(what);
    ASSERT_TRUE(program.ok()) << program.error().message;
    auto started = ArgumentsOf(*program, {}, {});
    ASSERT_FALSE(started.ok()) << words;
    EXPECT_THAT(started.error().message, HasSubstr(words));
    // A container's own command has nothing to do with it.
    const std::string own = program->root + "/own";
    ASSERT_TRUE(WriteFile(own, kScript, 0755).ok());
    EXPECT_THAT(ArgumentsOf(*program, {"/own"}, {"-a"}).value(), ElementsAre(own, "-a"));
  }
  Push(MakeImage({ManagerLayer()}, Json::object()), "org/manager:bare");
  EXPECT_EQ(Find("org/manager:bare")->path, "") << "its container may name a command";
}

TEST_F(Images, ManyAtOnceUnpackItOnce_G9) {
  Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  TempFolder elsewhere;
  ImageStore alone(elsewhere.path(), [](const std::string&) { return fetch::OciOptions(); });
  Asked();
  ASSERT_TRUE(alone.Find({}, fetch::At(registry_, "org/manager:v1")).ok());
  const size_t once = Asked();
  std::atomic<int> found{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { found += Find().ok() ? 1 : 0; });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(found, 8);
  EXPECT_EQ(Asked(), once);
}

// G9: two processes with one folder don't stand in each other's way.
TEST_F(Images, TwoStoresOfOneFolderEndWithOneImage_G9) {
  const std::string digest = Push(MakeImage({ManagerLayer()}, {{"Cmd", {"/manager"}}}));
  ImageStore other(folder_.path(), [](const std::string&) { return fetch::OciOptions(); });
  std::atomic<int> found{0};
  std::barrier both(2);
  auto look = [&](ImageStore& store) {
    both.arrive_and_wait();
    found += store.Find({}, fetch::At(registry_, "org/manager:v1")).ok() ? 1 : 0;
  };
  std::thread first([&] { look(store_); }), second([&] { look(other); });
  first.join();
  second.join();
  EXPECT_EQ(found, 2);
  EXPECT_THAT(Kept(), ElementsAre("names", "sha256-" + digest.substr(7)));
}

}  // namespace
}  // namespace capi::local
