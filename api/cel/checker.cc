#include "api/cel/checker.h"

#include <algorithm>

#include "api/cel/literals.h"
#include "api/cel/overload.h"
#include "api/cel/unify.h"

namespace krater::cel {
namespace {

using Kind = Expr::Kind;

struct Local {
  std::string name;
  TypePtr type;
};

TypePtr literal_type(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::Bool:
      return simple_type(TypeKind::Bool);
    case Value::Kind::Int:
      return simple_type(TypeKind::Int);
    case Value::Kind::Uint:
      return simple_type(TypeKind::Uint);
    case Value::Kind::Double:
      return simple_type(TypeKind::Double);
    case Value::Kind::String:
      return simple_type(TypeKind::String);
    case Value::Kind::Bytes:
      return simple_type(TypeKind::Bytes);
    case Value::Kind::Null:
      return simple_type(TypeKind::Null);
    case Value::Kind::Error:
    case Value::Kind::Timestamp:
    case Value::Kind::Duration:
    case Value::Kind::Type:
    case Value::Kind::List:
    case Value::Kind::Map:
    case Value::Kind::Optional:
    case Value::Kind::Opaque:
    case Value::Kind::Unexposed:
      break;
  }
  return simple_type(TypeKind::Error);
}

class Checker {
 public:
  Checker(const std::vector<Variable>& variables, std::vector<Issue>& issues)
      : variables_(variables), issues_(issues) {}

  TypePtr run(Expr& root) {
    visit(root);
    finish(root);
    return root.type;
  }

 private:
  TypePtr resolved(const TypePtr& type) const { return types_.resolve(type, false); }

  void issue(const Expr& at, std::string message) {
    issues_.push_back(Issue{at.at, std::move(message)});
  }
  void undeclared(Expr& at, const std::string& name) {
    issue(at, "undeclared reference to '" + name + "' (in container '')");
    at.type = simple_type(TypeKind::Error);
  }
  void mismatch(const Expr& at, const Type& expected, const Type& found) {
    issue(at, "expected type '" + text_of(expected) + "' but found '" + text_of(found) + "'");
  }

  void visit(Expr& expr) {
    switch (expr.kind) {
      case Kind::Literal:
        expr.type = literal_type(expr.literal);
        return;
      case Kind::Ident:
        return ident(expr);
      case Kind::Select:
        return select(expr);
      case Kind::Call:
        return call(expr);
      case Kind::List:
        return list(expr);
      case Kind::Map:
        return map(expr);
      case Kind::Struct:
        for (const ExprPtr& arg : expr.args) visit(*arg);
        return undeclared(expr, expr.name);
      case Kind::Fold:
        return fold(expr);
    }
  }

  bool resolve_name(Expr& expr, std::string_view name) {
    const bool global = name.starts_with('.');
    if (global) name.remove_prefix(1);
    for (std::size_t i = locals_.size(); i > 0 && !global; --i) {
      if (locals_[i - 1].name != name) continue;
      expr.local = true;
      expr.slot = static_cast<int>(i - 1);
      expr.type = locals_[i - 1].type;
      return true;
    }
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      if (variables_[i].name != name) continue;
      expr.slot = static_cast<int>(i);
      expr.type = variables_[i].type;
      return true;
    }
    const TypePtr type = find_type(name);
    if (type == nullptr) return false;
    expr.literal = Value::type(std::string(name));
    expr.type = type_type(type);
    return true;
  }

  void ident(Expr& expr) {
    if (!resolve_name(expr, expr.name)) undeclared(expr, expr.name);
  }

  // "a.b.c" of selections of a name; "" of anything else.
  static std::string qualified(const Expr& expr) {
    if (expr.kind == Kind::Ident) return expr.name;
    if (expr.kind != Kind::Select || expr.test_only) return "";
    std::string operand = qualified(*expr.args[0]);
    return operand.empty() ? operand : operand + "." + expr.name;
  }

  void select(Expr& expr) {
    const std::string name = qualified(expr);
    if (!name.empty() && resolve_name(expr, name)) {
      expr.kind = Kind::Ident;
      expr.args.clear();
      return;
    }
    expr.type = resolved(field_type(expr, *expr.args[0], expr.name, false));
    if (expr.test_only) expr.type = simple_type(TypeKind::Bool);
  }

