#include "api/cel/literals.h"

#include "api/cel/functions.h"
#include "api/cel/regex.h"
#include "api/cel/text_format.h"

namespace krater::cel {
namespace {

using Kind = Expr::Kind;

bool is_text(const Expr& expr) {
  return expr.kind == Kind::Literal && expr.literal.kind() == Value::Kind::String;
}

std::string_view short_name(const Type& type) {
  switch (type.kind) {
    case TypeKind::Timestamp:
      return "google.protobuf.Timestamp";
    case TypeKind::Duration:
      return "google.protobuf.Duration";
    case TypeKind::Null:
      return "null_type";
    case TypeKind::List:
      return "list";
    case TypeKind::Map:
      return "map";
    case TypeKind::Type:
      return "type";
    case TypeKind::Bool:
      return "bool";
    case TypeKind::Int:
      return "int";
    case TypeKind::Uint:
      return "uint";
    case TypeKind::Double:
      return "double";
    case TypeKind::String:
      return "string";
    case TypeKind::Bytes:
      return "bytes";
    case TypeKind::Dyn:
      return "dyn";
    case TypeKind::Object:
    case TypeKind::Opaque:
    case TypeKind::Error:
    case TypeKind::Var:
      break;
  }
  return type.name;
}

bool can_show(char verb, const Type& type) {
  const TypeKind kind = type.kind;
  if (kind == TypeKind::Dyn) return true;
  const bool whole = kind == TypeKind::Int || kind == TypeKind::Uint;
  switch (verb) {
    case 's':
      return kind != TypeKind::Opaque && kind != TypeKind::Object;
    case 'd':
    case 'o':
      return whole;
    case 'b':
      return whole || kind == TypeKind::Bool;
    case 'x':
    case 'X':
      return whole || kind == TypeKind::String || kind == TypeKind::Bytes;
    default:
      return kind == TypeKind::Double || kind == TypeKind::String;
  }
}

class Literals {
 public:
  explicit Literals(std::vector<Issue>& issues) : issues_(issues) {}

  void visit(Expr& expr, bool in_format) {
    if (expr.kind == Kind::List && !in_format) same_types(expr);
    if (expr.kind == Kind::Map && !in_format) same_types_of_map(expr);
    if (expr.kind == Kind::Call) call(expr);
    const bool inside = in_format || (expr.kind == Kind::Call && expr.name == "format");
    for (const ExprPtr& arg : expr.args) visit(*arg, inside);
    if (!expr.fold) return;
    visit(*expr.fold->range, inside);
    visit(*expr.fold->init, inside);
    visit(*expr.fold->condition, inside);
    visit(*expr.fold->step, inside);
    visit(*expr.fold->result, inside);
  }

 private:
  void issue(const Expr& at, std::string message) {
    issues_.push_back(Issue{at.at, std::move(message)});
  }

  static const Type& held(const Expr& expr, bool optional) {
    return optional && is_optional(*expr.type) ? *expr.type->params[0] : *expr.type;
  }

  bool agree(const Type& first, const Expr& other, bool optional) {
    const Type& type = held(other, optional);
    if (same_type(first, type)) return true;
    issue(other, "expected type '" + text_of(first) + "' but found '" + text_of(type) + "'");
    return false;
  }

  void same_types(const Expr& list) {
    for (std::size_t i = 1; i < list.args.size(); ++i) {
      const Type& first = held(*list.args[0], list.optional[0]);
      if (!agree(first, *list.args[i], list.optional[i])) return;
    }
  }

  void same_types_of_map(const Expr& map) {
    for (std::size_t i = 2; i < map.args.size(); i += 2) {
      agree(*map.args[0]->type, *map.args[i], false);
      agree(held(*map.args[1], map.optional[0]), *map.args[i + 1], map.optional[i / 2]);
    }
  }

  void call(Expr& expr) {
    if ((expr.name == "duration" || expr.name == "timestamp") && expr.args.size() == 1 &&
        expr.args[0]->kind == Kind::Literal) {
      const Value& literal = expr.args[0]->literal;
      const Args args(&literal, 1);
      const Value value = expr.name == "duration" ? call_duration(args) : call_timestamp(args);
      if (value.is_error()) issue(*expr.args[0], "invalid " + expr.name + " argument");
    }
    const bool is_matches = expr.name == "matches";
    if ((is_matches || expr.name == "find" || expr.name == "findAll") && expr.args.size() >= 2 &&
        is_text(*expr.args[1])) {
      expr.pattern = compile_regex(expr.args[1]->literal.text());
      if (!expr.pattern->ok() && is_matches) issue(*expr.args[1], "invalid matches argument");
    }
    if (expr.name == "format" && expr.member && is_text(*expr.args[0]) &&
        expr.args[1]->kind == Kind::List) {
      format(expr);
    }
  }

  void format(const Expr& expr) {
    const Expr& list = *expr.args[1];
    const auto clauses = parse_format(expr.args[0]->literal.text(), list.args.size());
    if (!clauses) return issue(expr, clauses.error().message);
    const std::size_t used = clauses->size() - 1;
    for (std::size_t i = 0; i < used; ++i) {
      const Expr& arg = *list.args[i];
      const char verb = (*clauses)[i].verb;
      if (can_show(verb, *arg.type)) continue;
      issue(arg, "error during formatting: " + refusal_of(verb, short_name(*arg.type)));
      return;
    }
    if (list.args.size() > used) {
      issue(expr, "too many arguments supplied to string.format (expected " + std::to_string(used) +
                      ", got " + std::to_string(list.args.size()) + ")");
    }
  }

  std::vector<Issue>& issues_;
};

}  // namespace

void check_literals(Expr& root, std::vector<Issue>& issues) {
  Literals(issues).visit(root, false);
}

}  // namespace krater::cel
