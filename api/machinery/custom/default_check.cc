// Defaults must be what an object may hold in their place.
#include "api/machinery/custom/definition_check.h"
#include "api/machinery/custom/shape.h"
#include "api/machinery/custom/structural.h"
#include "api/machinery/custom/validate.h"

namespace krater::api {
namespace {

class Checker {
 public:
  explicit Checker(FieldErrors& errors) : errors_(errors) {}

  void walk(const Structural& schema, const FieldPath& path, bool whole, bool inside_meta) {
    if (schema.default_value != nullptr) check(schema, path.field("default"), inside_meta);
    if (schema.items != nullptr)
      walk(*schema.items, path.field("items"), schema.items->embedded, inside_meta);
    const FieldPath all = path.field("properties");
    for (const Structural::Member& member : schema.properties) {
      const bool meta = whole && (member.name == "metadata" || member.name == "apiVersion" ||
                                  member.name == "kind");
      walk(member.schema, all.key(member.name), member.schema.embedded,
           !member.schema.embedded && (inside_meta || meta));
    }
  }

 private:
  void check(const Structural& schema, const FieldPath& path, bool inside_meta) {
    const Json& value = *schema.default_value;
    if (!inside_meta) {
      Json pruned = value;
      std::vector<FieldProblem> unknown;
      prune_custom(schema, schema.embedded, pruned, unknown);
      if (pruned != value) errors_.invalid(path, value, "must not have unknown fields");
    }
    std::vector<Cause> found = validate_custom(schema, value, nullptr);
    const std::string at = path.text();
    for (Cause& cause : found) {
      if (cause.field != "<nil>")
        cause.field = cause.field.empty() ? at : at + "." + cause.field;
      else
        cause.field = at;
    }
    errors_.append(std::move(found));
  }

  FieldErrors& errors_;
};

}  // namespace

bool check_schema_defaults(const Json& schema, const FieldPath& path, FieldErrors& errors) {
  FieldErrors own;
  Checker(own).walk(read_structural(schema), path, true, false);
  std::vector<Cause> found = own.take();
  const bool clean = found.empty();
  errors.append(std::move(found));
  return clean;
}

}  // namespace krater::api
