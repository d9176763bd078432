// Quantities and semantic versions.
#include <algorithm>
#include <compare>

#include "api/cel/functions.h"
#include "base/quantity.h"
#include "base/strings.h"

namespace krater::cel {
namespace {

using Kind = Value::Kind;

class QuantityValue final : public Opaque {
 public:
  QuantityValue(Quantity value, bool fraction) : amount(value), binary_fraction(fraction) {}
  std::string_view type_name() const override { return "kubernetes.Quantity"; }
  bool equals(const Opaque& other) const override {
    return amount == static_cast<const QuantityValue&>(other).amount;
  }
  const Quantity amount;
  // Written as a fraction of a power of two ("1.5Gi"): never taken for an integer.
  const bool binary_fraction;
};

struct Version {
  std::uint64_t major = 0, minor = 0, patch = 0;
  std::vector<std::string> pre;
};

class SemverValue final : public Opaque {
 public:
  explicit SemverValue(Version value) : version(std::move(value)) {}
  std::string_view type_name() const override { return "kubernetes.Semver"; }
  bool equals(const Opaque& other) const override;
  const Version version;
};

bool is_opaque(const Value& value, std::string_view name) {
  return value.kind() == Kind::Opaque && value.type_name() == name;
}
bool is_quantity(const Value& value) {
  return is_opaque(value, "kubernetes.Quantity");
}
bool is_semver(const Value& value) {
  return is_opaque(value, "kubernetes.Semver");
}
const Quantity& amount_of(const Value& value) {
  return value.opaque_as<QuantityValue>().amount;
}
bool is_binary_fraction(const Value& value) {
  return is_quantity(value) && value.opaque_as<QuantityValue>().binary_fraction;
}
Value make_quantity(Quantity amount, bool binary_fraction) {
  return Value::opaque(std::make_shared<QuantityValue>(amount, binary_fraction));
}

// Exactly an int64.
std::optional<std::int64_t> whole(const Value& quantity) {
  if (is_binary_fraction(quantity)) return std::nullopt;
  const Quantity& amount = amount_of(quantity);
  const std::int64_t value = amount.value();
  if (value == INT64_MAX || value == INT64_MIN || Quantity::from_value(value) != amount) {
    return std::nullopt;
  }
  return value;
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Dot-separated identifiers of letters, digits and dashes.
bool identifiers(std::string_view text, bool numbers_without_zero, std::vector<std::string>& out) {
  for (const std::string_view part : split(text, '.')) {
    const bool legal = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
    if (!legal) return false;
    if (numbers_without_zero && is_digits(part) && part.size() > 1 && part[0] == '0') return false;
    out.emplace_back(part);
  }
  return true;
}

Result<Version> parse_version(std::string_view text) {
  const auto fail = [](std::string message) {
    return make_error(Code::BadRequest, std::move(message));
  };
  if (text.empty()) return fail("Version string empty");
  Version out;
  std::string_view rest = text;
  std::uint64_t* const numbers[] = {&out.major, &out.minor, &out.patch};
  static constexpr const char* kNames[] = {"major", "minor", "patch"};
  if (std::count(text.begin(), text.end(), '.') < 2) {
    return fail("No Major.Minor.Patch elements found");
  }
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t end = i < 2 ? rest.find('.') : rest.find_first_of("-+");
    const std::string_view number = rest.substr(0, end);
    if (!is_digits(number)) {
      return fail("Invalid character(s) found in " + std::string(kNames[i]) + " number \"" +
                  std::string(number) + "\"");
    }
    if (number.size() > 1 && number[0] == '0') {
      std::string name(kNames[i]);
      name[0] = static_cast<char>(name[0] - 'a' + 'A');
      return fail(name + " number must not contain leading zeroes \"" + std::string(number) + "\"");
    }
    const std::optional<std::int64_t> value = parse_int(number);
    if (!value) return fail("Invalid " + std::string(kNames[i]) + " number");
    *numbers[i] = static_cast<std::uint64_t>(*value);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(i < 2 ? end + 1 : end);
  }
  const std::size_t plus = rest.find('+');
  if (plus != std::string_view::npos) {
    std::vector<std::string> ignored;
    if (!identifiers(rest.substr(plus + 1), false, ignored)) {
      return fail("Invalid build metadata in \"" + std::string(text) + "\"");
    }
    rest = rest.substr(0, plus);
  }
  if (rest.starts_with('-') && !identifiers(rest.substr(1), true, out.pre)) {
    return fail("Invalid prerelease in \"" + std::string(text) + "\"");
  }
  return out;
}

// "v1.02" -> "1.2.0"
Result<Version> parse_tolerant(std::string_view text) {
  if (text.starts_with('v')) text.remove_prefix(1);
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::size_t dot = text.find('.');
    if (dot == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, dot));
    text.remove_prefix(dot + 1);
  }
  parts.emplace_back(text);
  for (std::string& part : parts) {
    while (part.size() > 1 && part[0] == '0' && part[1] >= '0' && part[1] <= '9') part.erase(0, 1);
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return make_error(Code::BadRequest, "short version cannot contain PreRelease/Build meta data");
  }
  while (parts.size() < 3) parts.emplace_back("0");
  return parse_version(join(parts, "."));
}

int sign_of(std::strong_ordering order) {
  return order < 0 ? -1 : order > 0 ? 1 : 0;
}

