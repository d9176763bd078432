// A priority queue whose order may change for the element that was popped, and for no other. Jobs
// of which others move along stand in a JobLine, queues in a QueueLine.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace krater::scheduler {

template <typename T>
class Heap {
 public:
  explicit Heap(std::function<bool(const T&, const T&)> before) : before_(std::move(before)) {}

  bool empty() const { return items_.empty(); }
  const T& top() const { return items_.front(); }
  void push(T item) {
    items_.push_back(std::move(item));
    std::push_heap(items_.begin(), items_.end(), after());
  }
  T pop() {
    std::pop_heap(items_.begin(), items_.end(), after());
    T out = std::move(items_.back());
    items_.pop_back();
    return out;
  }

 private:
  auto after() const {
    return [this](const T& a, const T& b) { return before_(b, a); };
  }
  std::function<bool(const T&, const T&)> before_;
  std::vector<T> items_;
};

}  // namespace krater::scheduler
