#include "fetch/git/pack.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <stop_token>

#include "base/encoding.h"
#include "base/files.h"
#include "base/strings.h"
#include "fetch/git/delta.h"
#include "fetch/git/git_testing.h"

namespace capi::fetch {
namespace {

using testing::HasSubstr;

using std::string_literals::operator""s;  // NOLINT(misc-unused-using-decls): clang-tidy 14 overlooks its uses

// A pack as git makes it: of many versions of one file, as differences to each other.
class Packed {
 public:
  explicit Packed(const std::string& flags) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += fmt::format("line {} of a file\n", i * 7919 % 1000);
    for (int i = 0; i < 40; ++i) {
      text.replace(static_cast<size_t>(i) * 100, 10, fmt::format("changed {:2}", i));
      git_.Release(fmt::format("v1.0.{}", i), {{"a/b/file", text}, {"other", std::to_string(i)}}, i % 2 == 0);
      texts_.push_back(text);
    }
    git_.Git("repack -q -adf --depth=50 " + flags);
    Read();
  }
  const std::string& bytes() const { return bytes_; }
  const std::vector<std::string>& texts() const { return texts_; }
  std::string Git(const std::string& arguments) { return git_.Git(arguments); }
  ObjectId Id(const std::string& what) { return *IdFromHex(git_.Git("rev-parse " + what)); }

  // The pack that is there now.
  void Read() {
    for (const auto& file : std::filesystem::directory_iterator(git_.folder() + "/objects/pack")) {
      if (file.path().extension() == ".pack") bytes_ = *ReadFile(file.path());
    }
  }

 private:
  GitStandIn git_;
  std::string bytes_;
  std::vector<std::string> texts_;
};

// One for all of them: git takes its time to make it.
class PackOfGit : public testing::Test {
 protected:
  static void SetUpTestSuite() { made_ = std::make_unique<Packed>("--window=50"); }
  static void TearDownTestSuite() { made_.reset(); }
  static Packed& packed() { return *made_; }

 private:
  static std::unique_ptr<Packed> made_;
};
std::unique_ptr<Packed> PackOfGit::made_;

void ExpectAllThere(Packed& packed) {
  auto pack = Pack::Read({}, packed.bytes());
  ASSERT_TRUE(pack.ok()) << pack.error().message;
  for (const std::string& line : Split(packed.Git("cat-file --batch-check --batch-all-objects"), '\n')) {
    const auto words = Split(line, ' ');
    const auto id = IdFromHex(words[0]);
    ASSERT_TRUE(id) << line;
    auto type = pack->TypeOf(*id);
    ASSERT_TRUE(type.ok()) << line;
    EXPECT_EQ(ToString(*type), words[1]);
    auto text = pack->Get(*id, *type);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(std::to_string(text->size()), words[2]);
    EXPECT_EQ(IdOf(*type, *text), *id);
  }
  for (size_t i = 0; i < packed.texts().size(); ++i) {
    auto text = pack->Get(packed.Id(fmt::format("v1.0.{}:a/b/file", i)), ObjectType::kBlob);
    ASSERT_TRUE(text.ok()) << text.error().message;
    EXPECT_EQ(*text, packed.texts()[i]);
  }
}

TEST_F(PackOfGit, HasAllThatGitPutThere_T15) {
  EXPECT_NE(packed().Git("verify-pack -v objects/pack/*.idx").find("chain length = 3"), std::string::npos);
  ExpectAllThere(packed());
}

// As servers send it to who doesn't know the shorter way of naming a base.
TEST(Pack, ReadsDifferencesToWhatIsNamedByItsId_T15) {
  Packed packed("--window=50 --threads=1");  // by several threads its size is by chance
  packed.Git("config repack.useDeltaBaseOffset false");
  packed.Git("repack -q -adf --depth=50 --window=50 --threads=1");
  const std::string by_offset = packed.bytes();
  packed.Read();
  EXPECT_GT(packed.bytes().size(), by_offset.size());
  ExpectAllThere(packed);
}

TEST_F(PackOfGit, RefusesWhatWasChangedAnywhere_T15) {
  std::string bytes = packed().bytes();
  ASSERT_TRUE(Pack::Read({}, bytes).ok());
  for (size_t at = 0; at < bytes.size(); at += 1 + bytes.size() / 400) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_FALSE(Pack::Read({}, bytes).ok()) << at;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  }
}

// Whoever changes it can write another sum behind it.
std::string WithSum(std::string bytes) {
  Sha1 sum;
  sum.Add(bytes);
  const ObjectId is = sum.Finish();
  bytes.append(is.data(), is.size());
  return bytes;
}

TEST_F(PackOfGit, AnObjectThatWasChangedHasAnotherName_T15) {
  const ObjectId id = packed().Id("v1.0.39:other");
  const std::string whole = packed().bytes().substr(0, packed().bytes().size() - sizeof(ObjectId));
  int lost = 0;
  for (size_t at = 12; at < whole.size(); at += 1 + whole.size() / 1000) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    auto pack = Pack::Read({}, WithSum(bytes));
    if (!pack.ok() || !pack->Has(id)) {
      ++lost;
      continue;
    }
    auto text = pack->Get(id, ObjectType::kBlob);
    EXPECT_EQ(text.ok() ? *text : "39", "39");
  }
  EXPECT_GT(lost, 0);
}

