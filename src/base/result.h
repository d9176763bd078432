// Result<T>: the way failures travel. An Error carries what a user needs (code, message, field,
// causes); the API layer maps its code one-to-one to an HTTP status and a Kubernetes reason.
#pragma once

#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace krater {

// One code per Kubernetes Status reason that we produce (api/ holds the table of HTTP statuses).
enum class Code {
  BadRequest,
  Unauthorized,
  Forbidden,
  NotFound,
  MethodNotAllowed,
  NotAcceptable,
  AlreadyExists,
  Conflict,
  Expired,           // 410: the revision asked for has been compacted
  Invalid,           // 422
  TooLarge,          // 413
  UnsupportedMedia,  // 415
  TooManyRequests,   // 429
  Timeout,           // 504
  Unavailable,       // 503
  Internal,          // 500
};

// One entry of Status.details.causes.
struct Cause {
  std::string reason;  // e.g. "FieldValueRequired"
  std::string message;
  std::string field;  // e.g. "spec.containers[0].name"
};

// What an error is about, for Status.details. `kind` is the plural resource, for Code::Invalid the Kind.
struct ErrorSubject {
  std::string group, kind, name, uid{};
};

struct Error {
  Code code = Code::Internal;
  std::string message;
  std::vector<Cause> causes{};
  std::optional<int> retry_after_seconds{};
  std::optional<ErrorSubject> subject{};
  std::string continue_token{};  // Code::Expired of a paged list: how to go on at the newest revision
};

inline Error make_error(Code code, std::string message) {
  return Error{code, std::move(message)};
}

// Either a T or an Error. Small subset of std::expected's vocabulary, so that it can become an
// alias one day.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)
  template <typename U>
  requires(std::is_convertible_v<U, T> && !std::is_same_v<std::decay_t<U>, T> &&
           !std::is_same_v<std::decay_t<U>, Error> && !std::is_same_v<std::decay_t<U>, Result<T>>)
      Result(U&& value)
      : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Error& error() & { return std::get<1>(state_); }
  const Error& error() const& { return std::get<1>(state_); }
  Error&& error() && { return std::get<1>(std::move(state_)); }
  template <typename U>
  T value_or(U&& fallback) const& {
    return has_value() ? **this : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)
  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  Error& error() & { return *error_; }
  const Error& error() const& { return *error_; }
  Error&& error() && { return *std::move(error_); }

 private:
  std::optional<Error> error_;
};

#define KRATER_CONCAT_INNER(a, b) a##b
#define KRATER_CONCAT(a, b) KRATER_CONCAT_INNER(a, b)

// TRY(expr): return the error of a Result<void> (or any Result whose value is not needed).
#define TRY(...)                                                         \
  do {                                                                   \
    auto krater_try_result = (__VA_ARGS__);                              \
    if (!krater_try_result) return std::move(krater_try_result).error(); \
  } while (false)

// TRY_ASSIGN(auto x, expr): declare x from the value, or return the error.
#define TRY_ASSIGN(declaration, ...) \
  TRY_ASSIGN_IMPL(KRATER_CONCAT(krater_result_, __LINE__), declaration, __VA_ARGS__)
#define TRY_ASSIGN_IMPL(name, declaration, ...) \
  auto name = (__VA_ARGS__);                    \
  if (!name) return std::move(name).error();    \
  declaration = std::move(name).value()

}  // namespace krater
