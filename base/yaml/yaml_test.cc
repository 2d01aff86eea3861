#include "base/yaml/yaml.h"

#include <gtest/gtest.h>

#include "base/testing/vectors.h"

namespace capi {
namespace {

// What the vectors call an object list: every document a map.
Result<Json> Objects(std::string_view text) {
  Json out = Json::array();
  for (YamlDocument& document : TRY(ParseYamlStream(text))) {
    if (!document.value.is_object()) return Error{Code::kInvalidArgument, "cannot unmarshal into a map", {}};
    out.push_back(std::move(document.value));
  }
  return out;
}

std::string Render(const Json& objects) {
  std::string out;
  for (const Json& object : objects) out += (out.empty() ? "" : "---\n") + ToYaml(object);
  if (!out.empty()) out.pop_back();
  return out;
}

// The reference reads numbers as doubles and loses digits of integers beyond 2^53; we keep them.
Json AsDoubles(Json value) {
  if (value.is_structured())
    for (Json& item : value) item = AsDoubles(std::move(item));
  return value.is_number() ? Json(value.get<double>()) : value;
}

TEST(Yaml, DoesWhatTheGoToolsDoWithEveryVector) {
  auto reference = [](const Json&, const Json& c) {
    auto got = Objects(c["yaml"].get<std::string>());
    ASSERT_EQ(got.ok(), !c.contains("error")) << (got.ok() ? got->dump() : got.error().message);
    if (!got.ok()) return;
    EXPECT_EQ(*got, c["want"]);
    EXPECT_EQ(Render(*got), c["rendered"].get<std::string>());
  };
  RunVectors("yaml-split.json", reference, [](const Json&, const Json& c) {
    auto got = Objects(c["yaml"].get<std::string>());
    ASSERT_TRUE(got.ok()) << got.error().message;
    EXPECT_EQ(AsDoubles(*got), AsDoubles(c["want"]));
    EXPECT_EQ(*ParseYaml(Render(*got)), got->at(0));
  });
}

// What each text stands for, as JSON. Checked against sigs.k8s.io/yaml v1.6.0.
TEST(Yaml, ReadsScalarsAsTheGoToolsDo) {
  struct Case {
    std::string_view yaml, json;
  };
  const Case cases[] = {
      {"[y, Y, yes, Yes, YES, on, On, ON, true, True, TRUE]",
       "[true,true,true,true,true,true,true,true,true,true,true]"},
      {"[n, N, no, No, NO, off, Off, OFF, false, False, FALSE]",
       "[false,false,false,false,false,false,false,false,false,false,false]"},
      {"[yEs, tRUE, oFF, 'yes', \"no\"]", R"(["yEs","tRUE","oFF","yes","no"])"},
      {"[~, null, Null, NULL, nULL, '']", R"([null,null,null,null,"nULL",""])"},
      {"[0, 00, 07, 0777, 0o17, 0O17, 0x1F, 0X1f, 0b101, -0b11]", "[0,0,7,511,15,15,31,31,5,-3]"},
      {"[08, 0o8, 0b2, 0xG, 0x]", R"([8,"0o8","0b2","0xG","0x"])"},
      {"[1_000, -_1, 0x1_F, 1__2, _1]", R"([1000,-1,31,12,"_1"])"},
      {"[1:30, 190:20:30, 2001-01-01, 2001-01-01T00:00:00Z]",
       R"(["1:30","190:20:30","2001-01-01","2001-01-01T00:00:00Z"])"},
      {"[9223372036854775807, -9223372036854775808, 18446744073709551615]",
       "[9223372036854775807,-9223372036854775808,18446744073709551615]"},
      {"[100000000000000000000, 0xFFFFFFFFFFFFFFFFF]", R"([1e+20,"0xFFFFFFFFFFFFFFFFF"])"},
      {"[1.5, 1.0, 1., .5, +.5, -.5, 1e3, 1E-3, 1e999, .5_0, 1e-999]",
       R"([1.5,1,1,0.5,0.5,-0.5,1000,0.001,"1e999",0.5,0])"},
      {"[., +, -1, .., 0x1p4, inf, nan, Infinity]", R"([".","+",-1,"..","0x1p4","inf","nan","Infinity"])"},
      {"[!!str 1, !!str yes, !!int '1', !!float 1, !!bool 'on', !!null ~, !foo 1, ! 1]",
       R"(["1","yes",1,1,true,null,"1","1"])"},
      {"!!binary aGk=", R"("hi")"},
      {"{1: a, 1.5: b, true: c, 0x10: d, 2001-01-01: e, 1e10: f, '': g, .inf: h}",
       R"({"":"g",".inf":"h","1":"a","1.5":"b","16":"d","1e+10":"f","2001-01-01":"e","true":"c"})"},
      {"{a: 1, a: 2, 'a': 3}", R"({"a":3})"},
  };
  for (const Case& c : cases) {
    auto got = ParseYaml(c.yaml);
    ASSERT_TRUE(got.ok()) << c.yaml << ": " << got.error().message;
    EXPECT_EQ(got->dump(), c.json) << c.yaml;
  }
}

TEST(Yaml, MergesWhereTheKeyStands) {
  struct Case {
    std::string_view yaml, json;
  };
  const Case cases[] = {
      {"- &x {a: 1, b: 2}\n- {b: 3, <<: *x}\n", R"({"a":1,"b":2})"},
      {"- &x {a: 1, b: 2}\n- {<<: *x, b: 3}\n", R"({"a":1,"b":3})"},
      {"- [&x {a: 1}, &y {a: 2, b: 2}]\n- {<<: [*x, *y], c: 3}\n", R"({"a":1,"b":2,"c":3})"},
      {"- 0\n- {<<: {a: 1}}\n", R"({"a":1})"},
      {"- 0\n- {'<<': {a: 1}, x: <<}\n", R"({"<<":{"a":1},"x":"<<"})"},
      {"- &x {a: &z 1}\n- {*z : *x}\n", R"({"1":{"a":1}})"},
      {"- &x 1\n- {a: *x, b: &x 2, c: *x}\n", R"({"a":1,"b":2,"c":2})"},
  };
  for (const Case& c : cases) {
    auto got = ParseYaml(c.yaml);
    ASSERT_TRUE(got.ok()) << c.yaml << ": " << got.error().message;
    EXPECT_EQ((*got)[1].dump(), c.json) << c.yaml;
  }
}

TEST(Yaml, DocumentsKnowTheirLine) {
  auto got = ParseYamlStream("# head\n---\n# c\na: 1\n---\n---\n# none\n--- # d\n\nb: 2\n...\nnot read\n");
  ASSERT_TRUE(got.ok()) << got.error().message;
  ASSERT_EQ(got->size(), 2u);
  EXPECT_EQ((*got)[0].line, 4);
  EXPECT_EQ((*got)[1].line, 10);
  EXPECT_EQ((*got)[1].value.dump(), R"({"b":2})");
}

TEST(Yaml, OneDocumentIsOne) {
  EXPECT_TRUE(ParseYaml("")->is_null());
  EXPECT_TRUE(ParseYaml("# nothing\n")->is_null());
  EXPECT_EQ(ParseYaml("---\na: 1\n---\n")->dump(), R"({"a":1})");
  EXPECT_EQ(ParseYaml("--- {a: 1}")->dump(), R"({"a":1})");
  EXPECT_EQ(ParseYaml("a: 1\n---\nb: 2\n").error().message,
            "line 3, column 1: a second document where one was expected");
}

TEST(Yaml, WritesAsTheGoToolsDo) {
  struct Case {
    Json value;
    std::string_view yaml;
  };
  const Case cases[] = {
      {nullptr, "null\n"},
      {"text", "text\n"},
      {"", "\"\"\n"},
      {"a\nb\n", "|\n  a\n  b\n"},
      {"a\n\n", "|+\n  a\n\n"},
      {Json::array(), "[]\n"},
      {Json::object(), "{}\n"},
      {{"yes", "0x1", "1:30", "2001-01-01", "1010-900a", "- x", "a: b", "~", "1e3", ".inf"},
       "- \"yes\"\n- \"0x1\"\n- \"1:30\"\n- \"2001-01-01\"\n- 1010-900a\n- '- x'\n- 'a: b'\n- \"~\"\n- \"1e3\"\n"
       "- \".inf\"\n"},
      {{1, -1, 1.0, 1.5, 1e20, 1e-7, 1234567.25, 18446744073709551615u},
       "- 1\n- -1\n- 1\n- 1.5\n- 1e+20\n- 1e-07\n- 1.23456725e+06\n- 18446744073709551615\n"},
      {{{"a10", 1}, {"a9", {1, {{"b", 2}}}}, {"B", nullptr}, {"1", "x"}, {"-", true}},
       "'-': true\n\"1\": x\nB: null\na9:\n- 1\n- b: 2\na10: 1\n"},
      {"\xff", "\uFFFD\n"},
  };
  for (const Case& c : cases) EXPECT_EQ(ToYaml(c.value), c.yaml);
}

// libyaml ends lines where few others do, and everybody who looks for a place in the text has to as well.
TEST(Yaml, KnowsWhereADocumentBegins) {
  const std::string object = "a: 1\n";
  for (std::string_view newline : {"\n", "\r\n", "\r", "\r\r\n", "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    std::string header = "# a" + std::string(newline) + "# b\n", text = header + object + "---\n" + header + object;
    auto documents = ParseYamlStream(text);
    ASSERT_TRUE(documents.ok()) << documents.error().message;
    ASSERT_EQ(documents->size(), 2u);
    EXPECT_EQ((*documents)[0].line, 3);
    EXPECT_EQ((*documents)[0].offset, text.find(object));
    EXPECT_EQ((*documents)[1].line, 7);
    EXPECT_EQ((*documents)[1].offset, text.rfind(object));
    auto broken = ParseYamlStream(text + "---\n" + header + "[\n");
    ASSERT_FALSE(broken.ok());
    EXPECT_EQ(broken.error().message.find("line 12, "), 0u) << broken.error().message;
  }
}

TEST(Yaml, ReadsBackWhatItWrote) {
  const Json value = {{"tricky",
                       {"a\tb", "\xc2\x85", "\xe2\x80\xa8x", "\xef\xbb\xbf", "\x7f", " lead", "trail ", "\n", "a\r\nb",
                        "#", "'\"", std::string("nul\0", 4)}},
                      {"long", std::string(300, 'x') + " " + std::string(300, 'y')},
                      {"nested", {{{{"a", Json::array({Json::array({Json::object()})})}}}}}};
  auto got = ParseYaml(ToYaml(value));
  ASSERT_TRUE(got.ok()) << got.error().message;
  EXPECT_EQ(*got, value) << ToYaml(value);
}

}  // namespace
}  // namespace capi
