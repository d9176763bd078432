#include "api/machinery/openapi_v2_wire.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <string_view>

#include "api/machinery/wire.h"

namespace krater::api {
namespace {

struct Message;

// How a key of the document is written.
enum class Form {
  Text,
  Flag,
  Integer,
  Number,
  Texts,        // repeated string
  TextOrTexts,  // a message of repeated strings, also for a single one
  Yaml,         // a message with the value as text
  Yamls,        // repeated, the same
  One,          // a message
  Many,         // repeated messages
  Listed,       // a message of repeated messages, also for a single one
  ByName,       // a message of named messages, for an object with free keys
  OneOrFlag,    // a schema or a boolean
};

struct Field {
  std::string_view key;
  int number;
  Form form;
  const Message* message = nullptr;
};

struct Message {
  std::span<const Field> fields;
  int extensions = 0;              // number of the vendor extensions; 0: none
  int named = 0;                   // number of the named messages that all other keys are
  const Message* value = nullptr;  // of those
};

extern const Message kSchema, kParameter;

// A oneof whose first member is the message itself.
constexpr std::array kSchemaItemFields{Field{"", 1, Form::One, &kSchema}};
constexpr Message kSchemaItem{kSchemaItemFields};
constexpr Message kSchemas{{}, 0, 1, &kSchema};

constexpr std::array kSchemaFields{
    Field{"$ref", 1, Form::Text},
    Field{"format", 2, Form::Text},
    Field{"title", 3, Form::Text},
    Field{"description", 4, Form::Text},
    Field{"default", 5, Form::Yaml},
    Field{"multipleOf", 6, Form::Number},
    Field{"maximum", 7, Form::Number},
    Field{"exclusiveMaximum", 8, Form::Flag},
    Field{"minimum", 9, Form::Number},
    Field{"exclusiveMinimum", 10, Form::Flag},
    Field{"maxLength", 11, Form::Integer},
    Field{"minLength", 12, Form::Integer},
    Field{"pattern", 13, Form::Text},
    Field{"maxItems", 14, Form::Integer},
    Field{"minItems", 15, Form::Integer},
    Field{"uniqueItems", 16, Form::Flag},
    Field{"maxProperties", 17, Form::Integer},
    Field{"minProperties", 18, Form::Integer},
    Field{"required", 19, Form::Texts},
    Field{"enum", 20, Form::Yamls},
    Field{"additionalProperties", 21, Form::OneOrFlag, &kSchema},
    Field{"type", 22, Form::TextOrTexts},
    Field{"items", 23, Form::Listed, &kSchema},
    Field{"allOf", 24, Form::Many, &kSchema},
    Field{"properties", 25, Form::ByName, &kSchema},
};
constexpr Message kSchema{kSchemaFields, 31};

constexpr std::array kInfoFields{Field{"title", 1, Form::Text}, Field{"version", 2, Form::Text},
                                 Field{"description", 3, Form::Text}};
constexpr Message kInfo{kInfoFields, 7};

constexpr std::array kResponseFields{Field{"description", 1, Form::Text},
                                     Field{"schema", 2, Form::One, &kSchemaItem}};
constexpr Message kResponse{kResponseFields, 5};
constexpr std::array kResponseValueFields{Field{"", 1, Form::One, &kResponse}};
constexpr Message kResponseValue{kResponseValueFields};
constexpr Message kResponses{{}, 2, 1, &kResponseValue};

constexpr std::array kQueryFields{
    Field{"required", 1, Form::Flag},    Field{"in", 2, Form::Text},
    Field{"description", 3, Form::Text}, Field{"name", 4, Form::Text},
    Field{"type", 6, Form::Text},        Field{"format", 7, Form::Text},
    Field{"uniqueItems", 20, Form::Flag}};
constexpr Message kQuery{kQueryFields, 23};
constexpr std::array kPathFields{
    Field{"required", 1, Form::Flag},    Field{"in", 2, Form::Text},
    Field{"description", 3, Form::Text}, Field{"name", 4, Form::Text},
    Field{"type", 5, Form::Text},        Field{"format", 6, Form::Text},
    Field{"uniqueItems", 19, Form::Flag}};
constexpr Message kPath{kPathFields, 22};

constexpr std::array kOperationFields{Field{"tags", 1, Form::Texts},
                                      Field{"description", 3, Form::Text},
                                      Field{"operationId", 5, Form::Text},
                                      Field{"produces", 6, Form::Texts},
                                      Field{"consumes", 7, Form::Texts},
                                      Field{"parameters", 8, Form::Many, &kParameter},
                                      Field{"responses", 9, Form::One, &kResponses}};
constexpr Message kOperation{kOperationFields, 13};

constexpr std::array kPathItemFields{
    Field{"get", 2, Form::One, &kOperation},   Field{"put", 3, Form::One, &kOperation},
    Field{"post", 4, Form::One, &kOperation},  Field{"delete", 5, Form::One, &kOperation},
    Field{"patch", 8, Form::One, &kOperation}, Field{"parameters", 9, Form::Many, &kParameter}};
constexpr Message kPathItem{kPathItemFields, 10};
constexpr Message kPaths{{}, 1, 2, &kPathItem};

// Parameters are four oneofs deep, by where they stand: written by hand.
constexpr Message kParameter{{}};

constexpr std::array kDocumentFields{
    Field{"swagger", 1, Form::Text}, Field{"info", 2, Form::One, &kInfo},
    Field{"paths", 8, Form::One, &kPaths}, Field{"definitions", 9, Form::One, &kSchemas}};
constexpr Message kDocument{kDocumentFields, 16};

std::string encode(const Message& message, const Json& value);

std::string yaml(const Json& value) {
  WireWriter out;
  out.bytes(2, to_json(value));  // JSON is YAML
  return out.take();
}

std::string named(std::string_view name, const std::string& value) {
  WireWriter out;
  out.bytes(1, name);
  out.bytes(2, value);
  return out.take();
}

std::string parameter(const Json& value) {
  const bool path = text_at(value, {"in"}) == "path";
  WireWriter non_body, parameter, item;
  non_body.bytes(path ? 4 : 3, encode(path ? kPath : kQuery, value));
  parameter.bytes(2, non_body.take());
  item.bytes(1, parameter.take());
  return item.take();
}

std::string encode_one(const Message* message, const Json& value) {
  return message == &kParameter ? parameter(value) : encode(*message, value);
}

std::string texts(const Json& value) {
  WireWriter out;
  if (value.is_string()) out.bytes(1, view(value.get_string()));
  if (const JsonArray* list = value.if_array())
    for (const Json& each : *list) out.bytes(1, view(each.as_string()));
  return out.take();
}

std::string by_name(const Message& message, const JsonObject& object) {
  WireWriter out;
  for (const auto& entry : object) out.bytes(1, named(entry.key(), encode(message, entry.value())));
  return out.take();
}

double number_of(const Json& value) {
  if (value.is_double()) return value.get_double();
  return value.is_uint64() ? static_cast<double>(value.get_uint64())
                           : static_cast<double>(value.as_int64());
}

void write(WireWriter& out, const Field& field, const Json& value) {
  switch (field.form) {
    case Form::Text:
      out.bytes(field.number, view(value.as_string()));
      return;
    case Form::Flag:
      out.number(field.number, value.as_bool() ? 1 : 0);
      return;
    case Form::Integer:
      out.number(field.number, static_cast<std::uint64_t>(number_of(value)));
      return;
    case Form::Number:
      out.fixed64(field.number, std::bit_cast<std::uint64_t>(number_of(value)));
      return;
    case Form::Texts:
      for (const Json& each : value.as_array()) out.bytes(field.number, view(each.as_string()));
      return;
    case Form::TextOrTexts:
      out.bytes(field.number, texts(value));
      return;
    case Form::Yaml:
      out.bytes(field.number, yaml(value));
      return;
    case Form::Yamls:
      for (const Json& each : value.as_array()) out.bytes(field.number, yaml(each));
      return;
    case Form::One:
      out.bytes(field.number, encode_one(field.message, value));
      return;
    case Form::Many:
      for (const Json& each : value.as_array())
        out.bytes(field.number, encode_one(field.message, each));
      return;
    case Form::Listed: {
      WireWriter list;
      list.bytes(1, encode_one(field.message, value));
      out.bytes(field.number, list.take());
      return;
    }
    case Form::ByName:
      out.bytes(field.number, by_name(*field.message, value.as_object()));
      return;
    case Form::OneOrFlag: {
      WireWriter choice;
      if (value.is_bool()) {
        choice.number(2, value.get_bool() ? 1 : 0);
      } else {
        choice.bytes(1, encode_one(field.message, value));
      }
      out.bytes(field.number, choice.take());
      return;
    }
  }
}

std::string encode(const Message& message, const Json& value) {
  WireWriter out;
  if (message.fields.size() == 1 && message.fields.front().key.empty()) {
    write(out, message.fields.front(), value);
    return out.take();
  }
  for (const auto& entry : value.as_object()) {
    const std::string_view key = entry.key();
    const auto field = std::find_if(message.fields.begin(), message.fields.end(),
                                    [&](const Field& each) { return each.key == key; });
    if (field != message.fields.end()) {
      write(out, *field, entry.value());
    } else if (key.substr(0, 2) == "x-" && message.extensions != 0) {
      out.bytes(message.extensions, named(key, yaml(entry.value())));
    } else if (message.named != 0) {
      out.bytes(message.named, named(key, encode(*message.value, entry.value())));
    }
  }
  return out.take();
}

}  // namespace

std::string openapi_v2_wire(const Json& document) {
  return encode(kDocument, document);
}

}  // namespace krater::api