TEST(Pack, RefusesWhatIsNone_F2) {
  const std::string head = "PACK\0\0\0\2\0\0\0\1"s;
  const std::pair<std::string, const char*> cases[] = {
      {"", "cut off"},
      {"PACK", "cut off"},
      {WithSum("JUNK\0\0\0\2\0\0\0\0"s), "it is none"},
      {WithSum("PACK\0\0\0\4\0\0\0\0"s), "another version"},
      {WithSum("PACK\0\0\0\2\0\0\0\0more"s), "behind its last object"},
      {WithSum("PACK\0\0\0\2\xff\0\0\0"s), "objects, and"},
      {WithSum(head), "no size"},
      {WithSum(head + "\x80\x80\x80\x80\x80\x80\x80\x01"), "no size"},
      {WithSum(head + "\xb5\xff\xff\xff\x7f"), "unpacks to more than"},
      {WithSum(head + "\x50" + "x"), "a kind that isn't known"},
      {WithSum(head + "\x31" + "junk"), "can't be unpacked"},
      {WithSum(head + "\x61\x7f" + "junk"), "no base"},
      {WithSum(head + "\x71" + "short"), "cut off"},
  };
  for (const auto& [bytes, why] : cases) {
    auto pack = Pack::Read({}, bytes);
    ASSERT_FALSE(pack.ok()) << why;
    EXPECT_EQ(pack.code(), Code::kInvalidArgument);
    EXPECT_THAT(pack.error().message, HasSubstr(why));
  }
}

