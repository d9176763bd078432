// Node affinity, read once a pod shape and then asked per node. Semantics are Kubernetes': terms
// are alternatives, a term's expressions must all hold, an empty term matches nothing. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "model/object.h"

namespace krater {

class NodeAffinity {
 public:
  NodeAffinity() = default;
  // spec.affinity.nodeAffinity of a pod; nullptr wants nothing. Unknown operators match nothing.
  static NodeAffinity from(const Json* node_affinity);

  bool allows(const std::string& node, const Labels& labels) const;
  // Sum of the weights of the preferred terms that hold.
  std::int64_t preference(const std::string& node, const Labels& labels) const;
  bool has_preferences() const { return !preferred_.empty(); }

 private:
  enum class Operator { In, NotIn, Exists, DoesNotExist, Gt, Lt, Never };
  struct Expression {
    std::string key;
    Operator op = Operator::Never;
    std::vector<std::string> values{};
    bool holds(const std::string* value) const;
  };
  struct Term {
    std::vector<Expression> labels{}, fields{};
    bool holds(const std::string& node, const Labels& node_labels) const;
  };
  struct Preference {
    std::int64_t weight = 0;
    Term term{};
  };
  static Operator operator_from(std::string_view text);
  static std::vector<Expression> expressions_from(const Json& term, std::string_view list);
  static Term term_from(const Json& term);

  bool restricted_ = false;  // required terms were given, even if none can hold
  std::vector<Term> required_;
  std::vector<Preference> preferred_;
};

}  // namespace krater
