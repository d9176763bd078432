#include "api/machinery/testing/random_object.h"

#include <algorithm>
#include <array>

#include "api/machinery/schema_node.h"

namespace krater::api::testing {
namespace {

constexpr int kDeepest = 14;
constexpr int kMostValues = 250;

constexpr std::array<std::string_view, 40> kTexts{"a",
                                                  "web-1",
                                                  "",
                                                  "b",
                                                  "default",
                                                  "app",
                                                  "example.com/x",
                                                  "v1",
                                                  "Pod",
                                                  "TCP",
                                                  "UDP",
                                                  "10.0.0.1",
                                                  "fd00::1",
                                                  "10.0.0.0/8",
                                                  "100m",
                                                  "1Gi",
                                                  "0.5",
                                                  "1e3",
                                                  "50%",
                                                  "80",
                                                  "http",
                                                  "Always",
                                                  "Never",
                                                  "2026-01-01T00:00:00Z",
                                                  "2026-01-01T01:30:00.1234567+01:30",
                                                  "1m30s",
                                                  "*",
                                                  "/data",
                                                  "../x",
                                                  "YWJj",
                                                  "*/5 * * * *",
                                                  "kubernetes.io/hostname",
                                                  "x=y",
                                                  "A_B",
                                                  "ä€😀",
                                                  "true",
                                                  "null",
                                                  "-",
                                                  "\"quoted\"\n",
                                                  "https://example.com/x?y=z"};
constexpr std::array<std::int64_t, 16> kNumbers{
    0,         1,        2,     80,         -1,         3,           53,
    100,       65535,    65536, 2147483647, 2147483648, -2147483649, (std::int64_t{1} << 53) + 1,
    INT64_MAX, INT64_MIN};
constexpr std::array<double, 6> kReals{0.5, 1.0, -2.25, 1e21, 1e-7, 3e5};

std::int64_t random_number(Choices& choices) {
  return choices.one_in(3) ? static_cast<std::int64_t>(choices.below(65536))
                           : choices.any_of(kNumbers);
}

std::string random_time(Choices& choices) {
  constexpr std::array<std::string_view, 5> kTimes{
      "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000001Z", "2026-12-31T23:59:59+05:30",
      "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"};
  return std::string(choices.any_of(kTimes));
}

class Maker {
 public:
  explicit Maker(Choices& choices) : choices_(choices) {}

  Json whole(const SchemaNode& node, std::string_view api_version, std::string_view kind) {
    JsonObject out{{"apiVersion", api_version}, {"kind", kind}};
    fields(node, out, 0);
    Json& metadata = out["metadata"];
    if (!metadata.is_object()) metadata = JsonObject();
    if (!choices_.one_in(16)) metadata.get_object()["name"] = choices_.one_in(4) ? "b.c" : "a-1";
    return Json(std::move(out));
  }

 private:
  Json value(const SchemaNode& node, int depth) {
    if (++made_ > kMostValues || depth > kDeepest) return plain(node);
    const std::size_t odd = choices_.below(64);
    if (odd == 63) return random_json(choices_, 2);
    if (odd == 62) return Json(nullptr);
    switch (node.type) {
      case NodeType::Object: {
        JsonObject out;
        if (node.is_map()) {
          for (std::size_t n = choices_.below(4); n > 0; --n)
            out[random_text(choices_)] = value(*node.values, depth + 1);
        } else {
          fields(node, out, depth);
        }
        return Json(std::move(out));
      }
      case NodeType::Array: {
        JsonArray out;
        for (std::size_t n = choices_.below(4); n > 0 && node.items != nullptr; --n)
          out.push_back(value(*node.items, depth + 1));
        return Json(std::move(out));
      }
      case NodeType::String:
        return Json(text(node));
      case NodeType::Integer:
        return choices_.one_in(12) ? Json(choices_.any_of(kReals)) : Json(random_number(choices_));
      case NodeType::Number:
        return choices_.one_in(2) ? Json(choices_.any_of(kReals)) : Json(random_number(choices_));
      case NodeType::Boolean:
        return Json(choices_.one_in(2));
      case NodeType::IntOrString:
        return choices_.one_in(2) ? Json(random_text(choices_)) : Json(random_number(choices_));
      case NodeType::Quantity:
        return quantity();
      case NodeType::Any:
        return random_json(choices_, 1);
    }
    return Json(nullptr);
  }

  void fields(const SchemaNode& node, JsonObject& out, int depth) {
    for (const auto* names : {&node.required, &node.native_required}) {
      for (const std::string& name : *names) {
        if (!choices_.one_in(16)) field(node, name, out, depth);
      }
    }
    if (node.properties.empty()) return;
    for (std::size_t n = choices_.below(5); n > 0; --n)
      field(node, choices_.any_of(node.properties).name, out, depth);
    if (choices_.one_in(32)) out[random_text(choices_)] = random_json(choices_, 2);
  }

