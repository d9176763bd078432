// Type parameters and what they turned out to be, while one expression is checked.
#pragma once

#include <utility>
#include <vector>

#include "api/cel/type.h"

namespace krater::cel {

class Unifier {
 public:
  TypePtr fresh();
  // The type with its parameters 0..n-1 replaced by fresh ones (`made`: as many).
  static TypePtr instantiate(const TypePtr& type, const std::vector<TypePtr>& made);
  // Whether a value of type `from` may stand where `to` is wanted; binds parameters when it may.
  bool assignable(const TypePtr& from, const TypePtr& to);
  bool assignable(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to);
  // Bound parameters replaced; unbound ones by dyn when asked to.
  TypePtr resolve(const TypePtr& type, bool unbound_to_dyn) const;
  // The wider of two types of which one is assignable to the other.
  static TypePtr more_general(const TypePtr& a, const TypePtr& b);

 private:
  bool fits(const TypePtr& from, const TypePtr& to);
  bool fits_all(const std::vector<TypePtr>& from, const std::vector<TypePtr>& to);
  // Whether `variable` may be `type`; known: it had a type before.
  bool substitute(const TypePtr& type, const TypePtr& variable, bool& known);
  bool occurs_in(int variable, const Type& type) const;

  void bind(std::size_t place, TypePtr type);
  void undo(std::size_t mark);

  std::vector<TypePtr> bound_;                          // per parameter; nullptr: free
  std::vector<std::pair<std::size_t, TypePtr>> trail_;  // what was bound before, for undo
};

}  // namespace krater::cel
