#include "agent/process/shim_link.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "agent/process/codec.h"

namespace krater::agent {

Result<std::unique_ptr<ShimLink>> ShimLink::connect(const std::string& directory, FdPoller& poller,
                                                    Loop& loop, Handlers handlers) {
  const Fd base(::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!base) return system_error("open", directory, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // Through the descriptor: the path itself may be longer than a socket address can be.
  std::snprintf(address.sun_path, sizeof address.sun_path, "/proc/self/fd/%d/shim.sock",
                base.get());
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd ||
      ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return make_error(Code::Unavailable, "no shim listens in " + directory);
  }
  return std::make_unique<ShimLink>(std::move(fd), poller, loop, std::move(handlers));
}

ShimLink::ShimLink(Fd fd, FdPoller& poller, Loop& loop, Handlers handlers)
    : fd_(std::move(fd)), poller_(poller), loop_(loop), handlers_(std::move(handlers)) {
  reading_ = poller_.on_readable(fd_.get(), [this] { readable(); });
}

void ShimLink::request(JsonObject message, std::function<void(Result<Json>)> done) {
  if (!fd_) {
    loop_.post(
        [done = std::move(done)] { done(make_error(Code::Unavailable, "the shim is gone")); });
    return;
  }
  const std::int64_t id = ++last_id_;
  message["id"] = id;
  pending_.emplace(id, std::move(done));
  append_json(out_, Json(std::move(message)));
  out_ += '\n';
  flush();
}

void ShimLink::flush() {
  while (!out_.empty()) {
    const ssize_t n = ::send(fd_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      if (!writing_) writing_ = poller_.on_writable(fd_.get(), [this] { flush(); });
      return;
    }
    if (n < 0) break;  // reading finds out
    out_.erase(0, static_cast<std::size_t>(n));
  }
  out_.clear();
  writing_.reset();
}

void ShimLink::readable() {
  const std::weak_ptr<bool> alive(alive_);
  char buffer[65536];
  const ssize_t n = ::recv(fd_.get(), buffer, sizeof buffer, 0);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return close();
  in_.append(buffer, static_cast<std::size_t>(n));
  for (std::size_t end = in_.find('\n'); end != std::string::npos; end = in_.find('\n')) {
    const Result<Json> message = parse_json(std::string_view(in_).substr(0, end));
    in_.erase(0, end + 1);
    if (!message) continue;
    if (find(*message, {"event"}) != nullptr) {
      handlers_.on_event(*message);
    } else if (const auto place = pending_.find(int_at(*message, {"id"}).value_or(0));
               place != pending_.end()) {
      const auto done = std::move(place->second);
      pending_.erase(place);
      const std::optional<Error> failure = reply_error(*message);
      const Json* ok = find(*message, {"ok"});
      done(failure ? Result<Json>(*failure) : Result<Json>(ok != nullptr ? *ok : Json()));
    }
    // A handler may have dropped this link.
    if (alive.expired()) return;
  }
}

void ShimLink::close() {
  reading_.reset();
  writing_.reset();
  fd_.reset();
  const std::weak_ptr<bool> alive(alive_);
  auto pending = std::move(pending_);
  pending_.clear();
  const auto closed = handlers_.on_closed;
  for (auto& [id, done] : pending) done(make_error(Code::Unavailable, "the shim is gone"));
  if (!alive.expired()) closed();
}

}  // namespace krater::agent
