#include "api/cel/program.h"

#include <algorithm>
#include <array>

#include "api/cel/estimate.h"
#include "api/cel/evaluator.h"
#include "api/cel/overload.h"
#include "api/cel/parser.h"

namespace krater::cel {
namespace {

using Kind = Expr::Kind;

const Value* constant_of(const Expr& expr) {
  if (expr.constant) return expr.constant.get();
  if (expr.kind == Kind::Literal || (expr.kind == Kind::Ident && expr.slot < 0)) {
    return &expr.literal;
  }
  return nullptr;
}

bool converts(std::string_view name) {
  static constexpr std::array<std::string_view, 10> kConversions{
      "bool", "bytes", "double", "duration", "dyn", "int", "string", "timestamp", "type", "uint"};
  return std::find(kConversions.begin(), kConversions.end(), name) != kConversions.end();
}

// Lists and maps of constants, and conversions of one, have their value from the start. Returns the
// message of a conversion that can only fail.
class ConstantFolder {
 public:
  std::string run(Expr& expr) {
    visit(expr);
    return failure_;
  }

 private:
  void visit(Expr& expr) {
    for (const ExprPtr& arg : expr.args) visit(*arg);
    if (expr.fold) {
      visit(*expr.fold->range);
      visit(*expr.fold->init);
      visit(*expr.fold->condition);
      visit(*expr.fold->step);
      visit(*expr.fold->result);
    }
    const bool all_constant =
        std::all_of(expr.args.begin(), expr.args.end(),
                    [](const ExprPtr& arg) { return constant_of(*arg) != nullptr; });
    if (!all_constant) return;
    if (expr.kind == Kind::List) {
      std::vector<Value> items;
      for (const ExprPtr& arg : expr.args) items.push_back(*constant_of(*arg));
      expr.constant = std::make_unique<const Value>(Value::list(std::move(items)));
    } else if (expr.kind == Kind::Map) {
      std::vector<std::pair<Value, Value>> entries;
      for (std::size_t i = 0; i < expr.args.size(); i += 2) {
        entries.emplace_back(*constant_of(*expr.args[i]), *constant_of(*expr.args[i + 1]));
      }
      Value map = Value::map(std::move(entries));
      if (!map.is_error()) expr.constant = std::make_unique<const Value>(std::move(map));
    } else if (expr.kind == Kind::Call && expr.args.size() == 1 && converts(expr.name)) {
      Value value = find_function(expr.name)->call(Args(constant_of(*expr.args[0]), 1));
      if (value.is_error() && failure_.empty()) {
        failure_ = value.text();
        if (failure_ == "no such overload") {
          failure_ += ": " + expr.name + "(" + constant_of(*expr.args[0])->type_name() + ")";
        }
      }
      expr.constant = std::make_unique<const Value>(std::move(value));
    }
  }

  std::string failure_;
};

void mark_used(const Expr& expr, std::vector<bool>& used) {
  if (expr.kind == Kind::Ident && !expr.local && expr.slot >= 0) {
    used[static_cast<std::size_t>(expr.slot)] = true;
  }
  for (const ExprPtr& arg : expr.args) mark_used(*arg, used);
  if (!expr.fold) return;
  mark_used(*expr.fold->range, used);
  mark_used(*expr.fold->init, used);
  mark_used(*expr.fold->condition, used);
  mark_used(*expr.fold->step, used);
  mark_used(*expr.fold->result, used);
}

}  // namespace

Result<std::shared_ptr<const Program>> Program::compile(std::string_view source,
                                                        std::vector<Variable> variables) {
  std::vector<Issue> issues;
  ExprPtr root = parse(source, issues);
  if (root) check(*root, variables, issues);
  if (!issues.empty()) return make_error(Code::BadRequest, render(issues, source));

  std::shared_ptr<Program> out(new Program());
  out->estimated_cost_ = estimate_cost(*root, variables);
  const std::string failure = ConstantFolder().run(*root);
  if (!failure.empty()) {
    return make_error(Code::BadRequest, "program instantiation failed: " + failure);
  }
  out->used_.assign(variables.size(), false);
  mark_used(*root, out->used_);
  out->variables_ = std::move(variables);
  out->root_ = std::move(root);
  return std::shared_ptr<const Program>(std::move(out));
}

bool Program::uses(std::string_view variable) const {
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].name == variable) return used_[i];
  }
  return false;
}

Outcome Program::evaluate(const std::vector<std::optional<Value>>& bound,
                          std::uint64_t cost_limit) const {
  return cel::evaluate(*root_, variables_, bound, cost_limit);
}

}  // namespace krater::cel
