// Label and field selectors in the query grammar: the canonical text of what is accepted is
// accepted and matches alike.
#include "model/selector.h"

#include <cstdint>

#include "api/machinery/field_selector.h"
#include "api/machinery/schema.h"
#include "base/check.h"

namespace {

void check_labels(std::string_view text) {
  const auto parsed = krater::LabelSelector::parse(text);
  if (!parsed) return;
  const auto again = krater::LabelSelector::parse(parsed->text());
  CHECK_MSG(again.has_value() && again->text() == parsed->text(), parsed->text());
  for (const krater::Labels& labels :
       {krater::Labels{}, krater::Labels{{"a", "b"}, {"app", "web"}, {"n", "5"}}})
    CHECK_MSG(parsed->matches(labels) == again->matches(labels), parsed->text());
}

std::string written(const krater::api::FieldSelector& selector) {
  std::string out;
  for (const auto& one : selector.requirements()) {
    if (!out.empty()) out += ',';
    out += one.field + (one.equal ? "==" : "!=");
    for (const char c : one.value) {
      if (c == '\\' || c == ',' || c == '=') out += '\\';
      out += c;
    }
  }
  return out;
}

void check_fields(std::string_view text) {
  static const std::unique_ptr<krater::api::SchemaSet> schemas =
      krater::api::make_builtin_schemas();
  static const krater::api::KindSchemaPtr pods = schemas->find("", "v1", "pods");
  static const auto pod = krater::parse_json(
      R"({"metadata":{"name":"p","namespace":"default"},"spec":{"nodeName":"n"},)"
      R"("status":{"phase":"Running","podIPs":[{"ip":"10.0.0.1"}]}})");
  const auto parsed = krater::api::FieldSelector::parse(text);
  if (!parsed) return;
  const auto again = krater::api::FieldSelector::parse(written(*parsed));
  CHECK_MSG(again.has_value() && written(*again) == written(*parsed), written(*parsed));
  if (!parsed->check(*pods)) return;
  CHECK_MSG(parsed->matches(*pods, *pod) == again->matches(*pods, *pod), written(*parsed));
  if (const std::string* name = parsed->required_value("metadata.name"))
    CHECK(*name == "p" || !parsed->matches(*pods, *pod));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_labels(text);
  check_fields(text);
  return 0;
}
