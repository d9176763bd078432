#include "controllers/rayjob/dashboard.h"

#include "base/log.h"

namespace krater::controllers {
namespace {

constexpr Duration kTimeout = 2s;
constexpr std::size_t kLargestReply = 1 << 20;
constexpr int kStopTries = 3;
constexpr Duration kStopPause = 1s;

// A job id is put into a path: nothing in it may change the path's meaning.
std::string path_escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

HttpRequest request(std::string method, const std::string& address, const std::string& path) {
  HttpRequest out{std::move(method), "http://" + address + path};
  out.timeout = kTimeout;
  out.max_reply_bytes = kLargestReply;
  return out;
}

// Milliseconds since 1970; 0 means "not yet".
std::optional<WallTime> ray_time(const Json& body, std::string_view field) {
  const auto millis = int_at(body, {field});
  if (!millis || *millis <= 0) return std::nullopt;
  return WallTime(*millis * 1'000'000);
}

DashboardAnswer problem(std::string message, WallTime asked) {
  DashboardAnswer out;
  out.asked = asked;
  out.message = std::move(message);
  return out;
}

}  // namespace

DashboardAnswer read_job_answer(const Result<HttpResponse>& response, WallTime asked) {
  if (!response) return problem(response.error().message, asked);
  if (response->status == 404) {
    DashboardAnswer out;
    out.what = DashboardAnswer::What::NoSuchJob;
    out.asked = asked;
    return out;
  }
  if (response->status / 100 != 2)
    return problem("HTTP status " + std::to_string(response->status), asked);
  const Result<Json> body = parse_json(response->body);
  if (!body || !body->is_object()) return problem("the reply is no JSON object", asked);
  DashboardAnswer out;
  out.asked = asked;
  out.status = text_at(*body, {"status"});
  if (out.status.empty()) return problem("the reply names no status", asked);
  out.what = DashboardAnswer::What::Job;
  out.message = text_at(*body, {"message"});
  out.start = ray_time(*body, "start_time");
  out.end = ray_time(*body, "end_time");
  return out;
}

Dashboard::~Dashboard() {
  for (auto& [key, poll] : polls_) loop_.cancel(poll.timer);
  for (auto& [key, stop] : stops_) loop_.cancel(stop.timer);
}

void Dashboard::follow(const ObjectKey& key, Target target) {
  Poll& poll = polls_[key];
  const bool same_job = poll.target.job_id == target.job_id &&
                        poll.target.address == target.address && poll.timer + poll.asking > 0;
  const bool sooner = target.every < poll.target.every;
  poll.target = std::move(target);
  if (!same_job) {
    poll.last.reset();
    poll.exchange.reset();
    poll.asking = false;
    loop_.cancel(std::exchange(poll.timer, 0));
    return ask(key);
  }
  if (sooner && !poll.asking && poll.due - loop_.now() > poll.target.every) {
    loop_.cancel(poll.timer);
    ask_after(key, poll.target.every);
  }
}

void Dashboard::unfollow(const ObjectKey& key) {
  const auto place = polls_.find(key);
  if (place == polls_.end()) return;
  loop_.cancel(place->second.timer);
  polls_.erase(place);
}

std::optional<DashboardAnswer> Dashboard::last(const ObjectKey& key) const {
  const auto place = polls_.find(key);
  return place == polls_.end() ? std::nullopt : place->second.last;
}

void Dashboard::ask(const ObjectKey& key) {
  Poll& poll = polls_.at(key);
  poll.timer = 0;
  const WallTime asked = clock_.now();
  poll.asking = true;
  if (!poll.target.address) {
    // Answered like any other question, later, so that followers see one way of being told.
    poll.timer = loop_.after(0s, [this, key, asked] {
      answered(key, problem("the head of the RayCluster has no address", asked));
    });
    return;
  }
  poll.exchange = http_.send(
      request("GET", *poll.target.address, "/api/jobs/" + path_escaped(poll.target.job_id)),
      [this, key, asked](const Result<HttpResponse>& response) {
        answered(key, read_job_answer(response, asked));
      });
}

void Dashboard::ask_after(const ObjectKey& key, Duration delay) {
  Poll& poll = polls_.at(key);
  poll.due = loop_.now() + delay;
  poll.timer = loop_.after(delay, [this, key] { ask(key); });
}

void Dashboard::answered(const ObjectKey& key, DashboardAnswer answer) {
  Poll& poll = polls_.at(key);
  poll.asking = false;
  const bool news = !poll.last || !poll.last->same_news(answer);
  // Close to the end the time of an answer matters as well: what was true before the submitter
  // ended is no proof.
  const bool telling = news || poll.target.every < 1s;
  if (news) {
    log::debug("dashboard.answer",
               {{"job", key.text()}, {"status", answer.status}, {"message", answer.message}});
  }
  poll.last = std::move(answer);
  ask_after(key, poll.target.every);
  if (telling) wake_(key);
}

void Dashboard::stop_job(const ObjectKey& key, const std::string& address,
                         const std::string& job_id) {
  const auto [place, is_new] = stops_.try_emplace(key);
  if (!is_new) return;
  place->second.address = address;
  place->second.job_id = job_id;
  try_stop(key);
}

void Dashboard::try_stop(const ObjectKey& key) {
  Stop& stop = stops_.at(key);
  stop.timer = 0;
  ++stop.tries;
  stop.exchange = http_.send(
      request("POST", stop.address, "/api/jobs/" + path_escaped(stop.job_id) + "/stop"),
      [this, key](const Result<HttpResponse>& response) { stop_answered(key, response); });
}

void Dashboard::stop_answered(const ObjectKey& key, const Result<HttpResponse>& response) {
  Stop& stop = stops_.at(key);
  // 404: there is nothing to stop.
  const bool settled = response && (response->status / 100 == 2 || response->status == 404);
  if (!settled && stop.tries < kStopTries) {
    stop.timer = loop_.after(kStopPause, [this, key] { try_stop(key); });
    return;
  }
  if (!settled) {
    log::warn("dashboard.stop_failed",
              {{"job", key.text()},
               {"why", response ? std::to_string(response->status) : response.error().message}});
  }
  stop.over = true;
  wake_(key);
}

StopCall Dashboard::stop_state(const ObjectKey& key) const {
  const auto place = stops_.find(key);
  if (place == stops_.end()) return StopCall::NotAsked;
  return place->second.over ? StopCall::Over : StopCall::UnderWay;
}

void Dashboard::forget(const ObjectKey& key) {
  unfollow(key);
  const auto place = stops_.find(key);
  if (place == stops_.end()) return;
  loop_.cancel(place->second.timer);
  stops_.erase(place);
}

}  // namespace krater::controllers