int compare_identifiers(const std::string& a, const std::string& b) {
  const bool a_number = is_digits(a);
  const bool b_number = is_digits(b);
  if (a_number != b_number) return a_number ? -1 : 1;
  if (a_number && a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  return sign_of(a <=> b);
}

int compare_versions(const Version& a, const Version& b) {
  if (a.major != b.major) return a.major < b.major ? -1 : 1;
  if (a.minor != b.minor) return a.minor < b.minor ? -1 : 1;
  if (a.patch != b.patch) return a.patch < b.patch ? -1 : 1;
  if (a.pre.empty() || b.pre.empty()) {
    return a.pre.empty() == b.pre.empty() ? 0 : a.pre.empty() ? 1 : -1;
  }
  for (std::size_t i = 0; i < std::min(a.pre.size(), b.pre.size()); ++i) {
    const int order = compare_identifiers(a.pre[i], b.pre[i]);
    if (order != 0) return order;
  }
  return sign_of(a.pre.size() <=> b.pre.size());
}

bool SemverValue::equals(const Opaque& other) const {
  return compare_versions(version, static_cast<const SemverValue&>(other).version) == 0;
}

// Of two quantities or two versions; nullopt for anything else.
std::optional<int> order_of(Args args) {
  if (is_quantity(args[0]) && is_quantity(args[1])) {
    return sign_of(amount_of(args[0]) <=> amount_of(args[1]));
  }
  if (is_semver(args[0]) && is_semver(args[1])) {
    return compare_versions(args[0].opaque_as<SemverValue>().version,
                            args[1].opaque_as<SemverValue>().version);
  }
  return std::nullopt;
}

// The second operand of add and sub.
std::optional<Quantity> operand(const Value& value) {
  if (is_quantity(value)) return amount_of(value);
  if (value.kind() == Kind::Int) return Quantity::from_value(value.as_int());
  return std::nullopt;
}

Result<Version> version_of(Args args) {
  const bool tolerant = args.size() == 2 && args[1].is(true);
  return tolerant ? parse_tolerant(args[0].text()) : parse_version(args[0].text());
}

Value part(Args args, std::uint64_t Version::*member) {
  if (!is_semver(args[0])) return no_such_overload();
  return Value::of(static_cast<std::int64_t>(args[0].opaque_as<SemverValue>().version.*member));
}

}  // namespace

Value call_quantity(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  const Result<Quantity> amount = Quantity::parse(args[0].text());
  if (!amount) return Value::error(amount.error().message);
  const bool fraction =
      args[0].text().find('.') != std::string_view::npos && args[0].text().ends_with('i');
  return make_quantity(*amount, fraction);
}
Value call_is_quantity(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  return Value::of(Quantity::parse(args[0].text()).has_value());
}
Value call_sign(Args args) {
  if (!is_quantity(args[0])) return no_such_overload();
  return Value::of(std::int64_t{amount_of(args[0]).sign()});
}

Value call_is_greater_than(Args args) {
  const std::optional<int> order = order_of(args);
  return order ? Value::of(*order > 0) : no_such_overload();
}
Value call_is_less_than(Args args) {
  const std::optional<int> order = order_of(args);
  return order ? Value::of(*order < 0) : no_such_overload();
}
Value call_compare_to(Args args) {
  const std::optional<int> order = order_of(args);
  return order ? Value::of(std::int64_t{*order}) : no_such_overload();
}

Value call_as_integer(Args args) {
  if (!is_quantity(args[0])) return no_such_overload();
  const std::optional<std::int64_t> value = whole(args[0]);
  return value ? Value::of(*value) : Value::error("cannot convert value to integer");
}
Value call_is_integer(Args args) {
  if (!is_quantity(args[0])) return no_such_overload();
  return Value::of(whole(args[0]).has_value());
}
Value call_as_approximate_float(Args args) {
  if (!is_quantity(args[0])) return no_such_overload();
  const Quantity& amount = amount_of(args[0]);
  const std::optional<std::int64_t> value = whole(args[0]);
  if (value) return Value::of(static_cast<double>(*value));
  return Value::of(static_cast<double>(amount.milli_value()) / 1000.0);
}

Value call_quantity_add(Args args) {
  const std::optional<Quantity> other = operand(args[1]);
  if (!is_quantity(args[0]) || !other) return no_such_overload();
  return make_quantity(amount_of(args[0]) + *other,
                       is_binary_fraction(args[0]) || is_binary_fraction(args[1]));
}
Value call_quantity_sub(Args args) {
  const std::optional<Quantity> other = operand(args[1]);
  if (!is_quantity(args[0]) || !other) return no_such_overload();
  return make_quantity(amount_of(args[0]) - *other,
                       is_binary_fraction(args[0]) || is_binary_fraction(args[1]));
}

Value call_semver(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  Result<Version> version = version_of(args);
  if (!version) return Value::error(version.error().message);
  return Value::opaque(std::make_shared<SemverValue>(std::move(*version)));
}
Value call_is_semver(Args args) {
  if (args[0].kind() != Kind::String) return no_such_overload();
  return Value::of(version_of(args).has_value());
}
Value call_semver_major(Args args) {
  return part(args, &Version::major);
}
Value call_semver_minor(Args args) {
  return part(args, &Version::minor);
}
Value call_semver_patch(Args args) {
  return part(args, &Version::patch);
}

}  // namespace krater::cel
