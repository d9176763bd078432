// A type of the schemas in memory: what pruning, defaulting, validation, patches and protobuf
// decoding walk along. Nodes are shared: a type that many kinds use exists once. Immutable after
// loading, owned by a TypeTable; any thread.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace krater::api {

class FieldErrors;
class FieldPath;
struct SchemaNode;

enum class NodeType : std::uint8_t {
  Any,
  Object,
  Array,
  String,
  Integer,
  Number,
  Boolean,
  IntOrString,
  Quantity
};
enum class ValueFormat : std::uint8_t { None, Int32, Int64, Byte, DateTime, MicroTime };

// When a scalar is written: mirrors the struct tags of the original types.
enum class Presence : std::uint8_t {
  Omit,     // zero and absent are the same and are left out
  Pointer,  // zero is a value of its own
  Always,   // written even when zero
};

// One node of the object under validation, for rules that look further than a schema can.
struct RuleInput {
  const Json& value;
  const Json* old;  // nullptr on create, or when there was no such value
  const FieldPath& path;
  bool native;
};
using ValidationRule = void (*)(const RuleInput&, FieldErrors&);
// Fills in what no literal default can say. `native` objects only.
using DefaultRule = void (*)(JsonObject& value);
// Checks the text of one field: the message, "" when valid.
using NameRule = std::string (*)(std::string_view text);

struct Property {
  std::string name;
  const SchemaNode* node = nullptr;
  int proto = 0;  // protobuf field number; 0: JSON only, or part of an inlined message
  Presence presence = Presence::Omit;
  bool default_in_crd = false;  // a default of a shared type that holds inside custom kinds too
  bool nullable = false;
  bool immutable = false;
  bool embedded = false;  // a whole object: apiVersion, kind and metadata are legal
  std::shared_ptr<const Json> default_value;
  NameRule name_rule = nullptr;
};

// A message that is one on the wire but flattened in JSON.
struct InlinedMessage {
  int proto = 0;
  const SchemaNode* node = nullptr;
};

struct Limits {
  std::vector<std::string> values;  // enum, sorted; empty: any
  std::optional<double> minimum, maximum;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items;
  std::string range;  // names the wording of a broken minimum or maximum: "mode", "weight"
  std::string pattern_text;
  std::unique_ptr<re2::RE2> pattern;
};

struct SchemaNode {
  std::string type_name;  // "core/v1.Container"; "" for types that are written in place
  NodeType type = NodeType::Any;
  ValueFormat format = ValueFormat::None;
  bool shared_native =
      false;  // from a Kubernetes package: its limits do not hold inside custom kinds
  bool preserve_unknown = false;
  bool wrapped_list = false;  // a list that is a message of its own on the wire
  bool list_is_map = false, list_is_set = false;
  bool map_is_atomic = false;  // server-side apply owns it as a whole
  bool native_unique =
      false;  // native kinds check the uniqueness of few lists; custom kinds of all
  bool patch_merge = false, patch_retain_keys = false;
  std::vector<Property> properties;          // sorted by name
  std::vector<std::string> required;         // everywhere
  std::vector<std::string> native_required;  // only where the kind is a native one
  std::vector<std::string> map_keys;         // of a list whose items are told apart by fields
  std::string merge_key;                     // strategic merge of the list
  const SchemaNode* items = nullptr;         // of an array
  const SchemaNode* values = nullptr;        // of a map
  std::vector<InlinedMessage> inlined;
  std::vector<ValidationRule> rules;
  std::vector<DefaultRule> default_rules;
  std::unique_ptr<const Limits> limits;

  const Property* property(std::string_view name) const;
  bool is_map() const { return values != nullptr; }
  // "Container" of "core/v1.Container".
  std::string_view short_name() const;
};

}  // namespace krater::api