TEST_F(PackOfGit, HasLimits_T15) {
  const std::pair<PackLimits, const char*> cases[] = {
      {{.objects = 100}, "objects, and 100 at most are read"},
      {{.unpacked = 100'000}, "unpacks to more than 100000"},
      {{.object = 3'000}, "bytes, and 3000 at most are read"},
      {{.depth = 1}, "too deep"},
  };
  for (const auto& [limits, why] : cases) {
    bool beyond = false;
    auto pack = Pack::Read({}, packed().bytes(), limits, &beyond);
    ASSERT_FALSE(pack.ok()) << why;
    EXPECT_THAT(pack.error().message, HasSubstr(why));
    EXPECT_TRUE(beyond) << why;
  }
  bool beyond = true;
  EXPECT_FALSE(Pack::Read({}, WithSum("PACK\0\0\0\2\0\0\0\0more"s), {}, &beyond).ok());
  EXPECT_FALSE(beyond) << "it is wrong, and not too much";
}

std::string Zlib(std::string_view bytes) {
  const std::string gzip = Gzip(bytes);
  unsigned a = 1, b = 0;
  for (const unsigned char byte : bytes) b = (b + (a = (a + byte) % 65521)) % 65521;
  std::string out = "\x78\x9c" + gzip.substr(10, gzip.size() - 18);
  for (const unsigned sum : {b, a}) (out += static_cast<char>(sum >> 8)) += static_cast<char>(sum & 255);
  return out;
}

std::string InSevens(size_t number) {
  std::string out;
  for (; number >= 0x80; number >>= 7) out += static_cast<char>(0x80 | (number & 0x7f));
  return out + static_cast<char>(number);
}

// Objects of so many bytes, of which the last differs: each as a difference to another one, or whole where that is -1.
std::string PackOf(size_t size, const std::vector<int>& bases) {
  auto text = [size](size_t i) { return std::string(size - 1, 'x') + static_cast<char>(i); };
  const std::string sizes = InSevens(size) + InSevens(size);  // of the base, and of what comes of it
  std::string bytes = "PACK\0\0\0\2\0\0\0"s + static_cast<char>(bases.size());
  for (size_t i = 0; i < bases.size(); ++i) {
    std::string delta = sizes + "\xf0";  // a copy from 0 of so many bytes
    for (int shift : {0, 8, 16}) delta += static_cast<char>((size - 1) >> shift & 255);
    delta += "\1"s + static_cast<char>(i);
    const std::string object = bases[i] < 0 ? text(i) : delta;
    const size_t is = object.size();
    bytes += static_cast<char>(0x80 | (bases[i] < 0 ? 3 : 7) << 4 | static_cast<int>(is & 15)) + InSevens(is >> 4);
    if (bases[i] >= 0) {
      const ObjectId id = IdOf(ObjectType::kBlob, text(static_cast<size_t>(bases[i])));
      bytes.append(id.data(), id.size());
    }
    bytes += Zlib(object);
  }
  return WithSum(bytes);
}

// What no difference is to any more isn't kept: of a chain, as git makes them, one text at a time.
TEST(Pack, KeepsWhatIsNeededAlone_T15) {
  constexpr size_t kSize = 1u << 20;
  std::vector<int> chain;
  for (int i = 0; i < 40; ++i) chain.push_back(i - 1);
  auto pack = Pack::Read({}, PackOf(kSize, chain));
  ASSERT_TRUE(pack.ok()) << pack.error().message;
  EXPECT_EQ(pack->size(), 40u);
  EXPECT_EQ(pack->Get(pack->Ids()[7], ObjectType::kBlob)->size(), kSize);
  // Two to one, each of which is one's base.
  auto fork = Pack::Read({}, PackOf(kSize, {-1, 0, 0, 1, 2}), {.kept = kSize * 3 / 2});
  ASSERT_FALSE(fork.ok());
  EXPECT_THAT(fork.error().message, HasSubstr("too much memory"));
  EXPECT_TRUE(Pack::Read({}, PackOf(kSize, {-1, 0, 0, 1, 2}), {.kept = kSize * 2}).ok());
}

// What is there many times is worked out once: differences to an object of no bytes that come to it again.
std::string ManyTimesTheSame(unsigned copies, unsigned differences) {
  const std::string nothing = "\x30\x78\x9c\x03\0\0\0\0\x01"s;  // a file without bytes, packed
  const ObjectId id = IdOf(ObjectType::kBlob, "");
  const std::string delta = "\x78\x01\x01\x02\0\xfd\xff\0\0\0\x02\0\x01"s;  // of 0 bytes to 0 bytes, packed
  const std::string difference = "\x72" + std::string(id.data(), id.size()) + delta;
  const unsigned all = copies + differences;
  std::string bytes = "PACK\0\0\0\2\0\0"s + static_cast<char>(all >> 8) + static_cast<char>(all & 255);
  for (unsigned i = 0; i < copies; ++i) bytes += nothing;
  for (unsigned i = 0; i < differences; ++i) bytes += difference;
  return WithSum(bytes);
}

TEST(Pack, EachDifferenceIsWorkedOutOnce_T15) {
  auto pack = Pack::Read({}, ManyTimesTheSame(3'000, 3'000));
  ASSERT_TRUE(pack.ok()) << pack.error().message;
  EXPECT_EQ(pack->size(), 6'000U);
  EXPECT_EQ(*pack->Get(IdOf(ObjectType::kBlob, ""), ObjectType::kBlob), "");
}

TEST_F(PackOfGit, EndsWithTheCallersTimeAndStop_T13) {
  EXPECT_EQ(Pack::Read(Context{}.WithTimeout(Millis(0)), packed().bytes()).code(), Code::kDeadlineExceeded);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(Pack::Read(Context{}.WithStop(stop.get_token()), packed().bytes()).code(), Code::kCancelled);
}

TEST(Delta, IsWorkedOut_T15) {
  const std::string base = "0123456789";
  const std::string delta =
      "\x0a\x09\x91\x02\x04\x03"
      "abc"
      "\x90\x02"s;  // copy 4 from 2, "abc", copy 2 from 0
  auto out = ApplyDelta(base, delta, 100);
  ASSERT_TRUE(out.ok()) << out.error().message;
  EXPECT_EQ(*out, "2345abc01");
  EXPECT_EQ(*SizeOfDelta(10, delta), 9U);
  EXPECT_FALSE(ApplyDelta(base, delta, 8).ok());
  for (const std::string& bad :
       {""s, "\x0a"s,
        "\x0b\x01\x01"
        "a"s,
        "\x0a\x01\x00"s,
        "\x0a\x01\x02"
        "a"s,
        "\x0a\x02\x01"
        "a"s,
        "\x0a\x01\x02"
        "ab"s,
        "\x0a\x05\x91\x08\x05"s, "\x0a\x05\x91\x08"s, "\x0a\xff\xff\xff\xff\xff\xff\xff\x01"s}) {
    EXPECT_FALSE(ApplyDelta(base, bad, 100).ok()) << bad.size();
  }
}

TEST(Objects, AreReadAsGitWritesThem) {
  EXPECT_FALSE(TreeOfCommit("").ok());
  EXPECT_FALSE(TreeOfCommit("tree 12\n").ok());
  EXPECT_FALSE(TargetOfTag("object " + std::string(40, 'a') + "\n").ok());
  const std::string id(20, '\1');
  auto items = ItemsOfTree("100644 a\0"s + id + "40000 b\0"s + id + "120000 c\0"s + id + "160000 d\0"s + id);
  ASSERT_TRUE(items.ok());
  std::string kinds;
  for (const TreeItem& item : *items) kinds += fmt::format("{}{} ", item.name, static_cast<int>(item.kind));
  EXPECT_EQ(kinds, "a0 b1 c2 d3 ");
  for (const std::string& bad : {"100644 a\0"s, "100644 a\0short"s, "100644a\0"s + id, "100644 \0"s + id, "junk"s})
    EXPECT_FALSE(ItemsOfTree(bad).ok()) << bad.size();
}

}  // namespace
}  // namespace capi::fetch
