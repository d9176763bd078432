// What a list or watch is narrowed to: a label selector and a field selector of one kind.
// Immutable, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/machinery/schema.h"
#include "base/result.h"
#include "model/selector.h"

namespace krater::api {

class Selection {
 public:
  // Code::BadRequest for texts that do not parse and for field labels the kind does not know.
  static Result<Selection> parse(KindSchemaPtr schema, std::string_view labels,
                                 std::string_view fields);

  bool empty() const { return labels_.empty() && fields_.empty(); }
  bool matches(const Object& object) const;

 private:
  struct FieldRequirement {
    std::string label;
    std::string value;
    bool equal = true;
  };
  static Result<std::vector<FieldRequirement>> parse_fields(const KindSchema& schema,
                                                            std::string_view text);

  KindSchemaPtr schema_;
  LabelSelector labels_;
  std::vector<FieldRequirement> fields_;
};

}  // namespace krater::api
