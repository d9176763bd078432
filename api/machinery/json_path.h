// The JSONPath of printer columns: `.status.state`, `.metadata.labels['a\.b']`, `.spec.list[0]`,
// `.status.conditions[?(@.type=="Ready")].status`, `[*]`. The first match counts. Immutable after
// compiling.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace krater::api {

class CellPath {
 public:
  // Code::Invalid when the text is none of these forms.
  static Result<CellPath> compile(std::string_view text);

  // nullptr when nothing matches.
  const Json* first(const Json& object) const;
  // The cell of a column of `type`: string columns show any value, integer/number/boolean ones only
  // their own type, date columns an age. null when nothing matches.
  Json cell(const Json& object, std::string_view type, WallTime now) const;

 private:
  struct Step {
    enum class Kind { Field, Index, Any, Filter };
    Kind kind = Kind::Field;
    std::string name;                // of the field
    std::int64_t index = 0;          // negative: from the end
    std::vector<std::string> where;  // path of the filter's left side
    std::string equals;              // its right side, as text
  };

  static const Json* walk(const Json& at, const std::vector<Step>& steps, std::size_t next);
  static Result<Step> bracket(std::string_view inside);

  std::vector<Step> steps_;
};

}  // namespace krater::api
