#include "api/machinery/kind_schema.h"

#include <algorithm>
#include <array>

#include "api/machinery/autoscaler_conversion.h"
#include "api/machinery/check_types.h"
#include "api/machinery/defaults.h"
#include "api/machinery/event_conversion.h"
#include "api/machinery/field_value.h"
#include "api/machinery/json_path.h"
#include "api/machinery/names.h"
#include "api/machinery/patch.h"
#include "api/machinery/protobuf.h"
#include "api/machinery/prune.h"
#include "api/machinery/validate.h"
#include "base/check.h"

namespace krater::api {
namespace {

// A kind that is stored in another form.
struct StoredForm {
  std::string_view type_name;  // of that form
  Kind kind;
  void (*to_stored)(Json&);
  void (*from_stored)(Json&);
};

const StoredForm* stored_form(std::string_view type_name) {
  static const std::array kForms{
      StoredForm{"core/v1.Event", kinds::kEvent, event_to_core, event_from_core},
      StoredForm{"autoscaling/v2.HorizontalPodAutoscaler",
                 {"autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", true},
                 autoscaler_to_v2,
                 autoscaler_from_v2}};
  for (const StoredForm& form : kForms) {
    if (form.type_name == type_name) return &form;
  }
  return nullptr;
}

class NodeKindSchema final : public KindSchema {
 public:
  NodeKindSchema(KindHead head, const SchemaNode& root, std::shared_ptr<const TypeTable> table)
      : head_(std::move(head)),
        form_(stored_form(head_.stored_as)),
        root_(root),
        table_(std::move(table)) {
    CHECK_MSG(head_.stored_as.empty() == (form_ == nullptr), head_.stored_as);
    for (const std::string& path : head_.column_paths) {
      auto compiled = CellPath::compile(path.empty() ? ".metadata.name" : path);
      CHECK_MSG(compiled.has_value(), path);
      paths_.push_back(*std::move(compiled));
    }
  }

  const Kind& kind() const override { return head_.kind; }
  const std::string& singular() const override { return head_.singular; }
  const std::string& list_kind() const override { return head_.list_kind; }
  const std::vector<std::string>& short_names() const override { return head_.short_names; }
  const std::vector<std::string>& categories() const override { return head_.categories; }
  const std::vector<std::string>& verbs() const override { return head_.verbs; }
  const Subresources& subresources() const override { return head_.subresources; }
  bool built_in() const override { return head_.native; }
  bool counts_generation() const override { return head_.counts_generation; }
  bool storage_version() const override { return head_.stored_as.empty(); }
  const SchemaNode& root() const override { return root_; }

  const Kind& stored_kind() const override { return form_ == nullptr ? head_.kind : form_->kind; }
  void to_stored(Json& object) const override {
    if (form_ != nullptr) form_->to_stored(object);
  }
  void from_stored(Json& object) const override {
    if (form_ != nullptr) form_->from_stored(object);
  }

  std::string check_name(std::string_view name, bool prefix) const override {
    return prefix ? check_generate_name(head_.name_rule, name) : head_.name_rule(name);
  }

  std::vector<FieldProblem> prune(Json& object) const override {
    std::vector<FieldProblem> problems;
    prune_object(root_, head_.native, object, problems);
    return problems;
  }

  Result<void> check_types(const Json& object) const override {
    auto checked = check_object_types(root_, head_.native, object);
    if (checked) return {};
    return make_error(checked.error().code, head_.kind.kind + " in version \"" +
                                                head_.kind.version + "\" cannot be handled as a " +
                                                head_.kind.kind + ": " + checked.error().message);
  }

  void apply_defaults(Json& object) const override { default_object(root_, head_.native, object); }
  void canonicalize(Json& object) const override {
    canonicalize_object(root_, head_.native, object);
  }

  std::vector<Cause> validate(const Json& object, const Json* old) const override {
    FieldErrors errors;
    validate_object(root_, head_.native, object, old, errors);
    return errors.take();
  }

  Result<void> strategic_merge(Json& target, const Json& patch) const override {
    if (!head_.native) {
      return make_error(
          Code::UnsupportedMedia,
          "the body of the request was in an unknown format - accepted media types include: "
          "application/json-patch+json, application/merge-patch+json, "
          "application/apply-patch+yaml");
    }
    return strategic_merge_patch(root_, target, patch);
  }

  Result<Json> decode_protobuf(std::string_view body) const override {
    if (!head_.native) {
      return make_error(
          Code::UnsupportedMedia,
          "the body of the request was in an unknown format - accepted media types include: "
          "application/json, application/yaml");
    }
    return decode_protobuf_object(root_, body);
  }

  const std::vector<TableColumn>& columns() const override { return head_.columns; }

  JsonArray cells(const Json& object, WallTime now) const override {
    if (head_.cells != nullptr) {
      if (storage_version()) return head_.cells(object, now);
      Json stored = object;
      to_stored(stored);
      return head_.cells(stored, now);
    }
    JsonArray row;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      row.push_back(paths_[i].cell(object, head_.columns[i].type, now));
    return row;
  }

  bool supports_field(std::string_view label) const override {
    if (label == "metadata.name" || (label == "metadata.namespace" && head_.kind.namespaced))
      return true;
    return std::find(head_.selectable_fields.begin(), head_.selectable_fields.end(), label) !=
           head_.selectable_fields.end();
  }

  std::string field_value(const Json& object, std::string_view label) const override {
    return field_label_value(object, label);
  }

 private:
  KindHead head_;
  const StoredForm* form_;  // null: stored as it is
  const SchemaNode& root_;
  std::shared_ptr<const TypeTable> table_;  // owns root_
  std::vector<CellPath> paths_;
};

}  // namespace

KindSchemaPtr make_kind_schema(KindHead head, const SchemaNode& root,
                               std::shared_ptr<const TypeTable> table) {
  return std::make_shared<NodeKindSchema>(std::move(head), root, std::move(table));
}

}  // namespace krater::api
