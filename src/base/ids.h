// Strong types for ids: a node name cannot land where a queue name belongs.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace krater {

template <typename Tag>
class StringId {
 public:
  StringId() = default;
  explicit StringId(std::string text) : text_(std::move(text)) {}
  explicit StringId(std::string_view text) : text_(text) {}
  explicit StringId(const char* text) : text_(text) {}
  const std::string& text() const { return text_; }
  bool empty() const { return text_.empty(); }
  friend auto operator<=>(const StringId&, const StringId&) = default;

 private:
  std::string text_;
};

using Uid = StringId<struct UidTag>;
using NodeName = StringId<struct NodeNameTag>;
using QueueName = StringId<struct QueueNameTag>;

// Position in the store's history. 0 means "none". Grows by one with every write; never reused.
class Revision {
 public:
  constexpr Revision() = default;
  constexpr explicit Revision(std::int64_t number) : number_(number) {}
  constexpr std::int64_t number() const { return number_; }
  std::string text() const { return std::to_string(number_); }
  constexpr Revision next() const { return Revision(number_ + 1); }
  friend constexpr auto operator<=>(const Revision&, const Revision&) = default;

 private:
  std::int64_t number_ = 0;
};

}  // namespace krater

template <typename Tag>
struct std::hash<krater::StringId<Tag>> {
  std::size_t operator()(const krater::StringId<Tag>& id) const noexcept {
    return std::hash<std::string>()(id.text());
  }
};
template <>
struct std::hash<krater::Revision> {
  std::size_t operator()(krater::Revision revision) const noexcept {
    return std::hash<std::int64_t>()(revision.number());
  }
};
