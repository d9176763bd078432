#include "api/policy/policies.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <unordered_map>

#include "api/policy/compiled_policy.h"
#include "api/policy/match.h"
#include "base/strings.h"
#include "model/policy_kinds.h"
#include "model/selector.h"

namespace krater::api {
namespace {

using cel::Value;

constexpr std::size_t kMostCached = 256;
constexpr std::size_t kLongestMessage = 5 * 1024;
constexpr std::string_view kGroup = "admissionregistration.k8s.io";

Json request_json(const PolicyRequest& request) {
  const Json kind = JsonObject{{"group", request.kind.group},
                               {"version", request.kind.version},
                               {"kind", request.kind.kind}};
  const Json resource = JsonObject{{"group", request.kind.group},
                                   {"version", request.kind.version},
                                   {"resource", request.kind.plural}};
  JsonArray groups;
  for (const std::string& group : request.groups) groups.emplace_back(group);
  return JsonObject{{"kind", kind},
                    {"resource", resource},
                    {"subResource", request.subresource},
                    {"requestKind", kind},
                    {"requestResource", resource},
                    {"requestSubResource", request.subresource},
                    {"name", request.name},
                    {"namespace", request.name_space},
                    {"operation", name_of(request.operation)},
                    {"userInfo", JsonObject{{"username", request.user}, {"groups", groups}}},
                    {"dryRun", request.dry_run}};
}

// A failure that says which policy and binding it comes from.
struct Denial {
  std::string message;
  std::string reason;  // "" Invalid
};

// One policy asked about one write under one binding: what its variables were is remembered, what
// it may still cost is counted.
class Question final : public cel::LazyFields {
 public:
  Question(const CompiledPolicy& policy, std::vector<std::optional<Value>> bound)
      : policy_(policy), bound_(std::move(bound)) {
    bound_[kVariables] = Value::lazy(*this);
  }

  Value evaluate(const PolicyExpression& expression) const {
    if (!expression.program) return Value::error(expression.problem);
    if (budget_ <= 0) {
      return Value::error(
          "validation failed due to running out of cost budget, no further validation rules will "
          "be run");
    }
    const std::uint64_t limit =
        std::min<std::uint64_t>(cel::kCallCostLimit, static_cast<std::uint64_t>(budget_));
    cel::Outcome outcome = expression.program->evaluate(bound_, limit);
    budget_ -=
        static_cast<std::int64_t>(std::min<std::uint64_t>(outcome.cost, cel::kCallCostLimit));
    return std::move(outcome.value);
  }

  std::optional<Value> field(std::string_view name) const override {
    const auto known = values_.find(name);
    if (known != values_.end()) return known->second;
    for (const PolicyExpression& variable : policy_.variables) {
      if (variable.name != name) continue;
      Value value = evaluate(variable);
      if (value.is_error()) {
        value = Value::error("composited variable \"" + variable.name +
                             "\" fails to evaluate: " + std::string(value.text()));
      }
      return values_.emplace(variable.name, std::move(value)).first->second;
    }
    return std::nullopt;
  }