  TypePtr field_type(Expr& at, Expr& operand, const std::string& field, bool optional) {
    visit(operand);
    TypePtr target = resolved(operand.type);
    const bool was_optional = is_optional(*target);
    if (was_optional) target = target->params[0];
    TypePtr out = simple_type(TypeKind::Dyn);
    if (target->kind == TypeKind::Map) {
      out = target->params[1];
    } else if (target->kind == TypeKind::Object) {
      const auto found = target->fields.find(field);
      if (found == target->fields.end() || !found->second.exposed) {
        issue(at, "undefined field '" + field + "'");
        out = simple_type(TypeKind::Error);
      } else {
        out = found->second.type;
      }
    } else if (target->kind == TypeKind::Var) {
      types_.assignable(simple_type(TypeKind::Dyn), target);
    } else if (target->kind != TypeKind::Dyn && target->kind != TypeKind::Error) {
      issue(at, "type '" + text_of(*target) + "' does not support field selection");
    }
    return was_optional || optional ? optional_type(std::move(out)) : out;
  }

  void call(Expr& expr) {
    if (expr.name == "_?._") {
      expr.type = resolved(
          field_type(expr, *expr.args[0], std::string(expr.args[1]->literal.text()), true));
      expr.args[1]->type = simple_type(TypeKind::String);
      expr.overloads.push_back(&find_function(expr.name)->overloads[0]);
      return;
    }
    const std::size_t first = expr.member ? 1 : 0;
    for (std::size_t i = first; i < expr.args.size(); ++i) visit(*expr.args[i]);
    const Function* function = nullptr;
    if (expr.member) {
      const std::string prefix = qualified(*expr.args[0]);
      if (!prefix.empty()) function = find_function(prefix + "." + expr.name);
      if (function != nullptr) {
        expr.member = false;
        expr.args.erase(expr.args.begin());
      } else {
        visit(*expr.args[0]);
      }
    }
    if (function == nullptr) {
      std::string_view name = expr.name;
      if (name.starts_with('.')) name.remove_prefix(1);
      function = find_function(name);
    }
    if (function == nullptr) return undeclared(expr, expr.name);
    expr.name = function->name;
    if (function->name == "_&&_" || function->name == "_||_") return logical(expr, *function);
    overload(expr, *function);
  }

  void logical(Expr& expr, const Function& function) {
    expr.type = simple_type(TypeKind::Bool);
    for (const ExprPtr& arg : expr.args) {
      if (types_.assignable(arg->type, simple_type(TypeKind::Bool))) continue;
      mismatch(*arg, *simple_type(TypeKind::Bool), *resolved(arg->type));
      expr.type = simple_type(TypeKind::Error);
    }
    expr.overloads.push_back(&function.overloads[0]);
  }

  void overload(Expr& expr, const Function& function) {
    std::vector<TypePtr> arguments;
    for (const ExprPtr& arg : expr.args) arguments.push_back(arg->type);
    TypePtr result;
    for (const Overload& candidate : function.overloads) {
      if (candidate.member != expr.member) continue;
      std::vector<TypePtr> made;
      for (int i = 0; i < candidate.variables; ++i) made.push_back(types_.fresh());
      std::vector<TypePtr> wanted;
      for (const TypePtr& arg : candidate.args) wanted.push_back(Unifier::instantiate(arg, made));
      if (!types_.assignable(arguments, wanted)) continue;
      expr.overloads.push_back(&candidate);
      TypePtr type = resolved(Unifier::instantiate(candidate.result, made));
      if (result == nullptr) {
        result = std::move(type);
      } else if (result->kind != TypeKind::Dyn && !same_type(*type, *result)) {
        result = simple_type(TypeKind::Dyn);
      }
    }
    if (result != nullptr) {
      expr.type = std::move(result);
      return;
    }
    std::string signature = expr.member ? text_of(*types_.resolve(arguments[0], true)) + ".(" : "(";
    for (std::size_t i = expr.member ? 1 : 0; i < arguments.size(); ++i) {
      if (i > (expr.member ? 1U : 0U)) signature += ", ";
      signature += text_of(*types_.resolve(arguments[i], true));
    }
    issue(expr,
          "found no matching overload for '" + function.name + "' applied to '" + signature + ")'");
    expr.type = simple_type(TypeKind::Error);
  }

