#include "api/cel/call_cost.h"

#include <algorithm>
#include <cmath>

#include "api/cel/functions.h"

namespace krater::cel {
namespace {

constexpr double kPerCharacter = 0.1;
constexpr double kPerPatternCharacter = 0.25;
constexpr std::uint64_t kListBase = 10;

std::uint64_t pass(double size) {
  return static_cast<std::uint64_t>(std::ceil(size * kPerCharacter));
}

std::uint64_t regex(std::uint64_t text, std::uint64_t pattern) {
  return pass(1.0 + static_cast<double>(text)) *
         static_cast<std::uint64_t>(std::ceil(static_cast<double>(pattern) * kPerPatternCharacter));
}

// Of reading a value and everything in it.
std::uint64_t traversal(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::String:
    case Value::Kind::Bytes:
      return static_cast<std::uint64_t>(static_cast<double>(value.text().size()) * kPerCharacter);
    case Value::Kind::List: {
      std::uint64_t out = 0;
      for (std::size_t i = 0; i < value.size(); ++i) out += traversal(value.at(i));
      return out;
    }
    case Value::Kind::Map: {
      std::uint64_t out = 0;
      for (const Value& key : value.keys()) {
        const std::optional<Value> item = value.find(key);
        out += traversal(key) + (item ? traversal(*item) : 1);
      }
      return out;
    }
    case Value::Kind::Error:
    case Value::Kind::Null:
    case Value::Kind::Bool:
    case Value::Kind::Int:
    case Value::Kind::Uint:
    case Value::Kind::Double:
    case Value::Kind::Timestamp:
    case Value::Kind::Duration:
    case Value::Kind::Type:
    case Value::Kind::Optional:
    case Value::Kind::Opaque:
    case Value::Kind::Unexposed:
      return 1;
  }
  return 1;
}

}  // namespace

bool priced_by_result(Cost cost) {
  return cost == Cost::Join || cost == Cost::ListSlice || cost == Cost::ListRange;
}

bool priced_by_name(Cost cost) {
  switch (cost) {
    case Cost::EachItem:
    case Cost::Parse:
    case Cost::ParseTwice:
    case Cost::SameText:
    case Cost::Url:
    case Cost::Replace:
    case Cost::Split:
    case Cost::Join:
    case Cost::Find:
    case Cost::ContainsIp:
    case Cost::ContainsIpText:
    case Cost::ContainsCidr:
    case Cost::ContainsCidrText:
    case Cost::Validate:
    case Cost::Nominal:
      return true;
    case Cost::One:
    case Cost::Logical:
    case Cost::Conditional:
    case Cost::Equality:
    case Cost::Order:
    case Cost::AddText:
    case Cost::AddList:
    case Cost::InList:
    case Cost::StartsWith:
    case Cost::Matches:
    case Cost::Contains:
    case Cost::TextToBytes:
    case Cost::BytesToText:
    case Cost::Format:
    case Cost::IndexList:
    case Cost::IndexMap:
    case Cost::Sets:
    case Cost::SetsBoth:
    case Cost::ListSlice:
    case Cost::ListCopy:
    case Cost::ListSort:
    case Cost::ListRange:
      return false;
  }
  return false;
}

std::uint64_t call_cost(const Expr& call, Args args, const Value& result) {
  Cost cost = call.overloads.empty() ? Cost::One : call.overloads[0]->cost;
  const bool certain = call.overloads.size() == 1;
  if (!certain && !priced_by_name(cost)) return 1;
  // An overload that was not certain is taken for the one that parses nothing.
  if (!certain && cost == Cost::ContainsIpText) cost = Cost::ContainsIp;
  if (!certain && cost == Cost::ContainsCidrText) cost = Cost::ContainsCidr;
  const auto size = [args](std::size_t i) { return args[i].cost_size(); };
  const auto passes = [&](std::size_t i, double times) {
    return pass(static_cast<double>(size(i)) * times);
  };
  switch (cost) {
    case Cost::One:
    case Cost::AddList:
    case Cost::IndexList:
    case Cost::IndexMap:
    case Cost::Nominal:
      return 1;
    case Cost::Logical:
    case Cost::Conditional:
      return 0;
    case Cost::Equality:
      if (args[0].kind() == Value::Kind::Opaque) return 1;
      [[fallthrough]];
    case Cost::Order:
      return pass(static_cast<double>(std::min(size(0), size(1))));
    case Cost::AddText:
      return pass(static_cast<double>(size(0) + size(1)));
    case Cost::InList:
      return size(1);
    case Cost::StartsWith:
    case Cost::TextToBytes:
    case Cost::BytesToText:
    case Cost::Format:
    case Cost::Parse:
    case Cost::SameText:
    case Cost::Url:
      return passes(0, 1);
    case Cost::ParseTwice:
    case Cost::Replace:
    case Cost::Split:
      return passes(0, 2);
    case Cost::Join:
      return pass(static_cast<double>(result.cost_size()) * 2);
    case Cost::Matches:
    case Cost::Find:
      return regex(size(0), size(1));
    case Cost::Contains:
      return passes(0, 1) * passes(1, 1);
    case Cost::EachItem:
      return traversal(args[0]);
    case Cost::ContainsIp:
      return passes(0, 2);
    case Cost::ContainsIpText:
      return passes(0, 2) + passes(1, 1);
    case Cost::ContainsCidr:
      return passes(0, 2) + passes(0, 1) + 1;
    case Cost::ContainsCidrText:
      return passes(0, 2) + passes(0, 1) + 1 + passes(1, 1);
    case Cost::Validate:
      return regex(size(1), format_regex_size(args[0]));
    case Cost::Sets:
      return 1 + size(0) * size(1);
    case Cost::SetsBoth:
      return 1 + 2 * size(0) * size(1);
    case Cost::ListSlice:
    case Cost::ListRange:
      return 1 + kListBase + result.cost_size();
    case Cost::ListCopy:
      return 1 + kListBase + size(0);
    case Cost::ListSort:
      return 1 + kListBase + 2 * size(0) * size(0);
  }
  return 1;
}

}  // namespace krater::cel
