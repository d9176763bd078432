#include "agent/net/grpc_call.h"

#include <fmt/format.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/strings.h"

namespace krater::agent {
namespace {

constexpr std::size_t kMaxBody = 64 << 10;
constexpr std::size_t kMaxHeaders = 64;
constexpr int kUnimplemented = 12, kUnavailable = 14, kUnknown = 2, kInternal = 13;

// The frame of a message: not compressed, its length in four bytes, the message.
std::string framed(std::string_view message) {
  const auto size = static_cast<std::uint32_t>(message.size());
  std::string out(1, '\0');
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(size >> shift & 0xff);
  return out.append(message);
}

std::optional<std::string> unframed(std::string_view data) {
  if (data.size() < 5 || data[0] != 0) return std::nullopt;
  std::uint32_t size = 0;
  for (int i = 1; i < 5; ++i) size = size << 8 | static_cast<unsigned char>(data[i]);
  if (data.size() - 5 < size) return std::nullopt;
  return std::string(data.substr(5, size));
}

std::string percent_decoded(std::string_view text) {
  const auto digit = [](char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
  };
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

// What a plain HTTP answer means to a gRPC client.
int status_of_http(int http) {
  switch (http) {
    case 400:
      return kInternal;
    case 401:
      return 16;  // Unauthenticated
    case 403:
      return 7;  // PermissionDenied
    case 404:
      return kUnimplemented;
    case 429:
    case 502:
    case 503:
    case 504:
      return kUnavailable;
    default:
      return kUnknown;
  }
}

nghttp2_nv header(std::string_view name, std::string_view value) {
  // The library copies both and changes neither.
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

}  // namespace

struct GrpcCall::State {
  nghttp2_session* session = nullptr;
  std::int32_t stream = 0;
  std::string request, answer, message, outgoing;
  std::size_t sent = 0, headers = 0;
  int http = 0;
  std::optional<int> grpc;
  std::optional<GrpcReply> reply;

  ~State() { nghttp2_session_del(session); }
  void conclude(std::uint32_t error_code);
  void collect();

  static int on_header(nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name,
                       std::size_t name_size, const std::uint8_t* value, std::size_t value_size,
                       std::uint8_t, void* user);
  static int on_data(nghttp2_session*, std::uint8_t, std::int32_t stream, const std::uint8_t* data,
                     std::size_t size, void* user);
  static int on_close(nghttp2_session*, std::int32_t stream, std::uint32_t error_code, void* user);
  static ssize_t read_request(nghttp2_session*, std::int32_t, std::uint8_t* out, std::size_t size,
                              std::uint32_t* flags, nghttp2_data_source* source, void*);
};

int GrpcCall::State::on_header(nghttp2_session*, const nghttp2_frame* frame,
                               const std::uint8_t* name, std::size_t name_size,
                               const std::uint8_t* value, std::size_t value_size, std::uint8_t,
                               void* user) {
  State& self = *static_cast<State*>(user);
  if (frame->hd.stream_id != self.stream) return 0;
  if (++self.headers > kMaxHeaders) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  const std::string_view key(reinterpret_cast<const char*>(name), name_size);
  const std::string_view text(reinterpret_cast<const char*>(value), value_size);
  if (key == ":status") self.http = static_cast<int>(parse_int(text).value_or(0));
  if (key == "grpc-status") self.grpc = static_cast<int>(parse_int(text).value_or(kUnknown));
  if (key == "grpc-message") self.message = percent_decoded(text);
  return 0;
}

int GrpcCall::State::on_data(nghttp2_session*, std::uint8_t, std::int32_t stream,
                             const std::uint8_t* data, std::size_t size, void* user) {
  State& self = *static_cast<State*>(user);
  if (stream != self.stream) return 0;
  const std::size_t room = kMaxBody - std::min(kMaxBody, self.answer.size());
  self.answer.append(reinterpret_cast<const char*>(data), std::min(size, room));
  return 0;
}

int GrpcCall::State::on_close(nghttp2_session*, std::int32_t stream, std::uint32_t error_code,
                              void* user) {
  State& self = *static_cast<State*>(user);
  if (stream == self.stream) self.conclude(error_code);
  return 0;
}

void GrpcCall::State::conclude(std::uint32_t error_code) {
  if (reply) return;
  reply.emplace();
  if (grpc && *grpc != 0) {
    reply->status = *grpc;
    reply->message = message;
  } else if (http != 200 && http != 0) {
    reply->status = status_of_http(http);
    reply->message = fmt::format("unexpected HTTP status code received from server: {}", http);
  } else if (!grpc) {
    reply->status = error_code == NGHTTP2_NO_ERROR ? kInternal : kUnavailable;
    reply->message =
        error_code == NGHTTP2_NO_ERROR
            ? "server closed the stream without sending trailers"
            : fmt::format("the server reset the stream: {}", nghttp2_http2_strerror(error_code));
  } else if (auto body = unframed(answer)) {
    reply->body = *std::move(body);
  } else {
    reply->status = kInternal;
    reply->message = "the server's message is not complete";
  }
}

ssize_t GrpcCall::State::read_request(nghttp2_session*, std::int32_t, std::uint8_t* out,
                                      std::size_t size, std::uint32_t* flags,
                                      nghttp2_data_source* source, void*) {
  State& self = *static_cast<State*>(source->ptr);
  const std::size_t count = std::min(size, self.request.size() - self.sent);
  std::memcpy(out, self.request.data() + self.sent, count);
  self.sent += count;
  if (self.sent == self.request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(count);
}

GrpcCall::GrpcCall(std::string authority, std::string path, std::string user_agent,
                   std::string body)
    : state_(std::make_unique<State>()) {
  State& self = *state_;
  self.request = framed(body);
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, State::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, State::on_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, State::on_close);
  nghttp2_session_client_new(&self.session, callbacks, &self);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry no_push{NGHTTP2_SETTINGS_ENABLE_PUSH, 0};
  nghttp2_submit_settings(self.session, NGHTTP2_FLAG_NONE, &no_push, 1);
  const std::array<nghttp2_nv, 7> headers{
      header(":method", "POST"),
      header(":scheme", "http"),
      header(":path", path),
      header(":authority", authority),
      header("te", "trailers"),
      header("content-type", "application/grpc"),
      header("user-agent", user_agent),
  };
  nghttp2_data_provider provider{};
  provider.source.ptr = &self;
  provider.read_callback = State::read_request;
  self.stream = nghttp2_submit_request(self.session, nullptr, headers.data(), headers.size(),
                                       &provider, nullptr);
}

GrpcCall::~GrpcCall() = default;

void GrpcCall::State::collect() {
  const std::uint8_t* data = nullptr;
  for (ssize_t size = nghttp2_session_mem_send(session, &data); size > 0;
       size = nghttp2_session_mem_send(session, &data)) {
    outgoing.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(size));
  }
}

std::string GrpcCall::output() {
  state_->collect();
  return std::exchange(state_->outgoing, {});
}

Result<void> GrpcCall::input(std::string_view bytes) {
  const ssize_t used = nghttp2_session_mem_recv(
      state_->session, reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  // What is no HTTP/2 makes the library say goodbye; once that is written it wants nothing more.
  state_->collect();
  if (used < 0 || (!state_->reply && nghttp2_session_want_read(state_->session) == 0))
    return make_error(Code::Unavailable, "the peer does not speak HTTP/2");
  return {};
}

const std::optional<GrpcReply>& GrpcCall::reply() const {
  return state_->reply;
}

std::string grpc_status_name(int status) {
  static constexpr std::array<std::string_view, 17> kNames{
      "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
      "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
      "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
      "DataLoss", "Unauthenticated"};
  if (status < 0 || status >= static_cast<int>(kNames.size()))
    return fmt::format("Code({})", status);
  return std::string(kNames[static_cast<std::size_t>(status)]);
}

}  // namespace krater::agent
