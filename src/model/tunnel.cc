#include "model/tunnel.h"

#include <algorithm>
#include <array>
#include <utility>

namespace krater::tunnel {
namespace {

void append_u32(std::string& out, std::uint32_t n) {
  for (const int shift : {24, 16, 8, 0}) out.push_back(static_cast<char>((n >> shift) & 0xff));
}

std::uint32_t read_u32(std::string_view bytes) {
  std::uint32_t n = 0;
  for (const char c : bytes.substr(0, 4)) n = (n << 8) | static_cast<unsigned char>(c);
  return n;
}

constexpr std::array<std::pair<std::string_view, Code>, 8> kCodes{
    {{"BadRequest", Code::BadRequest},
     {"Forbidden", Code::Forbidden},
     {"NotFound", Code::NotFound},
     {"Conflict", Code::Conflict},
     {"TooManyRequests", Code::TooManyRequests},
     {"Timeout", Code::Timeout},
     {"Unavailable", Code::Unavailable},
     {"Internal", Code::Internal}}};

std::string_view code_name(Code code) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(),
                                   [code](const auto& entry) { return entry.second == code; });
  return found == kCodes.end() ? "Internal" : found->first;
}

Code code_of(std::string_view name) {
  const auto* found = std::find_if(kCodes.begin(), kCodes.end(),
                                   [name](const auto& entry) { return entry.first == name; });
  return found == kCodes.end() ? Code::Internal : found->second;
}

bool known(Channel channel) {
  switch (channel) {
    case Channel::Stdin:
    case Channel::Stdout:
    case Channel::Stderr:
    case Channel::Error:
    case Channel::Resize:
    case Channel::Close:
      return true;
  }
  return false;
}

// Both requests name their container alike.
template <typename Request>
JsonObject place_of(const Request& request) {
  return {{"namespace", request.name_space},
          {"pod", request.pod},
          {"uid", request.uid},
          {"container", request.container}};
}

template <typename Request>
Result<Request> read_place(const Json& params) {
  if (!params.is_object()) return make_error(Code::BadRequest, "tunnel: params must be an object");
  Request request;
  request.name_space = text_at(params, {"namespace"});
  request.pod = text_at(params, {"pod"});
  request.uid = text_at(params, {"uid"});
  request.container = text_at(params, {"container"});
  if (request.pod.empty() || request.container.empty()) {
    return make_error(Code::BadRequest, "tunnel: params need pod and container");
  }
  return request;
}

}  // namespace

std::string encode(const Frame& frame) {
  std::string out;
  out.reserve(5 + frame.payload.size());
  out.push_back(static_cast<char>(frame.type));
  append_u32(out, frame.stream);
  return out += frame.payload;
}

Result<Frame> decode(std::string_view message) {
  if (message.size() < 5) return make_error(Code::BadRequest, "tunnel: frame too short");
  if (message.size() > kMaxMessage) return make_error(Code::BadRequest, "tunnel: frame too long");
  const auto type = static_cast<FrameType>(message[0]);
  switch (type) {
    case FrameType::Open:
    case FrameType::Accept:
    case FrameType::Data:
    case FrameType::Window:
    case FrameType::End:
      return Frame{type, read_u32(message.substr(1)), std::string(message.substr(5))};
  }
  return make_error(Code::BadRequest, "tunnel: unknown frame type");
}

Frame data_frame(std::uint32_t stream, Channel channel, std::string_view bytes) {
  Frame frame{FrameType::Data, stream, {}};
  frame.payload.reserve(1 + bytes.size());
  frame.payload.push_back(static_cast<char>(channel));
  frame.payload += bytes;
  return frame;
}

Result<DataView> data_of(const Frame& frame) {
  if (frame.payload.empty()) return make_error(Code::BadRequest, "tunnel: data without a channel");
  const auto channel = static_cast<Channel>(frame.payload[0]);
  if (!known(channel)) return make_error(Code::BadRequest, "tunnel: unknown channel");
  return DataView{channel, std::string_view(frame.payload).substr(1)};
}

Frame window_frame(std::uint32_t stream, std::uint32_t bytes) {
  Frame frame{FrameType::Window, stream, {}};
  append_u32(frame.payload, bytes);
  return frame;
}

Result<std::uint32_t> window_of(const Frame& frame) {
  if (frame.payload.size() != 4)
    return make_error(Code::BadRequest, "tunnel: a window has 4 bytes");
  return read_u32(frame.payload);
}

