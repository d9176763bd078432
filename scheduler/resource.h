// The scheduler's arithmetic: amounts in dense vectors, one place a resource name (a dimension),
// plain integers: cpu in milli, everything else in whole units. Comparisons are exact, and so are
// sums, however large: what was added can be taken away again. What is read is at most kMostAmount,
// so that a few of them can be added up in an int64.
#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/resource_list.h"

namespace krater::scheduler {

using Dim = std::uint32_t;
inline constexpr Dim kCpu = 0;
inline constexpr Dim kMemory = 1;
inline constexpr Dim kPods = 2;
// Two exbibytes, or 2 * 10^15 cores.
inline constexpr std::int64_t kMostAmount = std::int64_t{1} << 61;

// Resource names as dimensions, in order of first sight. Only grows.
class ResourceNames {
 public:
  ResourceNames();
  Dim dim(std::string_view name);
  std::optional<Dim> find(std::string_view name) const;  // nullopt: nobody has named it
  const std::string& name(Dim dim) const { return names_[dim]; }
  Dim count() const { return static_cast<Dim>(names_.size()); }
  // "cpu 1500m"
  std::string text(Dim dim, std::int64_t amount) const;

 private:
  std::vector<std::string> names_;
  std::map<std::string, Dim, std::less<>> dims_;
};

// Amounts; what was never set is zero. May go below zero where it stands for room (a node too
// full).
class Resource {
 public:
  Resource() = default;
  static Resource from(const ResourceList& list, ResourceNames& names);

  Dim dims() const { return static_cast<Dim>(amounts_.size()); }
  // Within +-kMostAmount.
  std::int64_t at(Dim dim) const {
    if (dim >= amounts_.size()) return 0;
    return static_cast<std::int64_t>(std::clamp<Wide>(amounts_[dim], -kMostAmount, kMostAmount));
  }
  void set(Dim dim, std::int64_t amount);
  Resource& operator+=(const Resource& other);
  Resource& operator-=(const Resource& other);
  friend Resource operator+(Resource a, const Resource& b) { return a += b; }
  friend Resource operator-(Resource a, const Resource& b) { return a -= b; }
  // Per dimension, nothing below zero.
  Resource clamped() const;

  // Every amount asked for is there. What is not asked for is not looked at.
  bool fits_in(const Resource& room) const;
  bool is_zero() const;
  friend bool operator==(const Resource& a, const Resource& b);

  ResourceList to_list(const ResourceNames& names) const;  // zeros left out

 private:
  // 2^66 amounts of any size have room in it.
  __extension__ using Wide = __int128;
  Wide exact(Dim dim) const { return dim < amounts_.size() ? amounts_[dim] : 0; }
  boost::container::small_vector<Wide, 6> amounts_;
};

// Upper bounds, or entitlements: a dimension that is not set is unbounded (or: nothing was said
// about it).
class Bounds {
 public:
  static constexpr std::int64_t kUnset = INT64_MAX;
  static Bounds from(const ResourceList& list, ResourceNames& names);

  Dim dims() const { return static_cast<Dim>(amounts_.size()); }
  std::int64_t at(Dim dim) const { return dim < amounts_.size() ? amounts_[dim] : kUnset; }
  bool has(Dim dim) const { return at(dim) != kUnset; }
  void set(Dim dim, std::int64_t amount);
  void unset(Dim dim) { set(dim, kUnset); }
  bool empty() const;

 private:
  boost::container::small_vector<std::int64_t, 6> amounts_;
};

// part/whole, compared exactly. Shares of nothing: 0/0 is 0, x/0 is 1 (as upstream).
class Share {
 public:
  Share() = default;
  Share(std::int64_t part, std::int64_t whole);
  friend bool operator==(const Share& a, const Share& b) { return compare(a, b) == 0; }
  friend bool operator<(const Share& a, const Share& b) { return compare(a, b) < 0; }
  // <0, 0, >0
  static int compare(const Share& a, const Share& b);
  std::int64_t per_mille() const;  // for logs; saturated
  // For metrics: as near as a double comes.
  double value() const { return static_cast<double>(part_) / static_cast<double>(whole_); }

 private:
  std::int64_t part_ = 0, whole_ = 1;
};

// Of what somebody holds of the whole, the largest part; places for pods do not count.
Share dominant_share(const Resource& allocated, const Resource& total);

// amount * numerator / denominator, rounded down, without overflow. denominator > 0.
std::int64_t scale(std::int64_t amount, std::int64_t numerator, std::int64_t denominator);

}  // namespace krater::scheduler
