// How many requests may be on their way at once, fairly: each client may fill its share, all of the
// capacity while he is alone and an equal part of it beside others. Whoever asks for more is told
// to come back (429), so one that floods the server delays himself and nobody else: a newcomer's
// share is always free for him. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace krater::api {

// As kube-apiserver's flags of these names; 0: no limit.
struct FlowLimits {
  std::size_t read_only = 400;  // --max-requests-inflight
  std::size_t mutating = 200;   // --max-mutating-requests-inflight
};

enum class FlowKind : std::uint8_t { ReadOnly, Mutating };

class FlowControl {
 public:
  explicit FlowControl(FlowLimits limits) : limits_(limits) {}
  FlowControl(const FlowControl&) = delete;
  FlowControl& operator=(const FlowControl&) = delete;

  // A request's place; given back when it is dropped. Must not outlive the flow control.
  class Place {
   public:
    Place() = default;
    Place(Place&& other) noexcept { swap(other); }
    Place& operator=(Place&& other) noexcept {
      swap(other);
      return *this;
    }
    ~Place();

   private:
    friend class FlowControl;
    void swap(Place& other) noexcept {
      std::swap(owner_, other.owner_);
      std::swap(kind_, other.kind_);
      std::swap(client_, other.client_);
      std::swap(exempt_, other.exempt_);
    }
    FlowControl* owner_ = nullptr;
    FlowKind kind_ = FlowKind::ReadOnly;
    std::string client_;
    bool exempt_ = false;
  };

  // Nothing: the client has as many under way as he may.
  std::optional<Place> admit(FlowKind kind, const std::string& client);
  // Counted among those in flight, and never refused.
  Place admit_exempt(FlowKind kind);

  struct Counts {
    std::size_t in_flight[2] = {0, 0};  // by FlowKind
    std::uint64_t rejected[2] = {0, 0};
  };
  Counts counts() const;

 private:
  struct Lane {
    std::map<std::string, std::size_t> in_flight;  // by client; none with 0
    std::size_t total = 0;                         // with the exempt ones
    std::uint64_t rejected = 0;
  };
  std::size_t limit(FlowKind kind) const {
    return kind == FlowKind::ReadOnly ? limits_.read_only : limits_.mutating;
  }
  Lane& lane(FlowKind kind) { return lanes_[static_cast<std::size_t>(kind)]; }
  void leave(const Place& place);

  const FlowLimits limits_;
  mutable std::mutex mutex_;
  Lane lanes_[2];
};

}  // namespace krater::api
