#include "scheduler/resource.h"

#include <algorithm>

namespace krater::scheduler {
namespace {

__extension__ using Wide = __int128;

std::int64_t bounded(std::int64_t amount) {
  return std::clamp(amount, -kMostAmount, kMostAmount);
}

}  // namespace

ResourceNames::ResourceNames() {
  for (const std::string_view name : {resources::kCpu, resources::kMemory, resources::kPods})
    dim(name);
}

std::optional<Dim> ResourceNames::find(std::string_view name) const {
  const auto known = dims_.find(name);
  return known == dims_.end() ? std::nullopt : std::optional(known->second);
}

Dim ResourceNames::dim(std::string_view name) {
  const auto place = dims_.find(name);
  if (place != dims_.end()) return place->second;
  const Dim fresh = count();
  names_.emplace_back(name);
  dims_.emplace(std::string(name), fresh);
  return fresh;
}

std::string ResourceNames::text(Dim dim, std::int64_t amount) const {
  return name(dim) + " " + resource_text(name(dim), amount);
}

Resource Resource::from(const ResourceList& list, ResourceNames& names) {
  Resource out;
  for (const auto& [name, amount] : list.amounts()) out.set(names.dim(name), bounded(amount));
  return out;
}

void Resource::set(Dim dim, std::int64_t amount) {
  if (dim >= amounts_.size()) amounts_.resize(dim + 1, 0);
  amounts_[dim] = amount;
}

Resource& Resource::operator+=(const Resource& other) {
  if (other.dims() > dims()) amounts_.resize(other.dims(), 0);
  for (Dim d = 0; d < other.dims(); ++d) amounts_[d] += other.amounts_[d];
  return *this;
}

Resource& Resource::operator-=(const Resource& other) {
  if (other.dims() > dims()) amounts_.resize(other.dims(), 0);
  for (Dim d = 0; d < other.dims(); ++d) amounts_[d] -= other.amounts_[d];
  return *this;
}

Resource Resource::clamped() const {
  Resource out = *this;
  for (Wide& amount : out.amounts_) amount = std::max<Wide>(amount, 0);
  return out;
}

bool Resource::fits_in(const Resource& room) const {
  for (Dim d = 0; d < dims(); ++d) {
    if (amounts_[d] > 0 && amounts_[d] > room.exact(d)) return false;
  }
  return true;
}

bool Resource::is_zero() const {
  return std::all_of(amounts_.begin(), amounts_.end(), [](Wide amount) { return amount == 0; });
}

bool operator==(const Resource& a, const Resource& b) {
  for (Dim d = 0; d < std::max(a.dims(), b.dims()); ++d) {
    if (a.exact(d) != b.exact(d)) return false;
  }
  return true;
}

ResourceList Resource::to_list(const ResourceNames& names) const {
  ResourceList out;
  for (Dim d = 0; d < dims(); ++d) {
    if (amounts_[d] != 0) out.set(names.name(d), at(d));
  }
  return out;
}

Bounds Bounds::from(const ResourceList& list, ResourceNames& names) {
  Bounds out;
  for (const auto& [name, amount] : list.amounts()) out.set(names.dim(name), bounded(amount));
  return out;
}

void Bounds::set(Dim dim, std::int64_t amount) {
  if (dim >= amounts_.size()) amounts_.resize(dim + 1, kUnset);
  amounts_[dim] = amount;
}

bool Bounds::empty() const {
  return std::all_of(amounts_.begin(), amounts_.end(),
                     [](std::int64_t amount) { return amount == kUnset; });
}

Share::Share(std::int64_t part, std::int64_t whole) : part_(part), whole_(whole) {
  if (whole_ > 0) return;
  part_ = part > 0 ? 1 : 0;
  whole_ = 1;
}

int Share::compare(const Share& a, const Share& b) {
  const Wide left = static_cast<Wide>(a.part_) * b.whole_;
  const Wide right = static_cast<Wide>(b.part_) * a.whole_;
  return left < right ? -1 : left > right ? 1 : 0;
}

std::int64_t Share::per_mille() const {
  return scale(part_, 1000, whole_);
}

Share dominant_share(const Resource& allocated, const Resource& total) {
  Share out;
  for (Dim d = 0; d < total.dims(); ++d) {
    if (d == kPods) continue;
    const Share one(allocated.at(d), total.at(d));
    if (out < one) out = one;
  }
  return out;
}

std::int64_t scale(std::int64_t amount, std::int64_t numerator, std::int64_t denominator) {
  const Wide out = static_cast<Wide>(amount) * numerator / denominator;
  return static_cast<std::int64_t>(std::clamp<Wide>(out, INT64_MIN, INT64_MAX));
}

}  // namespace krater::scheduler
