#include "api/server/metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace krater::api {
namespace {

const std::vector<double> kRequestSeconds{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                          1,     1.25,  1.5,  2,   3,   4,   5,   6,
                                          8,     10,    15,   20,  30,  45,  60};
const std::vector<double> kResponseBytes{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9};

std::vector<double> doubling(double first, int count) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i, first *= 2) out.push_back(first);
  return out;
}
const std::vector<double> kAccessSeconds = doubling(0.001, 15);

std::string label_text(const Metrics::Labels& labels, bool dry_run) {
  return fmt::format(
      R"(component="apiserver",{}group="{}",resource="{}",scope="{}",subresource="{}",verb="{}",version="{}")",
      dry_run ? fmt::format(R"(dry_run="{}",)", labels.dry_run) : "", labels.group, labels.resource,
      labels.scope, labels.subresource, labels.verb, labels.version);
}

void head(std::string& out, std::string_view name, std::string_view help, std::string_view type) {
  out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

void sample(std::string& out, std::string_view name, std::string_view labels, double value) {
  out += labels.empty() ? fmt::format("{} {}\n", name, value)
                        : fmt::format("{}{{{}}} {}\n", name, labels, value);
}

std::string label(std::string_view key, std::string_view value) {
  return fmt::format(R"({}="{}")", key, value);
}

bool is_read(const Metrics::Labels& labels) {
  return labels.verb == "GET" || labels.verb == "LIST";
}

}  // namespace

void Metrics::Histogram::add(double value) {
  const auto bucket = std::lower_bound(bounds->begin(), bounds->end(), value);
  ++counts[static_cast<std::size_t>(bucket - bounds->begin())];
  sum += value;
}

// `le` stands where its name has it in the order of labels.
void Metrics::Histogram::write(std::string& out, std::string_view name,
                               const std::string& labels) const {
  const std::size_t before =
      std::min(labels.find("resource="), std::min(labels.find("result="), labels.size()));
  const std::string first = labels.substr(0, before), rest = labels.substr(before);
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    total += counts[i];
    const std::string bound = i < bounds->size() ? fmt::format("{}", (*bounds)[i]) : "+Inf";
    out += fmt::format("{}_bucket{{{}le=\"{}\",{}}} {}\n", name, first, bound, rest, total);
  }
  out += fmt::format("{}_sum{{{}}} {}\n", name, labels, sum);
  out += fmt::format("{}_count{{{}}} {}\n", name, labels, total);
}

void Metrics::count_request(const Labels& labels, int code, std::chrono::nanoseconds took,
                            std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  ++requests_[{labels, code}];
  durations_.try_emplace(labels, kRequestSeconds)
      .first->second.add(std::chrono::duration<double>(took).count());
  if (bytes == 0 || !is_read(labels)) return;
  sizes_.try_emplace(labels, kResponseBytes).first->second.add(static_cast<double>(bytes));
}

void Metrics::count_termination(const Labels& labels, int code) {
  const std::lock_guard lock(mutex_);
  ++terminations_[{labels, code}];
}

Metrics::LongRunning::LongRunning(Metrics& owner, const Labels& labels) {
  const std::lock_guard lock(owner.mutex_);
  Count& count = owner.long_running_[labels];
  if (!count) count = std::make_shared<std::atomic<std::int64_t>>(0);
  count_ = count;
  ++*count_;
}

std::shared_ptr<std::atomic<std::uint64_t>> Metrics::watch_events(std::string_view group,
                                                                  std::string_view version,
                                                                  std::string_view kind) {
  const std::lock_guard lock(mutex_);
  EventCount& count = watch_events_[{std::string(group), std::string(version), std::string(kind)}];
  if (!count) count = std::make_shared<std::atomic<std::uint64_t>>(0);
  return count;
}

void Metrics::count_authentication(std::string_view result, std::string_view user,
                                   std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  ++authentications_[std::string(result)];
  if (!user.empty()) ++users_[std::string(user)];
  authentication_time_.try_emplace(std::string(result), kAccessSeconds)
      .first->second.add(std::chrono::duration<double>(took).count());
}

void Metrics::count_authorization(std::string_view result, std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  ++authorizations_[std::string(result)];
  authorization_time_.try_emplace(std::string(result), kAccessSeconds)
      .first->second.add(std::chrono::duration<double>(took).count());
}

void Metrics::add_gauge(std::string name, std::string help, std::function<double()> value) {
  const std::string type = name.ends_with("_total") ? "counter" : "gauge";
  add_family(std::move(name), std::move(help), type, [value = std::move(value)] {
    return std::vector<Sample>{{"", value()}};
  });
}