 private:
  const CompiledPolicy& policy_;
  std::vector<std::optional<Value>> bound_;
  mutable std::int64_t budget_ = cel::kRequestCostBudget;
  mutable std::map<std::string, Value, std::less<>> values_;
};

std::string failed(const PolicyExpression& expression, const Value& value) {
  return "expression '" + expression.text + "' resulted in error: " + std::string(value.text());
}

std::string message_of(const Question& question, const PolicyValidation& validation) {
  if (!validation.message_expression.text.empty()) {
    const Value value = question.evaluate(validation.message_expression);
    if (value.kind() == Value::Kind::String) {
      const std::string_view text = trim(value.text());
      if (!text.empty() && text.size() <= kLongestMessage &&
          text.find('\n') == std::string_view::npos) {
        return std::string(text);
      }
    }
  }
  const std::string_view message = trim(validation.message);
  if (!message.empty()) return std::string(message);
  return "failed expression: " + std::string(trim(validation.expression.text));
}

// What came of the conditions.
struct Conditions {
  bool refuted = false;
  std::vector<std::string> failures{};
};

// One that is false ends it, whatever became of the others.
Conditions check_conditions(const CompiledPolicy& policy, const Question& question) {
  Conditions out;
  for (const PolicyExpression& condition : policy.conditions) {
    const Value value = question.evaluate(condition);
    if (value.is(false)) return {true, {}};
    if (!value.is(true)) out.failures.push_back(failed(condition, value));
  }
  return out;
}

// What the policy says against the write.
std::vector<Denial> judge(const CompiledPolicy& policy, const Question& question) {
  std::vector<Denial> out;
  const Conditions conditions = check_conditions(policy, question);
  if (conditions.refuted) return {};
  if (!conditions.failures.empty()) {
    if (policy.fail) out.push_back({conditions.failures.front(), ""});
    return out;
  }
  for (const PolicyValidation& validation : policy.validations) {
    const Value value = question.evaluate(validation.expression);
    if (value.is(true)) continue;
    if (value.is_error()) {
      if (policy.fail) out.push_back({failed(validation.expression, value), validation.reason});
      continue;
    }
    out.push_back({message_of(question, validation), validation.reason});
  }
  return out;
}

Code code_of(const std::string& reason) {
  if (reason == "Unauthorized") return Code::Unauthorized;
  if (reason == "Forbidden") return Code::Forbidden;
  if (reason == "RequestEntityTooLarge") return Code::TooLarge;
  return Code::Invalid;
}

bool acts(const Json& binding, std::string_view action) {
  const JsonArray* actions = array_at(binding, {"spec", "validationActions"});
  return actions != nullptr && std::any_of(actions->begin(), actions->end(), [&](const Json& item) {
           return item.is_string() && view(item.get_string()) == action;
         });
}

class Judge final : public PolicyJudge {
 public:
  Result<void> ask(const PolicyRequest& request, const ObjectReader& reader,
                   const SchemaSet& schemas, std::vector<std::string>& warnings) override {
    if (request.kind.group == kGroup) return {};  // policies guard nothing that could repair them
    TRY_ASSIGN(const std::vector<ObjectPtr> bindings,
               reader.list(kinds::kValidatingAdmissionPolicyBinding, ""));
    std::optional<Json> described;
    for (const ObjectPtr& binding : bindings) {
      const auto document = binding->document();
      const std::string policy_name = text_at(*document, {"spec", "policyName"});
      TRY_ASSIGN(const ObjectPtr policy,
                 reader.get(kinds::kValidatingAdmissionPolicy, "", policy_name));
      if (policy == nullptr) continue;
      if (!described) described = request_json(request);
      TRY(one(*policy, *binding, request, *described, reader, schemas, warnings));
    }
    return {};
  }

 private:
  std::shared_ptr<const CompiledPolicy> compiled(const Object& policy) {
    const std::string key = policy.uid().text() + "/" + policy.revision().text();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto found = cache_.find(key);
      if (found != cache_.end()) return found->second;
    }
    auto made = compile_policy(*policy.document());
    const std::lock_guard<std::mutex> lock(mutex_);
    if (cache_.size() >= kMostCached) cache_.clear();
    cache_[key] = made;
    return made;
  }