  void field(const SchemaNode& node, const std::string& name, JsonObject& out, int depth) {
    const Property* property = node.property(name);
    if (property != nullptr && !out.contains(name)) out[name] = value(*property->node, depth + 1);
  }

  std::string text(const SchemaNode& node) {
    if (node.limits && !node.limits->values.empty() && !choices_.one_in(16))
      return choices_.any_of(node.limits->values);
    const bool is_time =
        node.format == ValueFormat::DateTime || node.format == ValueFormat::MicroTime;
    if (is_time && !choices_.one_in(8)) return random_time(choices_);
    if (node.format == ValueFormat::Byte && !choices_.one_in(8)) return "YWJj";
    return random_text(choices_);
  }

  Json quantity() {
    constexpr std::array<std::string_view, 12> kQuantities{
        "1", "100m", "1Gi", "0.5", "1e3", "1.5Gi", "0", "-1", "1000", "3u", "1E", "1Ei"};
    if (choices_.one_in(4)) return Json(random_number(choices_));
    if (choices_.one_in(8)) return Json(choices_.any_of(kReals));
    return Json(choices_.any_of(kQuantities));
  }

  // The least a type has.
  static Json plain(const SchemaNode& node) {
    if (node.type == NodeType::Object) return JsonObject();
    if (node.type == NodeType::Array) return JsonArray();
    if (node.type == NodeType::Boolean) return Json(false);
    if (node.type == NodeType::Integer || node.type == NodeType::Number) return Json(0);
    return Json("a");
  }

  Choices& choices_;
  int made_ = 0;
};

Json by_schema(const Json& schema, Choices& choices, int depth) {
  const std::size_t odd = choices.below(48);
  if (odd == 47) return random_json(choices, 2);
  if (odd == 46 || depth > kDeepest) return Json(nullptr);
  if (const JsonArray* values = array_at(schema, {"enum"});
      values != nullptr && !values->empty() && !choices.one_in(8))
    return choices.any_of(*values);
  const std::string type = text_at(schema, {"type"});
  if (type == "object") {
    JsonObject out;
    if (const JsonObject* properties = object_at(schema, {"properties"})) {
      for (const auto& property : *properties) {
        if (choices.below(4) != 1)
          out[property.key()] = by_schema(property.value(), choices, depth + 1);
      }
    }
    if (const Json* values = find(schema, {"additionalProperties"});
        values != nullptr && values->is_object()) {
      for (std::size_t n = choices.below(4); n > 0; --n)
        out[random_text(choices)] = by_schema(*values, choices, depth + 1);
    }
    if (choices.one_in(12)) out[random_text(choices)] = random_json(choices, 2);
    return Json(std::move(out));
  }
  if (type == "array") {
    JsonArray out;
    const Json* items = find(schema, {"items"});
    for (std::size_t n = choices.below(4); n > 0 && items != nullptr; --n)
      out.push_back(by_schema(*items, choices, depth + 1));
    return Json(std::move(out));
  }
  if (type == "string") return Json(random_text(choices));
  if (type == "integer") return Json(random_number(choices));
  if (type == "number") return Json(choices.any_of(kReals));
  if (type == "boolean") return Json(choices.one_in(2));
  if (bool_at(schema, {"x-kubernetes-int-or-string"}).value_or(false))
    return choices.one_in(2) ? Json("50%") : Json(random_number(choices));
  return random_json(choices, 1);
}

}  // namespace

std::string random_text(Choices& choices) {
  if (!choices.one_in(16)) return std::string(choices.any_of(kTexts));
  if (choices.one_in(8)) return std::string(choices.below(300), 'n');
  std::string out(choices.take(choices.below(12)));
  for (char& c : out) c = static_cast<char>(' ' + static_cast<unsigned char>(c) % 95);
  return out;
}

Json random_json(Choices& choices, int depth) {
  switch (choices.below(depth > 4 ? 6 : 8)) {
    case 0:
      return Json(nullptr);
    case 1:
      return Json(choices.one_in(2));
    case 2:
      return Json(random_number(choices));
    case 3:
      return Json(choices.any_of(kReals));
    case 4:
      return Json(random_text(choices));
    case 5:
      return choices.one_in(2) ? Json(JsonObject()) : Json(JsonArray());
    case 6: {
      JsonArray out;
      for (std::size_t n = choices.below(4); n > 0; --n)
        out.push_back(random_json(choices, depth + 1));
      return Json(std::move(out));
    }
    default: {
      JsonObject out;
      for (std::size_t n = choices.below(4); n > 0; --n)
        out[random_text(choices)] = random_json(choices, depth + 1);
      return Json(std::move(out));
    }
  }
}

Json random_object(const KindSchema& schema, Choices& choices) {
  return Maker(choices).whole(schema.root(), schema.kind().api_version(), schema.kind().kind);
}

Json random_value(const Json& schema, Choices& choices) {
  return by_schema(schema, choices, 0);
}

}  // namespace krater::api::testing