  // The type both have; dyn when they differ.
  TypePtr joined(const TypePtr& previous, const TypePtr& next) {
    if (previous == nullptr) return next;
    if (types_.assignable(previous, next)) return Unifier::more_general(previous, next);
    return simple_type(TypeKind::Dyn);
  }

  // Of an optional element or entry: what it holds.
  TypePtr unwrapped(const Expr& expr, bool optional) {
    const TypePtr type = resolved(expr.type);
    if (!optional) return expr.type;
    if (is_optional(*type)) return type->params[0];
    if (type->kind != TypeKind::Dyn) mismatch(expr, *optional_type(type), *type);
    return type;
  }

  void list(Expr& expr) {
    TypePtr element;
    for (std::size_t i = 0; i < expr.args.size(); ++i) {
      visit(*expr.args[i]);
      element = joined(element, unwrapped(*expr.args[i], expr.optional[i]));
    }
    expr.type = list_type(element == nullptr ? types_.fresh() : element);
  }

  void map(Expr& expr) {
    TypePtr key;
    TypePtr value;
    for (std::size_t i = 0; i < expr.args.size(); i += 2) {
      visit(*expr.args[i]);
      key = joined(key, expr.args[i]->type);
      visit(*expr.args[i + 1]);
      value = joined(value, unwrapped(*expr.args[i + 1], expr.optional[i / 2]));
    }
    if (key == nullptr) {
      key = types_.fresh();
      value = types_.fresh();
    }
    // Nothing else can be a key; and types stay as small as their expressions.
    key = resolved(key);
    if (!key->params.empty()) key = simple_type(TypeKind::Dyn);
    expr.type = map_type(std::move(key), std::move(value));
  }

  void fold(Expr& expr) {
    Fold& fold = *expr.fold;
    visit(*fold.range);
    visit(*fold.init);
    const TypePtr range = resolved(fold.range->type);
    const bool two = !fold.var2.empty();
    TypePtr first = simple_type(TypeKind::Dyn);
    TypePtr second = simple_type(TypeKind::Dyn);
    if (range->kind == TypeKind::List) {
      first = two ? simple_type(TypeKind::Int) : range->params[0];
      second = range->params[0];
    } else if (range->kind == TypeKind::Map) {
      first = range->params[0];
      second = range->params[1];
    } else if (range->kind == TypeKind::Dyn || range->kind == TypeKind::Error ||
               range->kind == TypeKind::Var) {
      types_.assignable(simple_type(TypeKind::Dyn), range);
    } else {
      issue(*fold.range, "expression of type '" + text_of(*range) +
                             "' cannot be range of a comprehension (must be list, map, or "
                             "dynamic)");
      first = second = simple_type(TypeKind::Error);
    }
    const std::size_t scope = locals_.size();
    locals_.push_back(Local{fold.accu, fold.init->type});
    locals_.push_back(Local{fold.var, first});
    locals_.push_back(Local{two ? fold.var2 : std::string("#"), second});
    visit(*fold.condition);
    wanted(*fold.condition, simple_type(TypeKind::Bool));
    visit(*fold.step);
    wanted(*fold.step, fold.init->type);
    locals_.resize(scope + 1);
    visit(*fold.result);
    locals_.resize(scope);
    expr.type = resolved(fold.result->type);
  }

  void wanted(const Expr& expr, const TypePtr& type) {
    if (!types_.assignable(expr.type, type)) {
      mismatch(expr, *resolved(type), *resolved(expr.type));
    }
  }

  // Parameters that stayed open are dyn; from then on every type is closed.
  void finish(Expr& expr) {
    expr.type = types_.resolve(expr.type, true);
    for (const ExprPtr& arg : expr.args) finish(*arg);
    if (!expr.fold) return;
    finish(*expr.fold->range);
    finish(*expr.fold->init);
    finish(*expr.fold->condition);
    finish(*expr.fold->step);
    finish(*expr.fold->result);
  }

  const std::vector<Variable>& variables_;
  std::vector<Issue>& issues_;
  std::vector<Local> locals_;
  Unifier types_;
};

}  // namespace

TypePtr check(Expr& root, const std::vector<Variable>& variables, std::vector<Issue>& issues) {
  TypePtr out = Checker(variables, issues).run(root);
  if (issues.empty()) check_literals(root, issues);
  return out;
}

}  // namespace krater::cel
