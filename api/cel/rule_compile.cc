#include "api/cel/rule_compile.h"

#include <algorithm>

#include "base/strings.h"

namespace krater::cel {
namespace {

struct Step {
  bool bracket = false;
  std::string name;
};

// ".a['b'].c"; false: no such form.
bool split_path(std::string_view text, std::vector<Step>& out) {
  while (!text.empty()) {
    Step step;
    if (text[0] == '.') {
      text.remove_prefix(1);
      const std::size_t end = std::min(text.find_first_of(".[]"), text.size());
      step.name = text.substr(0, end);
      if (step.name.empty()) return false;
      text.remove_prefix(end);
    } else if (text.starts_with("['")) {
      text.remove_prefix(2);
      step.bracket = true;
      static constexpr std::string_view kFrom = "abfnrtv'\\";
      static constexpr std::string_view kTo = "\a\b\f\n\r\t\v'\\";
      while (!text.empty() && text[0] != '\'') {
        if (text[0] == '\\') {
          const std::size_t known = text.size() < 2 ? std::string_view::npos : kFrom.find(text[1]);
          if (known == std::string_view::npos) return false;
          step.name += kTo[known];
          text.remove_prefix(2);
        } else {
          step.name += text[0];
          text.remove_prefix(1);
        }
      }
      if (!text.starts_with("']")) return false;
      text.remove_prefix(2);
    } else {
      return false;
    }
    out.push_back(std::move(step));
  }
  return true;
}

std::string trimmed(const Json& rule, std::string_view name) {
  return std::string(trim(text_at(rule, {name})));
}

}  // namespace

bool normalize_field_path(std::string_view text, const Json& schema, std::string& out) {
  std::vector<Step> steps;
  if (!split_path(text, steps)) return false;
  const Json* at = &schema;
  for (const Step& step : steps) {
    if (const JsonObject* properties = object_at(*at, {"properties"})) {
      at = properties->if_contains(step.name);
      if (at == nullptr) return false;
      out += (out.empty() ? "" : ".") + step.name;
    } else if (object_at(*at, {"additionalProperties"}) != nullptr) {
      at = find(*at, {"additionalProperties"});
      out += "[" + step.name + "]";
    } else {
      return false;
    }
  }
  return true;
}

CompiledRule compile_rule(const Json& rule, const Json& schema, const TypePtr& self) {
  CompiledRule out;
  out.rule = trimmed(rule, "rule");
  out.message = trimmed(rule, "message");
  out.message_expression = text_at(rule, {"messageExpression"});
  out.reason = text_at(rule, {"reason"});
  out.optional_old = bool_at(rule, {"optionalOldSelf"}).value_or(false);
  if (out.rule.empty()) return out;
  const std::vector<Variable> variables{{"self", self},
                                        {"oldSelf", out.optional_old ? optional_type(self) : self}};
  const Result<ProgramPtr> program = Program::compile(text_at(rule, {"rule"}), variables);
  if (!program) {
    const std::string& message = program.error().message;
    out.error = message.starts_with("program instantiation failed")
                    ? message
                    : "compilation failed: " + message;
    return out;
  }
  if ((*program)->type()->kind != TypeKind::Bool) {
    out.error = "cel expression must evaluate to a bool";
    return out;
  }
  out.program = *program;
  out.uses_old = out.program->uses("oldSelf");
  if (!out.message_expression.empty()) {
    const Result<ProgramPtr> message = Program::compile(out.message_expression, variables);
    if (!message) {
      out.message_error = "messageExpression compilation failed: " + message.error().message;
      return out;
    }
    if ((*message)->type()->kind != TypeKind::String) {
      out.message_error = "messageExpression must evaluate to a string";
      return out;
    }
    out.message_program = *message;
  }
  const std::string field_path = text_at(rule, {"fieldPath"});
  if (!field_path.empty() && !normalize_field_path(field_path, schema, out.field_path)) {
    out.field_path.clear();
  }
  return out;
}

}  // namespace krater::cel
