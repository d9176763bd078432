#include "api/cel/unify.h"

namespace krater::cel {
namespace {

bool is_var(const Type& type) {
  return type.kind == TypeKind::Var;
}
bool is_wild(const Type& type) {
  return type.kind == TypeKind::Dyn || type.kind == TypeKind::Error;
}
bool is_nullable(const Type& type) {
  switch (type.kind) {
    case TypeKind::Opaque:
    case TypeKind::Object:
    case TypeKind::Timestamp:
    case TypeKind::Duration:
    case TypeKind::Null:
      return true;
    case TypeKind::Dyn:
    case TypeKind::Error:
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Uint:
    case TypeKind::Double:
    case TypeKind::String:
    case TypeKind::Bytes:
    case TypeKind::Type:
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Var:
      return false;
  }
  return false;
}

bool equal_or_wider(const Type& a, const Type& b) {
  if (a.kind == TypeKind::Dyn || is_var(a)) return true;
  if (b.kind == TypeKind::Dyn || is_var(b)) return false;
  if (a.kind != b.kind || a.name != b.name || a.params.size() != b.params.size()) return false;
  if (a.kind == TypeKind::Type) return true;
  for (std::size_t i = 0; i < a.params.size(); ++i) {
    if (!equal_or_wider(*a.params[i], *b.params[i])) return false;
  }
  return true;
}

TypePtr with_params(const Type& type, std::vector<TypePtr> params) {
  auto out = std::make_shared<Type>(type);
  out->params = std::move(params);
  return out;
}

}  // namespace

TypePtr Unifier::fresh() {
  auto out = std::make_shared<Type>();
  out->kind = TypeKind::Var;
  out->var = static_cast<int>(bound_.size());
  out->name = "_var" + std::to_string(out->var);
  bound_.push_back(nullptr);
  return out;
}

TypePtr Unifier::instantiate(const TypePtr& type, const std::vector<TypePtr>& made) {
  if (is_var(*type)) return made[static_cast<std::size_t>(type->var)];
  if (type->params.empty() || made.empty()) return type;
  std::vector<TypePtr> params;
  for (const TypePtr& param : type->params) params.push_back(instantiate(param, made));
  return with_params(*type, std::move(params));
}

bool Unifier::assignable(const TypePtr& from, const TypePtr& to) {
  const std::size_t mark = trail_.size();
  if (fits(from, to)) return true;
  undo(mark);
  return false;
}

bool Unifier::assignable(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to) {
  const std::size_t mark = trail_.size();
  if (fits_all(from, to)) return true;
  undo(mark);
  return false;
}

void Unifier::bind(std::size_t place, TypePtr type) {
  trail_.emplace_back(place, bound_[place]);
  bound_[place] = std::move(type);
}

void Unifier::undo(std::size_t mark) {
  for (; trail_.size() > mark; trail_.pop_back()) {
    bound_[trail_.back().first] = std::move(trail_.back().second);
  }
}

bool Unifier::fits_all(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to) {
  if (from.size() != to.size()) return false;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!fits(from[i], to[i])) return false;
  }
  return true;
}

bool Unifier::fits(const TypePtr& from, const TypePtr& to) {
  bool known = false;
  if (is_var(*to)) {
    if (substitute(from, to, known)) return true;
    if (known) return false;
  }
  if (is_var(*from)) return substitute(to, from, known);
  if (is_wild(*from) || is_wild(*to)) return true;
  if (from->kind == TypeKind::Null) return is_nullable(*to);
  if (to->kind == TypeKind::Null) return is_nullable(*from);
  if (from->kind != to->kind) return false;
  switch (from->kind) {
    case TypeKind::Type:
      return true;
    case TypeKind::List:
    case TypeKind::Map:
    case TypeKind::Opaque:
      return from->name == to->name && fits_all(from->params, to->params);
    case TypeKind::Object:
      return from->name == to->name;
    case TypeKind::Dyn:
    case TypeKind::Error:
    case TypeKind::Null:
    case TypeKind::Bool:
    case TypeKind::Int:
    case TypeKind::Uint:
    case TypeKind::Double:
    case TypeKind::String:
    case TypeKind::Bytes:
    case TypeKind::Timestamp:
    case TypeKind::Duration:
    case TypeKind::Var:
      break;
  }
  return true;
}

bool Unifier::substitute(const TypePtr& type, const TypePtr& variable, bool& known) {
  const auto place = static_cast<std::size_t>(variable->var);
  known = false;
  if (is_var(*type) && type->var == variable->var) {
    known = true;
    return true;
  }
  if (bound_[place] != nullptr) {
    known = true;
    const TypePtr current = bound_[place];
    if (same_type(*type, *current)) return true;
    if (!fits(type, current)) return false;
    TypePtr wider = more_general(type, current);
    if (!occurs_in(variable->var, *wider)) bind(place, std::move(wider));
    return true;
  }
  if (occurs_in(variable->var, *type)) return false;
  bind(place, type);
  return true;
}

bool Unifier::occurs_in(int variable, const Type& type) const {
  if (is_var(type)) {
    if (type.var == variable) return true;
    const TypePtr& bound = bound_[static_cast<std::size_t>(type.var)];
    return bound != nullptr && occurs_in(variable, *bound);
  }
  for (const TypePtr& param : type.params) {
    if (occurs_in(variable, *param)) return true;
  }
  return false;
}

TypePtr Unifier::resolve(const TypePtr& type, bool unbound_to_dyn) const {
  if (is_var(*type)) {
    const TypePtr& bound = bound_[static_cast<std::size_t>(type->var)];
    if (bound != nullptr) return resolve(bound, unbound_to_dyn);
    return unbound_to_dyn ? simple_type(TypeKind::Dyn) : type;
  }
  if (type->params.empty()) return type;
  bool changed = false;
  std::vector<TypePtr> params;
  for (const TypePtr& param : type->params) {
    params.push_back(resolve(param, unbound_to_dyn));
    changed = changed || params.back() != param;
  }
  return changed ? with_params(*type, std::move(params)) : type;
}

TypePtr Unifier::more_general(const TypePtr& a, const TypePtr& b) {
  return equal_or_wider(*a, *b) ? a : b;
}

}  // namespace krater::cel
