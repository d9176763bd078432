#include "model/node_affinity.h"

#include <algorithm>

#include "base/strings.h"

namespace krater {

NodeAffinity::Operator NodeAffinity::operator_from(std::string_view text) {
  if (text == "In") return Operator::In;
  if (text == "NotIn") return Operator::NotIn;
  if (text == "Exists") return Operator::Exists;
  if (text == "DoesNotExist") return Operator::DoesNotExist;
  if (text == "Gt") return Operator::Gt;
  if (text == "Lt") return Operator::Lt;
  return Operator::Never;
}

bool NodeAffinity::Expression::holds(const std::string* value) const {
  const auto listed = [&] {
    return std::find(values.begin(), values.end(), *value) != values.end();
  };
  switch (op) {
    case Operator::In:
      return value != nullptr && listed();
    case Operator::NotIn:
      return value == nullptr || !listed();
    case Operator::Exists:
      return value != nullptr;
    case Operator::DoesNotExist:
      return value == nullptr;
    case Operator::Gt:
    case Operator::Lt: {
      if (value == nullptr || values.size() != 1) return false;
      const auto mine = parse_int(*value), limit = parse_int(values[0]);
      return mine && limit && (op == Operator::Gt ? *mine > *limit : *mine < *limit);
    }
    case Operator::Never:
      return false;
  }
  return false;
}

bool NodeAffinity::Term::holds(const std::string& node, const Labels& node_labels) const {
  if (labels.empty() && fields.empty()) return false;
  const bool labels_hold = std::all_of(labels.begin(), labels.end(), [&](const Expression& one) {
    const auto place = node_labels.find(one.key);
    return one.holds(place == node_labels.end() ? nullptr : &place->second);
  });
  return labels_hold && std::all_of(fields.begin(), fields.end(), [&](const Expression& one) {
           return one.key == "metadata.name" && one.holds(&node);
         });
}

std::vector<NodeAffinity::Expression> NodeAffinity::expressions_from(const Json& term,
                                                                     std::string_view list) {
  std::vector<Expression> out;
  const JsonArray* entries = array_at(term, {list});
  if (entries == nullptr) return out;
  for (const Json& entry : *entries) {
    Expression one{text_at(entry, {"key"}), operator_from(text_at(entry, {"operator"}))};
    if (const JsonArray* values = array_at(entry, {"values"})) {
      for (const Json& value : *values) {
        if (value.is_string()) one.values.emplace_back(view(value.get_string()));
      }
    }
    out.push_back(std::move(one));
  }
  return out;
}

NodeAffinity::Term NodeAffinity::term_from(const Json& term) {
  return {expressions_from(term, "matchExpressions"), expressions_from(term, "matchFields")};
}

NodeAffinity NodeAffinity::from(const Json* node_affinity) {
  NodeAffinity out;
  if (node_affinity == nullptr) return out;
  if (const Json* required =
          krater::find(*node_affinity, {"requiredDuringSchedulingIgnoredDuringExecution"});
      required != nullptr && required->is_object()) {
    out.restricted_ = true;
    if (const JsonArray* terms = array_at(*required, {"nodeSelectorTerms"})) {
      for (const Json& term : *terms) out.required_.push_back(term_from(term));
    }
  }
  if (const JsonArray* preferred =
          array_at(*node_affinity, {"preferredDuringSchedulingIgnoredDuringExecution"})) {
    for (const Json& entry : *preferred) {
      const Json* term = krater::find(entry, {"preference"});
      if (term == nullptr) continue;
      out.preferred_.push_back({int_at(entry, {"weight"}).value_or(0), term_from(*term)});
    }
  }
  return out;
}

bool NodeAffinity::allows(const std::string& node, const Labels& labels) const {
  return !restricted_ || std::any_of(required_.begin(), required_.end(),
                                     [&](const Term& term) { return term.holds(node, labels); });
}

std::int64_t NodeAffinity::preference(const std::string& node, const Labels& labels) const {
  std::int64_t sum = 0;
  for (const Preference& one : preferred_) {
    if (one.term.holds(node, labels)) sum += one.weight;
  }
  return sum;
}

}  // namespace krater
