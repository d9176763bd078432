// Label selectors: the query grammar (`a=b,c in (d,e),!f`) and LabelSelector objects. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "model/object.h"

namespace krater {

class LabelSelector {
 public:
  enum class Operator { In, NotIn, Exists, DoesNotExist, GreaterThan, LessThan };
  struct Requirement {
    std::string key;
    Operator op = Operator::Exists;
    std::vector<std::string> values;
  };

  LabelSelector() = default;  // matches everything
  // Code::BadRequest with Kubernetes' wording ("unable to parse requirement: …").
  static Result<LabelSelector> parse(std::string_view text);
  // metav1.LabelSelector {matchLabels, matchExpressions}. An empty object matches everything.
  static Result<LabelSelector> from_object(const Json& selector);
  static LabelSelector equals(const Labels& labels);

  bool matches(const Labels& labels) const;
  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }
  std::string text() const;  // canonical query form

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace krater
