// A set of completion indexes, written as Job status writes it: "0-2,5,7-9". Pure.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace krater {

class IndexSet {
 public:
  // Reads what it can; indexes from `completions` on and what is not a number are left out.
  static IndexSet parse(std::string_view text, std::int64_t completions);

  void add(std::int64_t index) { add(index, index); }
  void add(std::int64_t first, std::int64_t last);
  void add(const IndexSet& other);
  bool contains(std::int64_t index) const;
  bool empty() const { return intervals_.empty(); }
  std::int64_t count() const;
  // Those below `completions`.
  std::int64_t count_below(std::int64_t completions) const;
  std::string text() const;
  // First and last index of each run, ascending, runs apart by at least one.
  const std::map<std::int64_t, std::int64_t>& intervals() const& { return intervals_; }
  const std::map<std::int64_t, std::int64_t>& intervals() && = delete;
  // Up to `limit` indexes below `completions` that are in none of the sets, smallest first.
  std::vector<std::int64_t> missing(std::int64_t limit, std::int64_t completions) const;
  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  std::map<std::int64_t, std::int64_t> intervals_;  // first -> last; apart by at least one
};

}  // namespace krater
