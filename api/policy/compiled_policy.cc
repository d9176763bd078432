#include "api/policy/compiled_policy.h"

#include "api/cel/schema_type.h"

namespace krater::api {
namespace {

using cel::TypeKind;
using cel::TypePtr;

// The type of `request`, an AdmissionRequest.
const TypePtr& request_type() {
  static const TypePtr type = [] {
    constexpr std::string_view kSchema = R"({"type":"object","properties":{
      "kind":{"type":"object","properties":{"group":{"type":"string"},"version":{"type":"string"},"kind":{"type":"string"}}},
      "resource":{"type":"object","properties":{"group":{"type":"string"},"version":{"type":"string"},"resource":{"type":"string"}}},
      "subResource":{"type":"string"},
      "requestKind":{"type":"object","properties":{"group":{"type":"string"},"version":{"type":"string"},"kind":{"type":"string"}}},
      "requestResource":{"type":"object","properties":{"group":{"type":"string"},"version":{"type":"string"},"resource":{"type":"string"}}},
      "requestSubResource":{"type":"string"},
      "name":{"type":"string"},"namespace":{"type":"string"},"operation":{"type":"string"},
      "userInfo":{"type":"object","properties":{"username":{"type":"string"},"uid":{"type":"string"},
        "groups":{"type":"array","items":{"type":"string"}},
        "extra":{"type":"object","additionalProperties":{"type":"array","items":{"type":"string"}}}}},
      "dryRun":{"type":"boolean"}}})";
    return cel::schema_type(*parse_json(kSchema), false, "kubernetes.AdmissionRequest");
  }();
  return type;
}

std::vector<cel::Variable> environment(const TypePtr& variables) {
  const TypePtr dyn = cel::simple_type(TypeKind::Dyn);
  return {{"object", dyn}, {"oldObject", dyn},       {"request", request_type()},
          {"params", dyn}, {"namespaceObject", dyn}, {"variables", variables}};
}

TypePtr variables_type(const std::map<std::string, TypePtr>& known) {
  auto out = std::make_shared<cel::Type>();
  out->kind = TypeKind::Object;
  out->name = "kubernetes.variables";
  for (const auto& [name, type] : known) out->fields.emplace(name, cel::Field{name, type, true});
  return out;
}

PolicyExpression compiled(std::string name, std::string text, const TypePtr& variables,
                          std::optional<TypeKind> wanted, const char* wanted_name) {
  PolicyExpression out{std::move(name), std::move(text), nullptr, {}};
  const Result<cel::ProgramPtr> program = cel::Program::compile(out.text, environment(variables));
  if (!program) {
    out.problem = "compilation failed: " + program.error().message;
  } else if (const TypeKind kind = (*program)->type()->kind;
             wanted && kind != *wanted && kind != TypeKind::Dyn) {
    out.problem = std::string("must evaluate to ") + wanted_name;
  } else {
    out.program = *program;
  }
  return out;
}

const JsonArray& list_at(const Json& policy, std::string_view name) {
  static const JsonArray none;
  const JsonArray* list = array_at(policy, {"spec", name});
  return list == nullptr ? none : *list;
}

}  // namespace

std::shared_ptr<const CompiledPolicy> compile_policy(const Json& policy) {
  auto out = std::make_shared<CompiledPolicy>();
  out->fail = text_at(policy, {"spec", "failurePolicy"}) != "Ignore";
  std::map<std::string, TypePtr> known;
  // Each variable sees those before it.
  for (const Json& one : list_at(policy, "variables")) {
    out->variables.push_back(compiled(text_at(one, {"name"}), text_at(one, {"expression"}),
                                      variables_type(known), std::nullopt, ""));
    const PolicyExpression& variable = out->variables.back();
    known[variable.name] =
        variable.program ? variable.program->type() : cel::simple_type(TypeKind::Dyn);
  }
  const TypePtr variables = variables_type(known);
  for (const Json& one : list_at(policy, "matchConditions")) {
    out->conditions.push_back(compiled(text_at(one, {"name"}), text_at(one, {"expression"}),
                                       variables_type({}), TypeKind::Bool, "bool"));
  }
  for (const Json& one : list_at(policy, "validations")) {
    PolicyValidation validation;
    validation.expression =
        compiled("", text_at(one, {"expression"}), variables, TypeKind::Bool, "bool");
    if (const std::string text = text_at(one, {"messageExpression"}); !text.empty()) {
      validation.message_expression = compiled("", text, variables, TypeKind::String, "string");
    }
    validation.message = text_at(one, {"message"});
    validation.reason = text_at(one, {"reason"});
    out->validations.push_back(std::move(validation));
  }
  for (const Json& one : list_at(policy, "auditAnnotations")) {
    out->audit_annotations.push_back(compiled(
        text_at(one, {"key"}), text_at(one, {"valueExpression"}), variables, std::nullopt, ""));
  }
  return out;
}

}  // namespace krater::api
