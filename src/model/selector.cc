#include "model/selector.h"

#include <algorithm>

#include "base/strings.h"

namespace krater {
namespace {

using Operator = LabelSelector::Operator;

Error bad(std::string detail) {
  return make_error(Code::BadRequest, "unable to parse requirement: " + detail);
}

// Recursive descent over the query grammar; one pass, no back-tracking.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<std::vector<LabelSelector::Requirement>> parse() {
    std::vector<LabelSelector::Requirement> out;
    skip_space();
    while (!rest_.empty()) {
      TRY_ASSIGN(LabelSelector::Requirement one, requirement());
      out.push_back(std::move(one));
      skip_space();
      if (rest_.empty()) break;
      if (!take(','))
        return bad("found '" + std::string(rest_) + "', expected: ',' or 'end of string'");
      skip_space();
      if (rest_.empty()) return bad("found '', expected: identifier after ','");
    }
    return out;
  }

 private:
  Result<LabelSelector::Requirement> requirement() {
    LabelSelector::Requirement out;
    const bool negated = take('!');
    skip_space();
    out.key = word();
    TRY(check_key(out.key));
    skip_space();
    if (negated) {
      out.op = Operator::DoesNotExist;
      return out;
    }
    if (rest_.empty() || rest_.front() == ',') return out;
    if (take('=')) {
      take('=');
      return one_value(std::move(out), Operator::In);
    }
    if (rest_.starts_with("!=")) {
      rest_.remove_prefix(2);
      return one_value(std::move(out), Operator::NotIn);
    }
    if (take('>')) return bound(std::move(out), Operator::GreaterThan);
    if (take('<')) return bound(std::move(out), Operator::LessThan);
    const std::string op = word();
    if (op == "in") return value_set(std::move(out), Operator::In);
    if (op == "notin") return value_set(std::move(out), Operator::NotIn);
    return bad("found '" + (op.empty() ? std::string(rest_.substr(0, 1)) : op) +
               "', expected: in, notin, =, ==, !=, gt, lt");
  }

  Result<LabelSelector::Requirement> one_value(LabelSelector::Requirement out, Operator op) {
    skip_space();
    out.op = op;
    out.values.push_back(word());
    TRY(check_value(out.values.back()));
    return out;
  }

  Result<LabelSelector::Requirement> bound(LabelSelector::Requirement out, Operator op) {
    TRY_ASSIGN(out, one_value(std::move(out), op));
    if (!parse_int(out.values.back()))
      return bad("for 'Gt', 'Lt' operators, the value must be an integer");
    return out;
  }

  Result<LabelSelector::Requirement> value_set(LabelSelector::Requirement out, Operator op) {
    out.op = op;
    skip_space();
    if (!take('(')) return bad("found '" + std::string(rest_.substr(0, 1)) + "', expected: '('");
    for (;;) {
      skip_space();
      out.values.push_back(word());
      TRY(check_value(out.values.back()));
      skip_space();
      if (take(')')) break;
      if (!take(','))
        return bad("found '" + std::string(rest_.substr(0, 1)) + "', expected: ',' or ')'");
    }
    std::sort(out.values.begin(), out.values.end());
    out.values.erase(std::unique(out.values.begin(), out.values.end()), out.values.end());
    return out;
  }

  static Result<void> check_key(std::string_view key) {
    const std::size_t slash = key.find('/');
    const std::string_view name = slash == std::string_view::npos ? key : key.substr(slash + 1);
    const bool prefix_ok =
        slash == std::string_view::npos || check_dns1123_subdomain(key.substr(0, slash)).empty();
    if (!prefix_ok || name.empty() || !is_name(name))
      return bad("invalid label key \"" + std::string(key) + "\"");
    return {};
  }

  static Result<void> check_value(std::string_view value) {
    if (value.empty() || is_name(value)) return {};
    return bad("invalid label value: \"" + std::string(value) + "\"");
  }

