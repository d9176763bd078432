#include "api/cel/macros.h"

#include <algorithm>

namespace krater::cel {
namespace {

using Kind = Expr::Kind;

template <typename... Args>
std::vector<ExprPtr> args_of(Args... args) {
  std::vector<ExprPtr> out;
  (out.push_back(std::move(args)), ...);
  return out;
}

ExprPtr call_of(std::uint32_t at, const char* function, std::vector<ExprPtr> args) {
  return make_call(at, function, std::move(args), false);
}

ExprPtr accu(std::uint32_t at) {
  return make_ident(at, kAccumulator);
}

ExprPtr list_of(std::uint32_t at, std::vector<ExprPtr> items) {
  auto out = std::make_unique<Expr>();
  out->kind = Kind::List;
  out->at = at;
  out->optional.assign(items.size(), false);
  out->args = std::move(items);
  measure(*out);
  return out;
}

ExprPtr copy_of(const Expr& expr) {
  auto out = std::make_unique<Expr>();
  out->kind = expr.kind;
  out->test_only = expr.test_only;
  out->member = expr.member;
  out->at = expr.at;
  out->height = expr.height;
  out->literal = expr.literal;
  out->name = expr.name;
  out->optional = expr.optional;
  for (const ExprPtr& arg : expr.args) out->args.push_back(copy_of(*arg));
  if (expr.fold) {
    out->fold = std::make_unique<Fold>();
    out->fold->var = expr.fold->var;
    out->fold->var2 = expr.fold->var2;
    out->fold->accu = expr.fold->accu;
    out->fold->range = copy_of(*expr.fold->range);
    out->fold->init = copy_of(*expr.fold->init);
    out->fold->condition = copy_of(*expr.fold->condition);
    out->fold->step = copy_of(*expr.fold->step);
    out->fold->result = copy_of(*expr.fold->result);
  }
  return out;
}

// One call on its way to a fold.
struct Expansion {
  Expr& call;
  std::vector<Issue>& issues;
  std::string var, var2;

  std::uint32_t at() const { return call.at; }
  Expr& arg(std::size_t i) { return *call.args[i + 1]; }
  ExprPtr take(std::size_t i) { return std::move(call.args[i + 1]); }

  bool fail(const Expr& where, std::string message) {
    issues.push_back(Issue{where.at, std::move(message)});
    return false;
  }

  bool name_of(std::size_t i, const char* otherwise, std::string& out) {
    if (arg(i).kind != Kind::Ident) return fail(arg(i), otherwise);
    if (arg(i).name == "__result__") {
      return fail(arg(i), "iteration variable overwrites accumulator variable");
    }
    out = arg(i).name;
    return true;
  }

  bool one_name(const char* otherwise) { return name_of(0, otherwise, var); }
  bool two_names() {
    constexpr const char* kOtherwise = "argument must be a simple name";
    if (!name_of(0, kOtherwise, var) || !name_of(1, kOtherwise, var2)) return false;
    return var != var2 || fail(arg(1), "duplicate variable name: " + var);
  }

  ExprPtr fold(ExprPtr init, ExprPtr condition, ExprPtr step, ExprPtr result) {
    auto out = std::make_unique<Expr>();
    out->kind = Kind::Fold;
    out->at = call.at;
    out->fold = std::make_unique<Fold>();
    out->fold->var = var;
    out->fold->var2 = var2;
    out->fold->accu = kAccumulator;
    out->fold->range = std::move(call.args[0]);
    out->fold->init = std::move(init);
    out->fold->condition = std::move(condition);
    out->fold->step = std::move(step);
    out->fold->result = std::move(result);
    measure(*out);
    return out;
  }

  ExprPtr always() { return make_literal(at(), Value::of(true)); }

  // accu = filter ? grown : accu
  ExprPtr filtered(ExprPtr filter, ExprPtr grown) {
    if (!filter) return grown;
    return call_of(at(), "_?_:_", args_of(std::move(filter), std::move(grown), accu(at())));
  }

