#include "api/cel/parser.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "api/cel/lexer.h"
#include "api/cel/macros.h"

namespace krater::cel {
namespace {

constexpr int kMostLevels = 250;
constexpr std::uint64_t kMostCodePoints = 100'000;

constexpr std::array<std::string_view, 17> kReserved{
    "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
    "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};

template <typename... Args>
std::vector<ExprPtr> args_of(Args... args) {
  std::vector<ExprPtr> out;
  (out.push_back(std::move(args)), ...);
  return out;
}

// Recursive descent. After the first syntax error it unwinds: what is made then is thrown away.
class Parser {
 public:
  Parser(std::string_view source, std::vector<Issue>& issues) : issues_(issues) {
    tokens_ = tokenize(source, issues);
  }

  ExprPtr run() {
    ExprPtr out = expression();
    if (!failed_ && token().kind != Token::Kind::End) {
      syntax("extraneous input " + shown() + " expecting <EOF>");
    }
    return out;
  }

 private:
  struct Level {
    explicit Level(Parser& owner) : parser(owner) { ++parser.level_; }
    ~Level() { --parser.level_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    Parser& parser;
  };

  const Token& token(std::size_t ahead = 0) const {
    return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
  }
  bool is(std::string_view symbol, std::size_t ahead = 0) const {
    return token(ahead).kind == Token::Kind::Symbol && token(ahead).text == symbol;
  }
  bool take(std::string_view symbol) {
    if (failed_ || !is(symbol)) return false;
    ++at_;
    return true;
  }
  std::string shown() const {
    return token().kind == Token::Kind::End ? "'<EOF>'" : "'" + std::string(token().text) + "'";
  }
  void syntax(const std::string& message) {
    if (!failed_) issues_.push_back(Issue{token().at, "Syntax error: " + message});
    failed_ = true;
  }
  void expect(std::string_view symbol) {
    if (!take(symbol))
      syntax("mismatched input " + shown() + " expecting '" + std::string(symbol) + "'");
  }
  // The end of a list of things between commas.
  void close(std::string_view symbol) {
    if (!take(symbol)) {
      syntax("mismatched input " + shown() + " expecting {'" + std::string(symbol) + "', ','}");
    }
  }
  ExprPtr nothing() { return make_literal(token().at, {}); }

  // Also guards what loops build without recursion: a+a+a+….
  ExprPtr bounded(ExprPtr expr) {
    if (expr->height <= kMostLevels || failed_) return expr;
    too_deep();
    return nothing();
  }
  void too_deep() {
    if (!failed_) {
      issues_.push_back(Issue{0, "expression recursion limit exceeded: 250"});
    }
    failed_ = true;
  }

  ExprPtr expression() {
    const Level level(*this);
    if (level_ > kMostLevels) {
      too_deep();
      return nothing();
    }
    ExprPtr condition = disjunction();
    const std::uint32_t at = token().at;
    if (!take("?")) return condition;
    ExprPtr yes = disjunction();
    expect(":");
    ExprPtr no = expression();
    return bounded(make_call(at, "_?_:_",
                             args_of(std::move(condition), std::move(yes), std::move(no)), false));
  }

  ExprPtr disjunction() {
    return chain("||", "_||_",
                 [this] { return chain("&&", "_&&_", [this] { return relation(); }); });
  }

  // a || b || c as one call of three.
  template <typename Part>
  ExprPtr chain(std::string_view symbol, const char* function, Part part) {
    ExprPtr first = part();
    if (!is(symbol)) return first;
    const std::uint32_t at = token().at;
    std::vector<ExprPtr> parts;
    parts.push_back(std::move(first));
    while (take(symbol)) parts.push_back(part());
    return bounded(make_call(at, function, std::move(parts), false));
  }

  ExprPtr relation() {
    static constexpr std::array<std::array<const char*, 2>, 7> kOperators{{{"<", "_<_"},
                                                                           {"<=", "_<=_"},
                                                                           {">", "_>_"},
                                                                           {">=", "_>=_"},
                                                                           {"==", "_==_"},
                                                                           {"!=", "_!=_"},
                                                                           {"in", "@in"}}};
    return left_to_right(kOperators, [this] { return sum(); });
  }
  ExprPtr sum() {
    static constexpr std::array<std::array<const char*, 2>, 2> kOperators{
        {{"+", "_+_"}, {"-", "_-_"}}};
    return left_to_right(kOperators, [this] { return product(); });
  }
  ExprPtr product() {
    static constexpr std::array<std::array<const char*, 2>, 3> kOperators{
        {{"*", "_*_"}, {"/", "_/_"}, {"%", "_%_"}}};
    return left_to_right(kOperators, [this] { return unary(); });
  }

  template <typename Operators, typename Part>
  ExprPtr left_to_right(const Operators& operators, Part part) {
    ExprPtr left = part();
    while (!failed_) {
      const auto found = std::find_if(operators.begin(), operators.end(),
                                      [this](const auto& entry) { return is(entry[0]); });
      if (found == operators.end()) return left;
      const std::uint32_t at = token().at;
      ++at_;
      ExprPtr right = part();
      left = bounded(make_call(at, (*found)[1], args_of(std::move(left), std::move(right)), false));
    }
    return left;
  }

  ExprPtr unary() {
    const std::uint32_t at = token().at;
    for (const std::string_view symbol : {"!", "-"}) {
      // One minus before a number is part of the number; of several, all are operators.
      if (!is(symbol) || (symbol == "-" && number_follows())) continue;
      std::size_t count = 0;
      for (; is(symbol); ++count) ++at_;
      ExprPtr operand = member();
      if (count % 2 == 0) return operand;
      return bounded(
          make_call(at, symbol == "!" ? "!_" : "-_", args_of(std::move(operand)), false));
    }
    return member();
  }

  bool number_follows() const {
    return token(1).kind == Token::Kind::Int || token(1).kind == Token::Kind::Double;
  }

  ExprPtr member() {
    ExprPtr out = primary();
    while (!failed_) {
      const std::uint32_t at = token().at;
      if (take(".")) {
        out = bounded(selection(std::move(out), at));
      } else if (take("[")) {
        const bool optional = take("?");
        ExprPtr index = expression();
        expect("]");
        out = bounded(make_call(at, optional ? "_[?_]" : "_[_]",
                                args_of(std::move(out), std::move(index)), false));
      } else {
        break;
      }
    }
    return out;
  }

  ExprPtr selection(ExprPtr operand, std::uint32_t at) {
    const bool optional = take("?");
    if (token().kind != Token::Kind::Ident) {
      syntax(optional ? "mismatched input " + shown() + " expecting IDENTIFIER"
                      : "no viable alternative at input '." + std::string(token().text) + "'");
      return nothing();
    }
    std::string name(token().text);
    ++at_;
    if (optional) {
      ExprPtr field = make_literal(token().at, Value::string(std::move(name)));
      return make_call(at, "_?._", args_of(std::move(operand), std::move(field)), false);
    }
    if (is("(")) {
      const std::uint32_t open = token().at;
      ++at_;
      std::vector<ExprPtr> args = arguments(")");
      args.insert(args.begin(), std::move(operand));
      return macro(make_call(open, std::move(name), std::move(args), true));
    }
    auto out = std::make_unique<Expr>();
    out->kind = Expr::Kind::Select;
    out->at = at;
    out->name = std::move(name);
    out->args.push_back(std::move(operand));
    measure(*out);
    return out;
  }

  ExprPtr macro(ExprPtr call) {
    if (failed_) return call;
    return expand_macro(std::move(call), issues_);
  }

  std::vector<ExprPtr> arguments(std::string_view closing) {
    std::vector<ExprPtr> out;
    if (take(closing)) return out;
    do {
      out.push_back(expression());
    } while (take(","));
    close(closing);
    return out;
  }

  ExprPtr primary() {
    const Token here = token();
    switch (here.kind) {
      case Token::Kind::Ident:
        return named(false);
      case Token::Kind::Int:
        return ++at_, integer(here, false);
      case Token::Kind::Uint:
        return ++at_, unsigned_integer(here);
      case Token::Kind::Double:
        return ++at_, floating(here, false);
      case Token::Kind::String:
      case Token::Kind::Bytes:
        return ++at_, text(here);
      case Token::Kind::End:
      case Token::Kind::Symbol:
        break;
    }
    if (take("(")) {
      ExprPtr out = expression();
      expect(")");
      return out;
    }
    if (take("[")) return list(here.at);
    if (take("{")) return map(here.at);
    if (take("true")) return make_literal(here.at, Value::of(true));
    if (take("false")) return make_literal(here.at, Value::of(false));
    if (take("null")) return make_literal(here.at, {});
    if (is("-") && number_follows()) return negative_literal();
    if (is(".") && token(1).kind == Token::Kind::Ident) {
      ++at_;
      return named(true);
    }
    syntax((here.kind == Token::Kind::End ? "mismatched input " : "extraneous input ") + shown() +
           expected_operand());
    return nothing();
  }

  // Directly behind an opening parenthesis or bracket a little more is possible.
  std::string expected_operand() const {
    const auto before = [this](std::size_t back) {
      return at_ >= back ? tokens_[at_ - back] : Token();
    };
    const bool call = before(1).text == "(" && before(2).kind == Token::Kind::Ident;
    const bool index = before(1).text == "[" && (before(2).kind == Token::Kind::Ident ||
                                                 before(2).text == "]" || before(2).text == ")");
    return std::string(" expecting {'[', '{', '(', ") + (call ? "')', " : "") + "'.', '-', '!', " +
           (index ? "'?', " : "") +
           "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}";
  }

  ExprPtr negative_literal() {
    const std::uint32_t at = token().at;
    Token number = token(1);
    number.at = at;
    at_ += 2;
    return number.kind == Token::Kind::Int ? integer(number, true) : floating(number, true);
  }

  ExprPtr named(bool leading_dot) {
    const Token here = token();
    ++at_;
    std::string name = (leading_dot ? "." : "") + std::string(here.text);
    if (std::size_t end = 0; message_name(end)) return message(std::move(name), end);
    if (std::find(kReserved.begin(), kReserved.end(), here.text) != kReserved.end()) {
      issues_.push_back(Issue{here.at, "reserved identifier: " + std::string(here.text)});
      if (is("(")) {
        ++at_;
        arguments(")");
      }
      return make_literal(here.at, {});
    }
    if (!is("(")) return make_ident(here.at, std::move(name));
    const std::uint32_t open = token().at;
    ++at_;
    return macro(make_call(open, std::move(name), arguments(")"), false));
  }

  // Whether `a.b.C {` follows the name just read; `end`: tokens to the brace.
  bool message_name(std::size_t& end) const {
    while (is(".", end) && token(end + 1).kind == Token::Kind::Ident) end += 2;
    return is("{", end);
  }

  ExprPtr message(std::string name, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) name += std::string(token(i).text);
    at_ += end;
    auto out = std::make_unique<Expr>();
    out->kind = Expr::Kind::Struct;
    out->at = token().at;
    out->name = std::move(name);
    ++at_;
    while (!failed_ && !is("}")) {
      take("?");
      if (token().kind != Token::Kind::Ident) {
        syntax("mismatched input " + shown() + " expecting IDENTIFIER");
        break;
      }
      ++at_;
      expect(":");
      out->args.push_back(expression());
      if (!take(",")) break;
    }
    expect("}");
    measure(*out);
    return out;
  }

  ExprPtr list(std::uint32_t at) {
    auto out = std::make_unique<Expr>();
    out->kind = Expr::Kind::List;
    out->at = at;
    while (!failed_ && !is("]")) {
      out->optional.push_back(take("?"));
      out->args.push_back(expression());
      if (!take(",")) break;
    }
    close("]");
    measure(*out);
    return bounded(std::move(out));
  }

  ExprPtr map(std::uint32_t at) {
    auto out = std::make_unique<Expr>();
    out->kind = Expr::Kind::Map;
    out->at = at;
    while (!failed_ && !is("}")) {
      out->optional.push_back(take("?"));
      out->args.push_back(expression());
      expect(":");
      out->args.push_back(expression());
      if (!take(",")) break;
    }
    close("}");
    measure(*out);
    return bounded(std::move(out));
  }

  ExprPtr broken_literal(std::uint32_t at, const char* message) {
    issues_.push_back(Issue{at, message});
    return make_literal(at, {});
  }

  ExprPtr integer(const Token& number, bool negative) {
    const bool hex = number.text.starts_with("0x");
    const std::string digits = (negative ? "-" : "") + std::string(number.text.substr(hex ? 2 : 0));
    std::int64_t out = 0;
    const auto parsed =
        std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? 16 : 10);
    if (parsed.ec != std::errc()) return broken_literal(number.at, "invalid int literal");
    return make_literal(number.at, Value::of(out));
  }

  ExprPtr unsigned_integer(const Token& number) {
    std::string_view digits = number.text;
    digits.remove_suffix(1);
    const bool hex = digits.starts_with("0x");
    if (hex) digits.remove_prefix(2);
    std::uint64_t out = 0;
    const auto parsed =
        std::from_chars(digits.data(), digits.data() + digits.size(), out, hex ? 16 : 10);
    if (parsed.ec != std::errc()) return broken_literal(number.at, "invalid uint literal");
    return make_literal(number.at, Value::of(out));
  }

  ExprPtr floating(const Token& number, bool negative) {
    const std::string digits = (number.text[0] == '.' ? "0" : "") + std::string(number.text);
    double out = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), out);
    // Out of range is also said of what is too small, which is a fine zero.
    if (parsed.ec != std::errc()) out = std::strtod(digits.c_str(), nullptr);
    if (!std::isfinite(out)) return broken_literal(number.at, "invalid double literal");
    return make_literal(number.at, Value::of(negative ? -out : out));
  }

  ExprPtr text(const Token& literal) {
    std::string out;
    std::string message;
    if (!unescape(literal, out, message)) return broken_literal(literal.at, message.c_str());
    return make_literal(literal.at, literal.kind == Token::Kind::Bytes
                                        ? Value::bytes(std::move(out))
                                        : Value::string(std::move(out)));
  }

  std::vector<Issue>& issues_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int level_ = 0;
  bool failed_ = false;
};

}  // namespace

ExprPtr parse(std::string_view source, std::vector<Issue>& issues) {
  const std::uint64_t size = code_points(source);
  if (size > kMostCodePoints) {
    issues.push_back(Issue{0, "expression code point size exceeds limit: size: " +
                                  std::to_string(size) + ", limit 100000"});
    return nullptr;
  }
  ExprPtr out = Parser(source, issues).run();
  if (!issues.empty()) return nullptr;
  return out;
}

}  // namespace krater::cel
