// base/yaml/yaml.h against the real thing: what sigs.k8s.io/yaml and the YAML reader of Kubernetes make of the same
// texts.
#include "base/yaml/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "base/encoding.h"
#include "base/files.h"
#include "base/processes/process.h"
#include "base/processes/temporary_folder.h"
#include "base/strings.h"
#include "base/testing/length.h"
#include "e2e/oracles/yaml_texts.h"
#include "kube/testing/programs.h"

namespace capi::e2e {
namespace {

// A text, what we make of it, and what the Go tools make of it. The errors are "" where there is none.
struct Comparison {
  std::string text;
  Json stream, go_stream;
  std::string error, go_error;
};

bool Has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

// A shorthand tag that a flow indicator ends: "!a,b", "[!t, 1]".
bool HasTagBeforeIndicator(const std::string& text) {
  for (size_t at = text.find('!'); at != text.npos; at = text.find('!', at + 1)) {
    size_t end = text.find_first_of(" \t\r\n,[]{}", at);
    if (end != text.npos && std::string_view(",[]{}").find(text[end]) != std::string_view::npos) return true;
  }
  return false;
}

// "[]x": a flow collection with more right behind it.
bool HasTextBehindCollection(const std::string& text) {
  for (size_t at = text.find_first_of("]}"); at != text.npos; at = text.find_first_of("]}", at + 1)) {
    if (at + 1 < text.size() && std::string_view(" \t\r\n,]}:#").find(text[at + 1]) == std::string_view::npos)
      return true;
  }
  return false;
}

// Where we differ, and why. Nothing that a release or a person would write on purpose is among it.
struct Exception {
  std::string_view name, why;
  std::function<bool(const Comparison&)> applies;
};

const std::vector<Exception>& Exceptions() {
  static const std::vector<Exception> kTable = {
      {"colon in a flow collection", "libyaml refuses '[a:, b]', where Go reads the text 'a:'",
       [](const Comparison& c) { return Has(c.error, "found unexpected ':' while scanning a plain scalar"); }},
      {"question mark in a flow collection", "libyaml reads '[a?b]' as YAML says; Go refuses it",
       [](const Comparison& c) {
         return c.error.empty() && !c.go_error.empty() && Has(c.text, "?") &&
                c.text.find_first_of("[{") != std::string::npos;
       }},
      {"collection as key", "Go drops it with all that follows ('{}: 1' is '{}'); silence would lose objects",
       [](const Comparison& c) { return Has(c.error, "invalid map key: a map or a list"); }},
      {"refused key that a later one hides", "Go looks at keys after duplicates are gone, we while we read",
       [](const Comparison& c) { return Has(c.error, "unsupported map key"); }},
      {"tag before a flow indicator", "libyaml ends the tag there, as YAML says; to Go '!a,b' is one tag",
       [](const Comparison& c) { return Has(c.error, " a tag") || HasTagBeforeIndicator(c.text); }},
      {"byte order mark within", "libyaml skips it at the start of any line, Go at the start of the text alone",
       [](const Comparison& c) { return c.text.find("\xef\xbb\xbf", 1) != std::string::npos; }},
      {"escaped slash", "libyaml reads '\\/', which JSON writes; Go refuses it",
       [](const Comparison& c) { return Has(c.go_error, "unknown escape") && Has(c.text, "\\"); }},
      {"YAML 1.2 directive", "libyaml reads such documents; Go refuses them",
       [](const Comparison& c) { return Has(c.go_error, "found incompatible YAML document"); }},
      {"Unicode space behind a separator", "Go trims it; to YAML it is text",
       [](const Comparison& c) { return c.go_error.empty() && Has(c.error, "invalid Yaml document separator"); }},
      {"nonsense behind a document", "Go stops reading at the end of '[][|'; libyaml has looked ahead by then",
       [](const Comparison& c) {
         return Has(c.error, "found character that cannot start any token") && HasTextBehindCollection(c.text);
       }},
      {"UTF-16", "Kubernetes' files are UTF-8; a clear error is better than a guess",
       [](const Comparison& c) { return c.text.starts_with("\xff\xfe") || c.text.starts_with("\xfe\xff"); }},
  };
  return kTable;
}

// Compares texts in the thousands. Thread-compatible.
class Differential : public testing::Test {
 protected:
  void SetUp() override {
    auto program = kube::FindProgram("go-yaml");
    ASSERT_TRUE(program.ok()) << program.error().message;
    program_ = *program;
  }

  // `first`: the number of the first of them.
  void Compare(const std::vector<std::string>& texts, std::uint64_t first = 0) {
    std::string in;
    for (const std::string& text : texts) in += Base64Encode(text) + "\n";
    std::string file = folder_.path() + "/texts";
    ASSERT_TRUE(WriteFile(file, in).ok());
    auto answers =
        capi::RunProgram({"/bin/sh", "-c", fmt::format("exec '{}' <'{}'", program_, file)}, "", Seconds(600));
    ASSERT_TRUE(answers.ok()) << answers.error().message;
    auto lines = Split(*answers, '\n');
    ASSERT_GE(lines.size(), texts.size());
    for (size_t i = 0; i < texts.size(); ++i) {
      SCOPED_TRACE(fmt::format("text {}", first + i));
      CompareOne(texts[i], *ParseJson(lines[i]));
    }
  }