  ExprPtr all(ExprPtr predicate) {
    ExprPtr going_on = call_of(at(), "@not_strictly_false", args_of(accu(at())));
    ExprPtr step = call_of(at(), "_&&_", args_of(accu(at()), std::move(predicate)));
    return fold(always(), std::move(going_on), std::move(step), accu(at()));
  }

  ExprPtr exists(ExprPtr predicate) {
    ExprPtr undecided = call_of(at(), "!_", args_of(accu(at())));
    ExprPtr going_on = call_of(at(), "@not_strictly_false", args_of(std::move(undecided)));
    ExprPtr step = call_of(at(), "_||_", args_of(accu(at()), std::move(predicate)));
    return fold(make_literal(at(), Value::of(false)), std::move(going_on), std::move(step),
                accu(at()));
  }

  ExprPtr exists_one(ExprPtr predicate) {
    const Value one = Value::of(std::int64_t{1});
    ExprPtr more = call_of(at(), "_+_", args_of(accu(at()), make_literal(at(), one)));
    ExprPtr result = call_of(at(), "_==_", args_of(accu(at()), make_literal(at(), one)));
    return fold(make_literal(at(), Value::of(std::int64_t{0})), always(),
                filtered(std::move(predicate), std::move(more)), std::move(result));
  }

  ExprPtr to_list(ExprPtr filter, ExprPtr item) {
    ExprPtr grown =
        call_of(at(), "_+_", args_of(accu(at()), list_of(at(), args_of(std::move(item)))));
    return fold(list_of(at(), {}), always(), filtered(std::move(filter), std::move(grown)),
                accu(at()));
  }

  ExprPtr to_map(ExprPtr filter, std::vector<ExprPtr> inserted) {
    inserted.insert(inserted.begin(), accu(at()));
    ExprPtr grown = call_of(at(), "cel.@mapInsert", std::move(inserted));
    ExprPtr empty = list_of(at(), {});
    empty->kind = Kind::Map;
    return fold(std::move(empty), always(), filtered(std::move(filter), std::move(grown)),
                accu(at()));
  }