  Result<void> one(const Object& policy, const Object& binding, const PolicyRequest& request,
                   const Json& described, const ObjectReader& reader, const SchemaSet& schemas,
                   std::vector<std::string>& warnings) {
    const auto rules = policy.document();
    const auto bound = binding.document();
    const Result<bool> wanted =
        matches(find(*rules, {"spec", "matchConstraints"}), request, reader);
    if (wanted && !*wanted) return {};
    const Result<bool> selected =
        matches(find(*bound, {"spec", "matchResources"}), request, reader);
    if (selected && !*selected) return {};
    const auto program = compiled(policy);
    const auto misconfigured = [&](const std::string& what, const Error& error) -> Result<void> {
      if (!program->fail) return {};
      return act(policy, binding, *bound, request,
                 {{"failed to configure " + what + ": " + error.message, ""}}, warnings);
    };
    if (!wanted) return misconfigured("policy", wanted.error());
    if (!selected) return misconfigured("binding", selected.error());
    Result<std::vector<ObjectPtr>> params = params_of(*rules, *bound, request, reader, schemas);
    if (!params) return misconfigured("binding", params.error());
    std::vector<Denial> denials;
    for (const ObjectPtr& param : *params) {
      TRY_ASSIGN(std::vector<Denial> more, judged(*program, param, request, described, reader));
      denials.insert(denials.end(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    }
    return act(policy, binding, *bound, request, denials, warnings);
  }

  static Result<std::vector<Denial>> judged(const CompiledPolicy& program, const ObjectPtr& param,
                                            const PolicyRequest& request, const Json& described,
                                            const ObjectReader& reader) {
    static const Json nothing;
    ObjectPtr space;
    if (request.kind.namespaced) {
      TRY_ASSIGN(space, reader.get(kinds::kNamespace, "", request.name_space));
    }
    const auto space_document = space ? space->document() : nullptr;
    const auto param_document = param ? param->document() : nullptr;
    const auto value = [](const Json* json) {
      return Value::from_json(json == nullptr ? nothing : *json, nullptr);
    };
    std::vector<std::optional<Value>> bound(kPolicySlots);
    bound[kObject] = value(request.object);
    bound[kOldObject] = value(request.old);
    bound[kRequest] = value(&described);
    bound[kParams] = value(param_document.get());
    bound[kNamespace] = value(space_document.get());
    const Question question(program, std::move(bound));
    return judge(program, question);
  }

  // A null one: the policy takes no parameters. None at all: the binding does not count.
  static Result<std::vector<ObjectPtr>> params_of(const Json& policy, const Json& binding,
                                                  const PolicyRequest& request,
                                                  const ObjectReader& reader,
                                                  const SchemaSet& schemas) {
    const Json* kind = find(policy, {"spec", "paramKind"});
    const Json* ref = find(binding, {"spec", "paramRef"});
    if (kind == nullptr || ref == nullptr) return std::vector<ObjectPtr>{nullptr};
    const std::string api_version = text_at(*kind, {"apiVersion"});
    const std::string kind_name = text_at(*kind, {"kind"});
    const KindSchemaPtr schema = schemas.find_kind(api_version, kind_name);
    if (schema == nullptr) {
      return make_error(Code::NotFound, "failed to find resource referenced by paramKind: '" +
                                            api_version + ", Kind=" + kind_name + "'");
    }
    std::string space = text_at(*ref, {"namespace"});
    if (!schema->kind().namespaced) {
      if (!space.empty()) {
        return make_error(Code::Invalid,
                          "paramRef.namespace must not be provided for a cluster-scoped "
                          "`paramKind`");
      }
    } else if (space.empty()) {
      space = request.name_space;
      if (space.empty()) {
        return make_error(Code::Invalid,
                          "cannot use namespaced paramRef in policy binding that matches "
                          "cluster-scoped resources");
      }
    }
    std::vector<ObjectPtr> out;
    if (const std::string name = text_at(*ref, {"name"}); !name.empty()) {
      TRY_ASSIGN(ObjectPtr param, reader.get(schema->kind(), space, name));
      if (param != nullptr) out.push_back(std::move(param));
    } else if (const Json* selector = find(*ref, {"selector"})) {
      TRY_ASSIGN(const LabelSelector labels, LabelSelector::from_object(*selector));
      TRY_ASSIGN(std::vector<ObjectPtr> all, reader.list(schema->kind(), space));
      for (ObjectPtr& param : all) {
        if (labels.matches(param->labels())) out.push_back(std::move(param));
      }
    }
    if (out.empty() && text_at(*ref, {"parameterNotFoundAction"}) != "Allow") {
      return make_error(Code::NotFound,
                        "no params found for policy binding with `Deny` parameterNotFoundAction");
    }
    return out;
  }

  static Result<void> act(const Object& policy, const Object& binding, const Json& bound,
                          const PolicyRequest& request, const std::vector<Denial>& denials,
                          std::vector<std::string>& warnings) {
    const std::string who = "ValidatingAdmissionPolicy '" + std::string(policy.name()) +
                            "' with binding '" + std::string(binding.name()) + "'";
    if (acts(bound, "Warn")) {
      for (const Denial& denial : denials) {
        warnings.push_back("Validation failed for " + who + ": " + denial.message);
      }
    }
    if (denials.empty() || !acts(bound, "Deny")) return {};
    const std::string message = who + " denied request: " + denials[0].message;
    const std::string subject = request.name.empty() ? "" : " \"" + request.name + "\"";
    Error error = make_error(code_of(denials[0].reason),
                             request.kind.resource() + subject + " is forbidden: " + message);
    error.subject = ErrorSubject{request.kind.group, request.kind.plural, request.name};
    error.causes.push_back(Cause{"", message, ""});
    return error;
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const CompiledPolicy>> cache_;
};

}  // namespace

std::unique_ptr<PolicyJudge> make_policy_judge() {
  return std::make_unique<Judge>();
}

Result<bool> conditions_hold(const CompiledPolicy& policy, const PolicyRequest& request) {
  static const Json nothing;
  const Json described = request_json(request);
  std::vector<std::optional<Value>> bound(kPolicySlots);
  bound[kObject] = Value::from_json(request.object ? *request.object : nothing, nullptr);
  bound[kOldObject] = Value::from_json(request.old ? *request.old : nothing, nullptr);
  bound[kRequest] = Value::from_json(described, nullptr);
  bound[kParams] = bound[kNamespace] = Value::from_json(nothing, nullptr);
  const Question question(policy, std::move(bound));
  Conditions found = check_conditions(policy, question);
  if (found.refuted) return false;
  if (found.failures.empty()) return true;
  if (!policy.fail) return false;
  const std::string why = join(found.failures, ", ");
  return make_error(Code::Forbidden, found.failures.size() == 1 ? why : "[" + why + "]");
}

}  // namespace krater::api
