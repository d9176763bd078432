#include "api/cel/collector.h"

#include "api/cel/functions.h"

namespace krater::cel {
namespace {

bool is_call(const Expr& expr, std::string_view name) {
  return expr.kind == Expr::Kind::Call && expr.name == name;
}

}  // namespace

Collector::Collector(const Fold& fold) {
  if (fold.accu != kAccumulator || !fold.init->args.empty()) return;
  const Expr* step = fold.step.get();
  const Expr* filter = nullptr;
  if (is_call(*step, "_?_:_")) {
    filter = step->args[0].get();
    step = step->args[1].get();
  }
  const bool list = fold.init->kind == Expr::Kind::List && is_call(*step, "_+_") &&
                    step->args[1]->kind == Expr::Kind::List && step->args[1]->args.size() == 1;
  is_map_ = fold.init->kind == Expr::Kind::Map && is_call(*step, "cel.@mapInsert");
  if (!list && !is_map_) return;
  filter_ = filter;
  step_ = step;
}

std::optional<Value> Collector::insert(Value key, Value value) {
  std::optional<MapKey> known = map_key(key);
  if (!known) return Value::error("unsupported key type: " + key.type_name());
  if (!keys_.insert(std::move(*known)).second) {
    const Value text = call_string(Args(&key, 1));
    return Value::error("insert failed: key " + std::string(text.text()) + " already exists");
  }
  entries_.emplace_back(std::move(key), std::move(value));
  return std::nullopt;
}

Value Collector::take() {
  return is_map_ ? Value::map(std::move(entries_)) : Value::list(std::move(items_));
}

}  // namespace krater::cel