  // target.hasValue() ? wrap(with var = target.value(): expression) : optional.none()
  ExprPtr on_value(const char* macro, bool wrap) {
    if (arg(0).kind != Kind::Ident) {
      fail(arg(0), std::string(macro) + "() variable name must be a simple identifier");
      return nullptr;
    }
    const std::string name = arg(0).name;
    ExprPtr value = make_call(at(), "value", args_of(copy_of(*call.args[0])), true);
    auto bound = std::make_unique<Expr>();
    bound->kind = Kind::Fold;
    bound->at = at();
    bound->fold = std::make_unique<Fold>();
    bound->fold->var = "#unused";
    bound->fold->accu = name;
    bound->fold->range = list_of(at(), {});
    bound->fold->init = std::move(value);
    bound->fold->condition = make_literal(at(), Value::of(false));
    bound->fold->step = make_ident(at(), name);
    bound->fold->result = take(1);
    measure(*bound);
    ExprPtr then =
        wrap ? call_of(at(), "optional.of", args_of(std::move(bound))) : std::move(bound);
    ExprPtr has = make_call(at(), "hasValue", args_of(std::move(call.args[0])), true);
    return call_of(at(), "_?_:_",
                   args_of(std::move(has), std::move(then), call_of(at(), "optional.none", {})));
  }
};

ExprPtr expand_one_variable(Expansion& at, std::string_view name, std::size_t count) {
  constexpr const char* kSimple = "argument must be a simple name";
  constexpr const char* kIdentifier = "argument is not an identifier";
  if (name == "all") return at.one_name(kSimple) ? at.all(at.take(1)) : nullptr;
  if (name == "exists") return at.one_name(kSimple) ? at.exists(at.take(1)) : nullptr;
  if (name == "exists_one" || name == "existsOne") {
    return at.one_name(kSimple) ? at.exists_one(at.take(1)) : nullptr;
  }
  if (name == "filter") {
    if (!at.one_name(kIdentifier)) return nullptr;
    ExprPtr item = at.take(0);
    return at.to_list(at.take(1), std::move(item));
  }
  if (!at.one_name(kIdentifier)) return nullptr;
  ExprPtr filter = count == 3 ? at.take(1) : nullptr;
  return at.to_list(std::move(filter), at.take(count - 1));
}

ExprPtr expand_two_variables(Expansion& at, std::string_view name, std::size_t count) {
  if (!at.two_names()) return nullptr;
  ExprPtr filter = count == 4 ? at.take(2) : nullptr;
  ExprPtr last = at.take(count - 1);
  if (name == "all") return at.all(std::move(last));
  if (name == "exists") return at.exists(std::move(last));
  if (name == "exists_one" || name == "existsOne") return at.exists_one(std::move(last));
  if (name == "transformList") return at.to_list(std::move(filter), std::move(last));
  if (name == "transformMapEntry") return at.to_map(std::move(filter), args_of(std::move(last)));
  ExprPtr key = make_ident(at.at(), at.var);
  return at.to_map(std::move(filter), args_of(std::move(key), std::move(last)));
}

bool is_quantifier(std::string_view name) {
  return name == "all" || name == "exists" || name == "exists_one" || name == "existsOne";
}

}  // namespace

void measure(Expr& expr) {
  int height = 0;
  for (const ExprPtr& arg : expr.args) height = std::max(height, arg->height);
  if (expr.fold) {
    for (const ExprPtr* part : {&expr.fold->range, &expr.fold->init, &expr.fold->condition,
                                &expr.fold->step, &expr.fold->result}) {
      height = std::max(height, (*part)->height);
    }
  }
  expr.height = height + 1;
}

ExprPtr make_literal(std::uint32_t at, Value value) {
  auto out = std::make_unique<Expr>();
  out->at = at;
  out->literal = std::move(value);
  return out;
}

ExprPtr make_ident(std::uint32_t at, std::string name) {
  auto out = std::make_unique<Expr>();
  out->kind = Kind::Ident;
  out->at = at;
  out->name = std::move(name);
  return out;
}

ExprPtr make_call(std::uint32_t at, std::string function, std::vector<ExprPtr> args, bool member) {
  auto out = std::make_unique<Expr>();
  out->kind = Kind::Call;
  out->at = at;
  out->name = std::move(function);
  out->args = std::move(args);
  out->member = member;
  measure(*out);
  return out;
}

ExprPtr expand_macro(ExprPtr call, std::vector<Issue>& issues) {
  const std::string name = call->name;
  if (!call->member) {
    if (name != "has" || call->args.size() != 1) return call;
    ExprPtr tested = std::move(call->args[0]);
    if (tested->kind != Kind::Select || tested->test_only) {
      issues.push_back(Issue{tested->at, "invalid argument to has() macro"});
      return make_literal(call->at, {});
    }
    tested->test_only = true;
    tested->at = call->at;
    return tested;
  }
  const std::size_t count = call->args.size() - 1;
  Expansion expansion{*call, issues, {}, {}};
  ExprPtr out;
  if ((count == 2 && (is_quantifier(name) || name == "map" || name == "filter")) ||
      (count == 3 && name == "map")) {
    out = expand_one_variable(expansion, name, count);
  } else if ((count == 3 && is_quantifier(name)) ||
             ((count == 3 || count == 4) &&
              (name == "transformList" || name == "transformMap" || name == "transformMapEntry"))) {
    out = expand_two_variables(expansion, name, count);
  } else if (count == 2 && (name == "optMap" || name == "optFlatMap")) {
    out = expansion.on_value(name.c_str(), name == "optMap");
  } else {
    return call;
  }
  if (!out) return make_literal(call->at, {});
  return out;
}

}  // namespace krater::cel
