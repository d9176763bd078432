// The tunnel between server and agent: what travels over the WebSocket that an agent opens with
// GET /krater/v1/tunnel?node=<name>. Pure codec, no I/O; both ends use it. See
// api/server/tunnel.md.
//
// One binary WebSocket message is one frame: type (1 byte), stream id (4 bytes, big-endian),
// payload. The server opens streams (ids 1, 2, 3 …, never reused on a connection); a stream lives
// until either end sends End.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/time.h"

namespace krater::tunnel {

enum class FrameType : std::uint8_t {
  Open = 1,  // server -> agent: JSON {"kind": …, "params": {…}}
  Accept =
      2,  // agent -> server, once, before its first Data: the request can be served. Empty payload
  Data = 3,    // both ways: channel (1 byte), bytes
  Window = 4,  // both ways: bytes of Data payload that the other end may send in addition (4 bytes,
               // big-endian)
  End = 5,     // both ways, last: {} for success, or {"code", "message"} of an Error
};

// The numbers of Kubernetes' remote command channels. Logs use Stdout alone.
enum class Channel : std::uint8_t {
  Stdin = 0,
  Stdout = 1,
  Stderr = 2,
  Error = 3,
  Resize = 4,
  Close = 255
};

inline constexpr std::size_t kInitialWindow =
    256 << 10;  // per stream and direction, counted in Data bytes without the channel
inline constexpr std::size_t kMaxData = 32 << 10;  // bytes in one Data frame
inline constexpr std::size_t kMaxMessage =
    64 << 10;  // a longer message is a protocol error: the connection ends

struct Frame {
  FrameType type = FrameType::End;
  std::uint32_t stream = 0;
  std::string payload{};
};
std::string encode(const Frame& frame);
// Code::BadRequest: too short, too long, or an unknown type.
Result<Frame> decode(std::string_view message);

Frame data_frame(std::uint32_t stream, Channel channel, std::string_view bytes);
struct DataView {
  Channel channel;
  std::string_view bytes;
};
// Code::BadRequest for an empty payload or an unknown channel.
Result<DataView> data_of(const Frame& frame);

Frame window_frame(std::uint32_t stream, std::uint32_t bytes);
Result<std::uint32_t> window_of(const Frame& frame);

Frame end_frame(std::uint32_t stream, const std::optional<Error>& failure);
// The failure the other end reports; nothing for success. A payload that cannot be read is
// Code::Internal.
std::optional<Error> failure_of(const Frame& frame);

// params of kind "logs", as GET …/pods/<p>/log words them.
struct LogRequest {
  std::string name_space, pod, uid, container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> tail_lines{}, since_seconds{}, limit_bytes{};
  std::optional<WallTime> since_time{};
};
// params of kind "exec" and "attach" (attach has no command).
struct ExecRequest {
  std::string name_space, pod, uid, container;
  std::vector<std::string> command{};
  bool in = false, out = false, err = false, tty = false;
};
inline constexpr std::string_view kLogs = "logs";
inline constexpr std::string_view kExec = "exec";
inline constexpr std::string_view kAttach = "attach";

struct OpenRequest {
  std::string kind;
  Json params;
};
Frame open_frame(std::uint32_t stream, std::string_view kind, Json params);
Result<OpenRequest> open_of(const Frame& frame);

Json to_json_value(const LogRequest& request);
Result<LogRequest> log_request(const Json& params);
Json to_json_value(const ExecRequest& request);
Result<ExecRequest> exec_request(const Json& params);

// How much may still be sent on one stream. The sender asks before each Data frame and waits for
// Window when it gets 0.
class SendWindow {
 public:
  // At most `wanted` and kMaxData.
  std::size_t take(std::size_t wanted);
  void grant(std::uint32_t bytes) { left_ += bytes; }
  std::size_t left() const { return left_; }

 private:
  std::size_t left_ = kInitialWindow;
};

// What the receiver owes: it consumes bytes and returns them in Window frames of half a window, not
// one for each read.
class ReceiveWindow {
 public:
  // True while the other end keeps to its window; false is a protocol error.
  bool receive(std::size_t bytes);
  // The bytes to grant now (0: not yet).
  std::uint32_t consume(std::size_t bytes);

 private:
  std::size_t open_ = kInitialWindow;
  std::size_t owed_ = 0;
};

}  // namespace krater::tunnel