  static bool is_name(std::string_view text) {
    const auto alnum = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    };
    if (text.size() > 63 || !alnum(text.front()) || !alnum(text.back())) return false;
    return std::all_of(text.begin(), text.end(),
                       [&](char c) { return alnum(c) || c == '-' || c == '_' || c == '.'; });
  }

  std::string word() {
    const std::size_t end = rest_.find_first_of(" \t\r\n=!,()<>");
    std::string out(rest_.substr(0, end));
    rest_.remove_prefix(out.size());
    return out;
  }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void skip_space() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }

  std::string_view rest_;
};

bool matches_one(const LabelSelector::Requirement& want, const Labels& labels) {
  const auto place = labels.find(want.key);
  const bool present = place != labels.end();
  const auto listed = [&] {
    return std::find(want.values.begin(), want.values.end(), place->second) != want.values.end();
  };
  switch (want.op) {
    case Operator::In:
      return present && listed();
    case Operator::NotIn:
      return !present || !listed();
    case Operator::Exists:
      return present;
    case Operator::DoesNotExist:
      return !present;
    case Operator::GreaterThan:
    case Operator::LessThan: {
      const auto have = present ? parse_int(place->second) : std::nullopt;
      const auto limit = parse_int(want.values.front());
      if (!have || !limit) return false;
      return want.op == Operator::GreaterThan ? *have > *limit : *have < *limit;
    }
  }
  return false;
}

std::string text_of(const LabelSelector::Requirement& want) {
  switch (want.op) {
    case Operator::In:
      return want.values.size() == 1 ? want.key + "=" + want.values[0]
                                     : want.key + " in (" + join(want.values, ",") + ")";
    case Operator::NotIn:
      return want.values.size() == 1 ? want.key + "!=" + want.values[0]
                                     : want.key + " notin (" + join(want.values, ",") + ")";
    case Operator::Exists:
      return want.key;
    case Operator::DoesNotExist:
      return "!" + want.key;
    case Operator::GreaterThan:
      return want.key + ">" + want.values[0];
    case Operator::LessThan:
      return want.key + "<" + want.values[0];
  }
  return {};
}

}  // namespace

Result<LabelSelector> LabelSelector::parse(std::string_view text) {
  LabelSelector out;
  TRY_ASSIGN(out.requirements_, Parser(text).parse());
  return out;
}

Result<LabelSelector> LabelSelector::from_object(const Json& selector) {
  LabelSelector out = equals(string_map(find(selector, {"matchLabels"})));
  const JsonArray* expressions = array_at(selector, {"matchExpressions"});
  if (expressions == nullptr) return out;
  for (const Json& expression : *expressions) {
    Requirement want;
    want.key = text_at(expression, {"key"});
    const std::string op = text_at(expression, {"operator"});
    if (op == "In") {
      want.op = Operator::In;
    } else if (op == "NotIn") {
      want.op = Operator::NotIn;
    } else if (op == "Exists") {
      want.op = Operator::Exists;
    } else if (op == "DoesNotExist") {
      want.op = Operator::DoesNotExist;
    } else {
      return make_error(Code::Invalid, "\"" + op + "\" is not a valid label selector operator");
    }
    if (const JsonArray* values = array_at(expression, {"values"})) {
      for (const Json& value : *values) {
        if (value.is_string()) want.values.emplace_back(view(value.get_string()));
      }
    }
    const bool needs_values = want.op == Operator::In || want.op == Operator::NotIn;
    if (needs_values != !want.values.empty()) {
      return make_error(Code::Invalid,
                        needs_values ? "for 'in', 'notin' operators, values set can't be empty"
                                     : "values set must be empty for exists and does not exist");
    }
    out.requirements_.push_back(std::move(want));
  }
  return out;
}

LabelSelector LabelSelector::equals(const Labels& labels) {
  LabelSelector out;
  for (const auto& [key, value] : labels) out.requirements_.push_back({key, Operator::In, {value}});
  return out;
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::all_of(requirements_.begin(), requirements_.end(),
                     [&](const Requirement& r) { return matches_one(r, labels); });
}

std::string LabelSelector::text() const {
  std::vector<Requirement> sorted = requirements_;
  std::ranges::stable_sort(sorted, {}, &Requirement::key);
  std::vector<std::string> parts;
  for (const Requirement& requirement : sorted) parts.push_back(text_of(requirement));
  return join(parts, ",");
}

}  // namespace krater
