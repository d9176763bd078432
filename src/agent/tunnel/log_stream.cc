#include "agent/tunnel/log_stream.h"

namespace krater::agent {
namespace {

LogOptions options_of(const tunnel::LogRequest& request, WallTime now) {
  LogOptions out;
  out.timestamps = request.timestamps;
  out.tail_lines = request.tail_lines;
  out.limit_bytes = request.limit_bytes;
  out.since = request.since_time;
  if (request.since_seconds) out.since = now - std::chrono::seconds(*request.since_seconds);
  return out;
}

}  // namespace

LogStream::LogStream(std::uint32_t id, tunnel::LogRequest request, LogLookup lookup, WallTime now,
                     std::function<void(tunnel::Frame)> send)
    : id_(id),
      request_(std::move(request)),
      lookup_(std::move(lookup)),
      options_(options_of(request_, now)),
      send_(std::move(send)) {}

LogStream::Next LogStream::end(const std::optional<Error>& failure) {
  send_(tunnel::end_frame(id_, failure));
  return Next::Ended;
}

bool LogStream::open(const LogPlace& place) {
  send_({tunnel::FrameType::Accept, id_, {}});
  attempt_ = place.attempt;
  if (place.directory.empty()) return false;
  reader_ = std::make_unique<LogReader>(place.directory, place.attempt, options_);
  return true;
}

LogStream::Next LogStream::step() {
  // Before reading: what is written after "not running" was seen would be missed the other way
  // round.
  const Result<LogPlace> place = lookup_(request_);
  if (!reader_) {
    if (!place) return end(place.error());
    if (!open(*place)) return end({});
  }
  const bool more = request_.follow && place && place->running && place->attempt == attempt_;
  for (;;) {
    if (unsent_.empty()) {
      Result<std::string> text = reader_->read(tunnel::kMaxData);
      if (!text) return end(text.error());
      unsent_ = *std::move(text);
      if (unsent_.empty()) return more && !reader_->exhausted() ? Next::AgainSoon : end({});
    }
    const std::size_t allowed = window_.take(unsent_.size());
    if (allowed == 0) return Next::WaitForWindow;
    send_(tunnel::data_frame(id_, tunnel::Channel::Stdout,
                             std::string_view(unsent_).substr(0, allowed)));
    unsent_.erase(0, allowed);
  }
}

}  // namespace krater::agent
