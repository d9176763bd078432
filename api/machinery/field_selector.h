// Field selectors: `a=b,c==d,e!=f`. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace krater::api {

class KindSchema;

class FieldSelector {
 public:
  struct Requirement {
    std::string field, value;
    bool equal = true;
  };

  FieldSelector() = default;  // matches everything
  // Code::BadRequest when the text is malformed.
  static Result<FieldSelector> parse(std::string_view text);
  // Code::BadRequest `field label not supported: x` for a field that `schema` does not offer.
  Result<void> check(const KindSchema& schema) const;

  bool matches(const KindSchema& schema, const Json& object) const;
  // The value that metadata.name (or any other field) must equal, when the selector says so.
  const std::string* required_value(std::string_view field) const;

  bool empty() const { return requirements_.empty(); }
  const std::vector<Requirement>& requirements() const { return requirements_; }

 private:
  std::vector<Requirement> requirements_;
};

}  // namespace krater::api