  void CompareOne(const std::string& text, const Json& go) {
    ++compared_;
    if (GetBool(go,
                {"ambiguous"})) {  // keys of two types that JSON spells alike ("1" and 1): Go takes either, by chance
      ++ambiguous_;
      return;
    }
    Comparison c{text, Json::array(), go["stream"], "", GetString(go, {"streamError"})};
    auto documents = ParseYamlStream(text);
    if (!documents.ok()) {
      c.error = documents.error().message;
      c.stream = nullptr;
      EXPECT_THAT(c.error, testing::StartsWith("line ")) << Quoted(text);
    } else {
      for (YamlDocument& document : *documents) c.stream.push_back(std::move(document.value));
    }
    bool same = c.error.empty() == c.go_error.empty() && (!c.error.empty() || c.stream == c.go_stream);
    if (!same && !Excused(c)) {
      ADD_FAILURE() << Quoted(text) << "\n  ours: " << c.error << ToJsonText(c.stream) << "\n  Go's: " << c.go_error
                    << ToJsonText(c.go_stream);
    }
    CompareSingle(std::move(c), go, same);
  }

  // ParseYaml reads the text to its end; Go's reads the first document. So it may refuse more.
  void CompareSingle(Comparison c, const Json& go, bool stream_is_same) {
    auto one = ParseYaml(c.text);
    bool go_reads = go.contains("one");
    if (!one.ok() && (stream_is_same || !go_reads)) return;
    c.error = one.ok() ? "" : one.error().message;
    if (Has(c.error, "a second document")) return;
    c.go_error = GetString(go, {"oneError"});
    bool same = one.ok() && go_reads && *one == go["one"];
    bool skipped = one.ok() && go_reads && go["one"].is_null();  // an empty document before the one that counts
    if (!same && !skipped && !Excused(c)) {
      ADD_FAILURE() << Quoted(c.text) << " alone\n  ours: " << c.error << (one.ok() ? ToJsonText(*one) : "")
                    << "\n  Go's: " << c.go_error << (go_reads ? ToJsonText(go["one"]) : "");
    }
    if (same) CompareRendered(*one, GetString(go, {"rendered"}));
  }

  // Beyond ASCII Go escapes more, sorts keys by what is a letter, and loses a next-line character (U+0085). The key
  // "<<" it writes so that it reads it as a merge.
  void CompareRendered(const Json& value, const std::string& go) {
    std::string ours = ToYaml(value);
    auto back = ParseYaml(ours);
    ASSERT_TRUE(back.ok()) << back.error().message << "\n" << ours;
    EXPECT_EQ(*back, value) << ours;
    bool ascii = true;
    for (char c : ToJsonText(value)) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
    if (ascii && !go.empty() && !Has(ours, "\"<<\":")) {
      EXPECT_EQ(ours, go);
    }
  }

  bool Excused(const Comparison& c) {
    for (const Exception& exception : Exceptions()) {
      if (!exception.applies(c)) continue;
      ++excused_[exception.name];
      return true;
    }
    return false;
  }

  static std::string Quoted(const std::string& text) { return ToJsonText(text.substr(0, 400)); }

  TemporaryFolder folder_;
  std::string program_;
  size_t compared_ = 0, ambiguous_ = 0;
  std::map<std::string_view, size_t> excused_;
};

// Every exception is needed by a hand-made text: what isn't needed any more has to go.
TEST_F(Differential, HandMadeTexts) {
  Compare(HandMadeYaml());
  EXPECT_GT(compared_, 4000u);
  EXPECT_GT(ambiguous_, 0u);
  for (const Exception& exception : Exceptions()) EXPECT_GT(excused_[exception.name], 0u) << exception.name;
}

TEST_F(Differential, RandomTexts) {
  const size_t kChunk = 5000, chunks = ByLength(1, 1, 400);
  const std::uint64_t first = FirstSeed(chunks * kChunk);
  fmt::print("texts {} to {}\n", first, first + chunks * kChunk - 1);  // RandomYaml makes them of their numbers
  for (size_t chunk = 0; chunk < chunks && !HasFailure(); ++chunk) {
    std::vector<std::string> texts;
    const std::uint64_t begin = first + chunk * kChunk;
    for (size_t i = 0; i < kChunk; ++i) texts.push_back(RandomYaml(begin + i));
    Compare(texts, begin);
  }
  size_t excused = ambiguous_;
  for (const auto& [name, count] : excused_) excused += count;
  EXPECT_EQ(compared_, chunks * kChunk);
  EXPECT_LT(excused, compared_ / 20);  // else it is the exceptions that pass
}

}  // namespace
}  // namespace capi::e2e