Frame end_frame(std::uint32_t stream, const std::optional<Error>& failure) {
  JsonObject payload;
  if (failure) {
    payload["code"] = code_name(failure->code);
    payload["message"] = failure->message;
  }
  return Frame{FrameType::End, stream, to_json(Json(std::move(payload)))};
}

std::optional<Error> failure_of(const Frame& frame) {
  const Result<Json> payload = parse_json(frame.payload);
  if (!payload || !payload->is_object())
    return make_error(Code::Internal, "tunnel: the end of the stream cannot be read");
  const std::optional<std::string_view> code = string_at(*payload, {"code"});
  if (!code) return std::nullopt;
  return make_error(code_of(*code), text_at(*payload, {"message"}));
}

Frame open_frame(std::uint32_t stream, std::string_view kind, Json params) {
  return Frame{FrameType::Open, stream,
               to_json(Json(JsonObject{{"kind", kind}, {"params", std::move(params)}}))};
}

Result<OpenRequest> open_of(const Frame& frame) {
  TRY_ASSIGN(Json payload, parse_json(frame.payload));
  const std::optional<std::string_view> kind = string_at(payload, {"kind"});
  const Json* params = find(payload, {"params"});
  if (!kind || params == nullptr)
    return make_error(Code::BadRequest, "tunnel: open needs kind and params");
  return OpenRequest{std::string(*kind), *params};
}

Json to_json_value(const LogRequest& request) {
  JsonObject out = place_of(request);
  if (request.follow) out["follow"] = true;
  if (request.previous) out["previous"] = true;
  if (request.timestamps) out["timestamps"] = true;
  if (request.tail_lines) out["tailLines"] = *request.tail_lines;
  if (request.since_seconds) out["sinceSeconds"] = *request.since_seconds;
  if (request.limit_bytes) out["limitBytes"] = *request.limit_bytes;
  if (request.since_time) out["sinceTimeNanos"] = request.since_time->unix_nanos();
  return out;
}

Result<LogRequest> log_request(const Json& params) {
  TRY_ASSIGN(LogRequest request, read_place<LogRequest>(params));
  request.follow = bool_at(params, {"follow"}).value_or(false);
  request.previous = bool_at(params, {"previous"}).value_or(false);
  request.timestamps = bool_at(params, {"timestamps"}).value_or(false);
  request.tail_lines = int_at(params, {"tailLines"});
  request.since_seconds = int_at(params, {"sinceSeconds"});
  request.limit_bytes = int_at(params, {"limitBytes"});
  if (const auto nanos = int_at(params, {"sinceTimeNanos"})) request.since_time = WallTime(*nanos);
  return request;
}

Json to_json_value(const ExecRequest& request) {
  JsonObject out = place_of(request);
  JsonArray command;
  for (const std::string& word : request.command) command.emplace_back(word);
  out["command"] = std::move(command);
  out["stdin"] = request.in;
  out["stdout"] = request.out;
  out["stderr"] = request.err;
  out["tty"] = request.tty;
  return out;
}

Result<ExecRequest> exec_request(const Json& params) {
  TRY_ASSIGN(ExecRequest request, read_place<ExecRequest>(params));
  if (const JsonArray* command = array_at(params, {"command"})) {
    for (const Json& word : *command) {
      if (!word.is_string())
        return make_error(Code::BadRequest, "tunnel: command must be a list of strings");
      request.command.emplace_back(view(word.get_string()));
    }
  }
  request.in = bool_at(params, {"stdin"}).value_or(false);
  request.out = bool_at(params, {"stdout"}).value_or(false);
  request.err = bool_at(params, {"stderr"}).value_or(false);
  request.tty = bool_at(params, {"tty"}).value_or(false);
  return request;
}

std::size_t SendWindow::take(std::size_t wanted) {
  const std::size_t taken = std::min({wanted, left_, kMaxData});
  left_ -= taken;
  return taken;
}

bool ReceiveWindow::receive(std::size_t bytes) {
  if (bytes > open_) return false;
  open_ -= bytes;
  return true;
}

std::uint32_t ReceiveWindow::consume(std::size_t bytes) {
  owed_ += bytes;
  if (owed_ < kInitialWindow / 2) return 0;
  const auto granted = static_cast<std::uint32_t>(owed_);
  open_ += owed_;
  owed_ = 0;
  return granted;
}

}  // namespace krater::tunnel
