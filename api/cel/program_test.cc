// Expressions as data: testdata/expressions.json says of each what it gives, or why it does not,
// what it costs, and what the estimate is.
#include "api/cel/program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "api/cel/functions.h"
#include "api/cel/times.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

std::string shown(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Error:
      return "error:" + std::string(value.text());
    case Value::Kind::Null:
      return "null";
    case Value::Kind::Bool:
      return value.as_bool() ? "bool:true" : "bool:false";
    case Value::Kind::Int:
      return "int:" + std::to_string(value.as_int());
    case Value::Kind::Uint:
      return "uint:" + std::to_string(value.as_uint());
    case Value::Kind::Double:
      return "double:" + go_double_text(value.as_double());
    case Value::Kind::String:
      return "string:" + std::string(value.text());
    case Value::Kind::Bytes:
      return "bytes:" + hex_encode(value.text());
    case Value::Kind::Timestamp:
      return "timestamp:" + text_of(value.as_timestamp());
    case Value::Kind::Duration:
      return "duration:" + std::to_string(value.as_nanos());
    case Value::Kind::Type:
      return "type:" + std::string(value.text());
    case Value::Kind::Optional:
      return value.contained() == nullptr ? "optional.none"
                                          : "optional(" + shown(*value.contained()) + ")";
    case Value::Kind::List: {
      std::vector<std::string> parts;
      for (std::size_t i = 0; i < value.size(); ++i) parts.push_back(shown(value.at(i)));
      return "[" + join(parts, ", ") + "]";
    }
    case Value::Kind::Map: {
      std::vector<std::string> parts;
      for (const Value& key : value.keys()) {
        parts.push_back(shown(key) + ": " + shown(*value.find(key)));
      }
      std::sort(parts.begin(), parts.end());
      return "{" + join(parts, ", ") + "}";
    }
    case Value::Kind::Opaque:
    case Value::Kind::Unexposed:
      break;
  }
  return value.type_name();
}

