#include "api/registry/selection.h"

#include <array>
#include <mutex>

#include "api/machinery/custom/custom_kind.h"

namespace krater::api {
namespace {

// A thousand agents watch pods by node name: the document of a new version is parsed once, not a
// thousand times. Keeps the last few documents alive, and with them Object::document()'s shared
// tree. Any thread.
std::shared_ptr<const Json> recent_document(const Object& object) {
  static std::mutex mutex;
  static std::array<std::shared_ptr<const Json>, 32> recent;
  static std::size_t next = 0;
  std::shared_ptr<const Json> document = object.document();
  const std::lock_guard lock(mutex);
  for (const auto& known : recent) {
    if (known == document) return document;
  }
  recent[next] = document;
  next = (next + 1) % recent.size();
  return document;
}

// One requirement of the grammar, unescaped; `rest` moves behind its comma.
struct Term {
  std::string label, value;
  bool equal = true;
  bool well_formed = false;
};

Term take_term(std::string_view& rest) {
  Term out;
  std::string* target = &out.label;
  while (!rest.empty()) {
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == ',') break;
    if (c == '\\' && !rest.empty()) {
      target->push_back(rest.front());
      rest.remove_prefix(1);
    } else if (target == &out.label && c == '!' && rest.starts_with('=')) {
      rest.remove_prefix(1);
      out.equal = false;
      out.well_formed = true;
      target = &out.value;
    } else if (target == &out.label && c == '=') {
      if (rest.starts_with('=')) rest.remove_prefix(1);
      out.well_formed = true;
      target = &out.value;
    } else {
      target->push_back(c);
    }
  }
  return out;
}

}  // namespace

Result<std::vector<Selection::FieldRequirement>> Selection::parse_fields(const KindSchema& schema,
                                                                         std::string_view text) {
  std::vector<FieldRequirement> out;
  std::string_view rest = text;
  while (!rest.empty()) {
    Term term = take_term(rest);
    if (!term.well_formed) {
      if (term.label.empty()) continue;
      return make_error(Code::BadRequest, "invalid selector: '" + std::string(text) +
                                              "'; can't understand '" + term.label + "'");
    }
    const bool known = term.label == "metadata.name" || term.label == "metadata.namespace" ||
                       schema.supports_field(term.label);
    if (!known && (schema.built_in() || as_custom(schema) != nullptr))
      return make_error(Code::BadRequest, "field label not supported: " + term.label);
    if (!known) {
      return make_error(
          Code::BadRequest,
          "\"" + term.label +
              "\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
    }
    out.push_back({std::move(term.label), std::move(term.value), term.equal});
  }
  return out;
}

Result<Selection> Selection::parse(KindSchemaPtr schema, std::string_view labels,
                                   std::string_view fields) {
  Selection out;
  TRY_ASSIGN(out.labels_, LabelSelector::parse(labels));
  TRY_ASSIGN(out.fields_, parse_fields(*schema, fields));
  out.schema_ = std::move(schema);
  return out;
}

bool Selection::matches(const Object& object) const {
  if (!labels_.matches(object.labels())) return false;
  std::shared_ptr<const Json> document;
  for (const FieldRequirement& want : fields_) {
    bool same = false;
    if (want.label == "metadata.name") {
      same = object.name() == want.value;
    } else if (want.label == "metadata.namespace") {
      same = object.name_space() == want.value;
    } else {
      if (!document) document = recent_document(object);
      same = schema_->field_value(*document, want.label) == want.value;
    }
    if (same != want.equal) return false;
  }
  return true;
}

}  // namespace krater::api