void Metrics::add_family(std::string name, std::string help, std::string type,
                         std::function<std::vector<Sample>()> samples) {
  const std::lock_guard lock(mutex_);
  families_.push_back({std::move(name), std::move(help), std::move(type), std::move(samples)});
}

void Metrics::add_refresh(Refresh refresh) {
  const std::lock_guard lock(mutex_);
  refreshes_.push_back(std::move(refresh));
}

std::vector<Metrics::Refresh> Metrics::refreshes() const {
  const std::lock_guard lock(mutex_);
  return refreshes_;
}

void Metrics::write_requests(std::string& out) const {
  const auto counted = [&out](std::string_view name, const auto& counts, bool dry_run) {
    for (const auto& [key, count] : counts) {
      out += fmt::format("{}{{code=\"{}\",{}}} {}\n", name, key.second,
                         label_text(key.first, dry_run), count);
    }
  };
  head(out, "apiserver_request_total",
       "Requests by verb, dry run, group, version, resource, scope, component and HTTP code.",
       "counter");
  counted("apiserver_request_total", requests_, true);
  head(out, "apiserver_request_terminations_total",
       "Requests that were refused to protect the server.", "counter");
  counted("apiserver_request_terminations_total", terminations_, false);
  head(out, "apiserver_request_duration_seconds",
       "Time from the request's head to its answer, of a long-running one to its end.",
       "histogram");
  for (const auto& [labels, histogram] : durations_)
    histogram.write(out, "apiserver_request_duration_seconds", label_text(labels, true));
  head(out, "apiserver_response_sizes", "Bytes of answers to reads.", "histogram");
  for (const auto& [labels, histogram] : sizes_)
    histogram.write(out, "apiserver_response_sizes", label_text(labels, false));
  head(out, "apiserver_longrunning_requests", "Watches, logs and tunnels that are open.", "gauge");
  for (const auto& [labels, count] : long_running_) {
    sample(out, "apiserver_longrunning_requests", label_text(labels, false),
           static_cast<double>(count->load()));
  }
  head(out, "apiserver_watch_events_total", "Events sent to watches.", "counter");
  for (const auto& [key, count] : watch_events_) {
    const auto& [group, version, kind] = key;
    sample(out, "apiserver_watch_events_total",
           fmt::format(R"(group="{}",kind="{}",version="{}")", group, kind, version),
           static_cast<double>(count->load()));
  }
}

void Metrics::write_access(std::string& out) const {
  const auto counted = [&out](std::string_view name, std::string_view help, std::string_view key,
                              const auto& counts) {
    head(out, name, help, "counter");
    for (const auto& [value, count] : counts)
      sample(out, name, label(key, value), static_cast<double>(count));
  };
  const auto timed = [&out](std::string_view name, std::string_view help, const auto& times) {
    head(out, name, help, "histogram");
    for (const auto& [result, histogram] : times)
      histogram.write(out, name, label("result", result));
  };
  counted("authentication_attempts", "Requests by whether their sender was recognised.", "result",
          authentications_);
  counted("authenticated_user_requests", "Recognised requests by the class of their user.",
          "username", users_);
  timed("authentication_duration_seconds", "Time to recognise the sender.", authentication_time_);
  counted("authorization_attempts_total", "Requests by whether they were allowed.", "result",
          authorizations_);
  timed("authorization_duration_seconds", "Time to decide what is allowed.", authorization_time_);
}

std::string Metrics::text() const {
  std::string out;
  std::vector<Family> families;
  {
    const std::lock_guard lock(mutex_);
    write_requests(out);
    write_access(out);
    families = families_;
  }
  head(out, "apiserver_tls_handshake_errors_total", "Connections that ended in their handshake.",
       "counter");
  sample(out, "apiserver_tls_handshake_errors_total", "",
         static_cast<double>(tls_handshake_errors.load()));
  head(out, "krater_connections", "Open HTTPS connections.", "gauge");
  sample(out, "krater_connections", "", static_cast<double>(connections.load()));
  head(out, "krater_watches", "Open watch streams.", "gauge");
  sample(out, "krater_watches", "", static_cast<double>(watches.load()));
  // Others' values are asked for without the lock: no request waits for a directory to be read.
  for (const Family& family : families) {
    head(out, family.name, family.help, family.type);
    for (const Sample& one : family.samples())
      sample(out, family.name + one.suffix, one.labels, one.value);
  }
  return out;
}

}  // namespace krater::api