Json testdata(const char* name) {
  const char* folder = std::getenv("KRATER_CEL_TESTDATA");
  std::ifstream file(std::string(folder == nullptr ? "" : folder) + "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  const auto parsed = parse_json(text.str());
  EXPECT_TRUE(parsed.has_value()) << name;
  return parsed ? *parsed : Json(JsonArray());
}

// The variable that expressions call self.
const Json& document() {
  static const Json value = *parse_json(
      R"({"a":{"b":1,"l":[1,2,3],"s":"hello"},"i":1,"m":{"x":[{"k":"v"}]},"t":true,"f":1.5,"n":null})");
  return value;
}

const std::vector<Variable>& variables() {
  static const std::vector<Variable> value{{"self", simple_type(TypeKind::Dyn)}};
  return value;
}

TEST(Program, GivesWhatTheTableSays) {
  const Json cases = testdata("expressions.json");
  ASSERT_GT(cases.get_array().size(), 400U);
  for (const Json& one : cases.get_array()) {
    const std::string expression = text_at(one, {"expr"});
    SCOPED_TRACE(expression);
    const auto program = Program::compile(expression, variables());
    if (!program) {
      EXPECT_EQ(program.error().message, text_at(one, {"refused"}));
      continue;
    }
    const Outcome outcome = (*program)->evaluate({Value::from_json(document(), nullptr)});
    EXPECT_EQ(shown(outcome.value), text_at(one, {"gives"}));
    EXPECT_EQ(outcome.cost, static_cast<std::uint64_t>(int_at(one, {"cost"}).value_or(-1)));
    if (const Json* most = find(one, {"most"})) {
      const std::uint64_t wanted =
          most->is_string() ? UINT64_MAX : static_cast<std::uint64_t>(*as_int(*most));
      EXPECT_EQ((*program)->estimated_cost(), wanted);
    }
    EXPECT_EQ(text_of(*(*program)->type()), text_at(one, {"type"}));
  }
}

std::string repeated(std::string_view text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Program, RefusesWhatIsTooDeepOrTooLong) {
  for (const std::string& hostile :
       {repeated("(", 100'000), repeated("[", 5'000), repeated("!", 50'000) + "x",
        "1" + repeated("+1", 20'000), "a" + repeated(".b", 20'000), repeated("{1:", 5'000),
        "a" + repeated("[0]", 20'000), "true" + repeated("?1:true", 5'000),
        std::string(100'001, ' ') + "1"}) {
    const auto program = Program::compile(hostile, variables());
    EXPECT_FALSE(program.has_value());
  }
}

TEST(Program, TakesLongFlatExpressions) {
  const auto program = Program::compile("self.t" + repeated(" && self.t", 5'000), variables());
  ASSERT_TRUE(program.has_value());
  EXPECT_TRUE((*program)->evaluate({Value::from_json(document(), nullptr)}).value.is(true));
}

TEST(Program, StopsWhenTheBudgetIsUsedUp) {
  const auto program = Program::compile(
      "self.a.l.all(a, self.a.l.all(b, self.a.l.all(c, self.a.l.all(d, a + b + c + d > 0))))",
      variables());
  ASSERT_TRUE(program.has_value());
  const Outcome cut = (*program)->evaluate({Value::from_json(document(), nullptr)}, 100);
  ASSERT_TRUE(cut.value.is_error());
  EXPECT_EQ(cut.value.text(), "operation cancelled: actual cost limit exceeded");
  EXPECT_LT(cut.cost, 110U);
  EXPECT_TRUE((*program)->evaluate({Value::from_json(document(), nullptr)}).value.is(true));
}

TEST(Program, NothingAbsorbsASpentBudget) {
  const auto program =
      Program::compile("self.a.l.all(a, self.a.l.all(b, a + b > 0)) || true", variables());
  ASSERT_TRUE(program.has_value());
  EXPECT_TRUE((*program)->evaluate({Value::from_json(document(), nullptr)}, 10).value.is_error());
}

// Each of these asks for gigabytes or hours at a price that looks small.
TEST(Program, DoesNotBuildWhatNoBudgetPaysFor) {
  const std::string doubling = "[[0]]" + repeated(".map(a, a + a)", 60) + "[0].size()";
  const std::string strings =
      "['0123456789']" + repeated(".map(a, a.replace('', a))", 20) + "[0].size()";
  for (const std::string& hostile :
       {doubling, strings, std::string("lists.range(9223372036854775807).size()")}) {
    const auto program = Program::compile(hostile, variables());
    ASSERT_TRUE(program.has_value()) << hostile;
    const Outcome outcome = (*program)->evaluate({Value::from_json(document(), nullptr)});
    EXPECT_TRUE(outcome.value.is_error()) << hostile;
  }
}

TEST(Program, SearchesInLinearTime) {
  const std::string many(1'000'000, 'a');
  const Json texts = JsonObject{{"text", many}, {"part", many.substr(0, 500'000) + "b"}};
  for (const std::string_view hostile :
       {"self.text.indexOf(self.part) == -1", "self.text.lastIndexOf(self.part) == -1",
        "self.text.split(self.part).size() == 1",
        "self.text.replace(self.part, '') == self.text"}) {
    const auto program = Program::compile(hostile, variables());
    ASSERT_TRUE(program.has_value());
    EXPECT_TRUE((*program)->evaluate({Value::from_json(texts, nullptr)}).value.is(true)) << hostile;
  }
}

TEST(Program, PaysBeforeItWorks) {
  JsonArray list;
  for (int i = 0; i < 100'000; ++i) list.emplace_back(i);
  const Json lists = JsonObject{{"l", std::move(list)}};
  for (const std::string_view hostile :
       {"sets.equivalent(self.l, self.l)", "self.l.map(x, string(x)).distinct().size() > 0"}) {
    const auto program = Program::compile(hostile, variables());
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_TRUE((*program)->evaluate({Value::from_json(lists, nullptr)}).value.is_error());
  }
}

TEST(Program, TypesStaySmallHoweverTheyNest) {
  const auto program =
      Program::compile("[1]" + repeated(".map(a, {a: a})", 100) + ".size() == 1", variables());
  EXPECT_TRUE(program.has_value());
}

TEST(Program, SaysWhichVariablesItUses) {
  const std::vector<Variable> both{{"self", simple_type(TypeKind::Int)},
                                   {"oldSelf", simple_type(TypeKind::Int)}};
  EXPECT_TRUE((*Program::compile("self == oldSelf", both))->uses("oldSelf"));
  EXPECT_FALSE((*Program::compile("self == 1", both))->uses("oldSelf"));
  EXPECT_FALSE((*Program::compile("[1].all(oldSelf, oldSelf > 0)", both))->uses("oldSelf"));
}

TEST(Program, AVariableThatIsNotThereIsAnError) {
  const auto program = Program::compile("self.a == 1 || true", variables());
  EXPECT_TRUE((*program)->evaluate({std::nullopt}).value.is(true));
  const auto bare = Program::compile("self", variables());
  EXPECT_EQ((*bare)->evaluate({std::nullopt}).value.text(), "no such attribute(s): self");
}

}  // namespace
}  // namespace krater::cel
