// A fold that collects: accu + [item], or an insertion into accu, perhaps under a filter. It grows
// one container instead of copying it at every step.
#pragma once

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "api/cel/syntax.h"
#include "api/cel/value_data.h"

namespace krater::cel {

class Collector {
 public:
  explicit Collector(const Fold& fold);

  // Whether the fold is such a one at all.
  bool collects() const { return step_ != nullptr; }
  bool is_map() const { return is_map_; }
  const Expr* filter() const { return filter_; }  // nullptr: none
  // The growing call: `_+_` with a list of one item, or `cel.@mapInsert`.
  const Expr& step() const { return *step_; }

  void add(Value item) { items_.push_back(std::move(item)); }
  // The failure where the key is there already, or cannot be one.
  std::optional<Value> insert(Value key, Value value);
  Value take();

 private:
  const Expr* filter_ = nullptr;
  const Expr* step_ = nullptr;
  bool is_map_ = false;
  std::vector<Value> items_;
  std::vector<std::pair<Value, Value>> entries_;
  std::set<MapKey> keys_;
};

}  // namespace krater::cel
