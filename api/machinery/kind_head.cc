// Reads the `kind` head of a schema document.
#include "api/machinery/cells/cells.h"
#include "api/machinery/kind_schema.h"
#include "api/machinery/names.h"
#include "base/check.h"

namespace krater::api {
namespace {

std::vector<std::string> strings(const Json& head, std::string_view key) {
  std::vector<std::string> out;
  if (const JsonArray* list = array_at(head, {key})) {
    for (const Json& item : *list) out.emplace_back(view(item.as_string()));
  }
  return out;
}

TableColumn read_column(const Json& column) {
  TableColumn out;
  out.name = text_at(column, {"name"});
  out.type = text_at(column, {"type"});
  out.format = text_at(column, {"format"});
  out.description = text_at(column, {"description"});
  out.priority = static_cast<int>(int_at(column, {"priority"}).value_or(0));
  return out;
}

}  // namespace

std::optional<KindHead> read_kind_head(const Json& document) {
  const Json* head = find(document, {"kind"});
  if (head == nullptr) return std::nullopt;
  KindHead out;
  out.kind = {text_at(*head, {"group"}), text_at(*head, {"version"}), text_at(*head, {"kind"}),
              text_at(*head, {"plural"}), text_at(*head, {"scope"}) == "Namespaced"};
  out.singular = text_at(*head, {"singular"});
  out.list_kind = out.kind.kind + "List";
  out.type_name = text_at(*head, {"type"});
  out.short_names = strings(*head, "shortNames");
  out.categories = strings(*head, "categories");
  out.verbs = strings(*head, "verbs");
  if (out.verbs.empty()) {
    out.verbs = {"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"};
  }
  out.selectable_fields = strings(*head, "selectableFields");
  for (const std::string& name : strings(*head, "subresources")) {
    out.subresources.status = out.subresources.status || name == "status";
    out.subresources.scale = out.subresources.scale || name == "scale";
  }
  out.native = bool_at(document, {"native"}).value_or(false);
  out.counts_generation = bool_at(*head, {"generation"}).value_or(false);
  out.name_rule = find_name_rule(text_at(*head, {"nameRule"}));
  CHECK_MSG(out.name_rule != nullptr, out.type_name);
  out.stored_as = text_at(*head, {"storedAs"});
  const std::string cells = text_at(*head, {"cells"});
  if (!cells.empty()) {
    out.cells = find_cell_function(cells);
    CHECK_MSG(out.cells != nullptr, cells);
  }
  for (const Json& column : *array_at(*head, {"columns"})) {
    out.columns.push_back(read_column(column));
    if (cells.empty()) out.column_paths.push_back(text_at(column, {"jsonPath"}));
  }
  return out;
}

}  // namespace krater::api
