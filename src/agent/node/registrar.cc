#include "agent/node/registrar.h"

#include "base/log.h"

namespace krater::agent {
namespace {

constexpr Duration kLeaseBeat = std::chrono::seconds(10);
constexpr Duration kStatusBeat = std::chrono::minutes(5);
constexpr Duration kRetry = std::chrono::seconds(1);
constexpr std::string_view kNodeUsage = "krater.io/node-usage";

}  // namespace

Registrar::~Registrar() {
  for (const Loop::TimerId timer : {lease_timer_, status_timer_, retry_timer_}) loop_.cancel(timer);
}

void Registrar::start(Duration lease_offset) {
  look();
  create();
  lease_timer_ = loop_.after(lease_offset, [this] { renew(); });
}

void Registrar::again(Duration delay, void (Registrar::*step)()) {
  loop_.cancel(retry_timer_);
  retry_timer_ = loop_.after(delay, [this, step] {
    retry_timer_ = 0;
    (this->*step)();
  });
}

void Registrar::create() {
  registering_ = true;
  client_.write(client::CreateWrite{kinds::kNode, {}, node_object(facts_, info_)},
                guarded([this](Result<ObjectPtr> made) {
                  if (!made && made.error().code == Code::AlreadyExists) return fetch();
                  registering_ = false;
                  if (!made) {
                    log::warn("agent.register_failed",
                              {{"node", facts_.name}, {"why", made.error().message}});
                    return again(kRetry, &Registrar::create);
                  }
                  log::info("agent.registered", {{"node", facts_.name}});
                  node_ = *made;
                  write_status();
                }));
}

void Registrar::fetch() {
  client_.get(kinds::kNode, {}, facts_.name, guarded([this](Result<ObjectPtr> found) {
                registering_ = false;
                if (!found) return again(kRetry, &Registrar::create);
                node_ = *found;
                label();
                write_status();
              }));
}

// A node that comes back keeps what users put on it, and corrects what it says of itself.
void Registrar::label() {
  const Labels wanted = node_labels(facts_, info_);
  JsonObject missing;
  for (const auto& [key, value] : wanted) {
    if (node_->label(key) != value) missing[key] = value;
  }
  JsonObject unsaid;
  for (const auto& [key, value] : node_annotations(info_)) {
    if (ObjectView(node_).annotation(key) != value) unsaid[key] = value;
  }
  if (missing.empty() && unsaid.empty()) return;
  client_.write(
      client::PatchWrite{kinds::kNode,
                         {},
                         facts_.name,
                         client::PatchType::Merge,
                         JsonObject{{"metadata", JsonObject{{"labels", std::move(missing)},
                                                            {"annotations", std::move(unsaid)}}}}},
      guarded([this](Result<ObjectPtr> done) {
        if (!done)
          log::warn("agent.label_failed", {{"node", facts_.name}, {"why", done.error().message}});
      }));
}

void Registrar::write_status() {
  if (status_in_flight_ || node_ == nullptr) return;
  status_in_flight_ = true;
  const std::shared_ptr<const Json> current = node_->document();
  Json patch{{"status", node_status(facts_, info_, pressures_, current.get(), clock_.now())}};
  client_.write(
      client::PatchWrite{
          kinds::kNode, {}, facts_.name, client::PatchType::Merge, std::move(patch), "status"},
      guarded([this](Result<ObjectPtr> done) {
        status_in_flight_ = false;
        loop_.cancel(status_timer_);
        const Duration next = done ? kStatusBeat : kRetry;
        status_timer_ = loop_.after(next, [this] { write_status(); });
        if (done) {
          seen(*done);
        } else if (done.error().code == Code::NotFound) {
          removed();
        } else {
          log::warn("agent.node_status_failed",
                    {{"node", facts_.name}, {"why", done.error().message}});
        }
      }));
}

void Registrar::seen(ObjectPtr node) {
  if (node_ && node_->uid() == node->uid() && node_->revision() >= node->revision()) return;
  node_ = std::move(node);
  if (registering_ || status_in_flight_) return;
  // Somebody (a node controller after a silence) thinks otherwise of this node.
  if (node_needs_status(facts_, info_, pressures_, *node_->document())) write_status();
}

void Registrar::removed() {
  if (registering_) return;
  node_.reset();
  again(kRetry, &Registrar::create);
}

void Registrar::renew() {
  lease_timer_ = loop_.after(kLeaseBeat, [this] { renew(); });
  look();
  Json patch{{"spec",
              {{"holderIdentity", facts_.name},
               {"leaseDurationSeconds", kLeaseSeconds},
               {"renewTime", to_rfc3339_micro(clock_.now())}}}};
  client_.write(
      client::PatchWrite{kinds::kLease, std::string(kLeaseNamespace), facts_.name,
                         client::PatchType::Merge, std::move(patch)},
      guarded([this](Result<ObjectPtr> done) {
        if (done) return;
        if (done.error().code == Code::NotFound) return create_lease();
        log::warn("agent.lease_failed", {{"node", facts_.name}, {"why", done.error().message}});
      }));
}

void Registrar::look() {
  if (figures_ == nullptr) return;
  tell_usage();
  const Pressures before = pressures_;
  pressures_ = machine_.observe(figures_->read(), clock_.now());
  if (pressures_ == before) return;
  tell(before.memory, pressures_.memory, "NodeHasInsufficientMemory", "NodeHasSufficientMemory");
  tell(before.disk, pressures_.disk, "NodeHasDiskPressure", "NodeHasNoDiskPressure");
  tell(before.pids, pressures_.pids, "NodeHasInsufficientPID", "NodeHasSufficientPID");
  write_status();
}

void Registrar::tell_usage() {
  const std::optional<UsageSample> sample = figures_->usage();
  if (!sample) return;
  usage_.add(*sample, clock_.now());
  if (node_ == nullptr) return;
  const std::optional<MachineUsage> news = usage_.news(clock_.now());
  if (!news) return;
  JsonObject annotations;
  annotations[kNodeUsage] = usage_text(*news, clock_.now());
  Json patch(JsonObject{{"metadata", JsonObject{{"annotations", std::move(annotations)}}}});
  client_.write(
      client::PatchWrite{kinds::kNode, {}, facts_.name, client::PatchType::Merge, std::move(patch)},
      guarded([this](Result<ObjectPtr> done) {
        // Told again at the next turn anyway.
        if (!done)
          log::warn("agent.usage_failed", {{"node", facts_.name}, {"why", done.error().message}});
      }));
}

void Registrar::tell(bool before, bool now, std::string_view begins, std::string_view ends) {
  if (before == now) return;
  const std::string what(now ? begins : ends);
  log::warn("agent.pressure", {{"node", facts_.name}, {"status", what}});
  if (node_ == nullptr) return;
  events_.record(
      *node_, {client::EventType::Normal, what, "Node " + facts_.name + " status is now: " + what});
}

void Registrar::create_lease() {
  client_.write(
      client::CreateWrite{kinds::kLease, std::string(kLeaseNamespace),
                          lease_object(facts_, node_.get(), clock_.now())},
      guarded([this](Result<ObjectPtr> done) {
        if (done || done.error().code == Code::AlreadyExists) return;
        log::warn("agent.lease_failed", {{"node", facts_.name}, {"why", done.error().message}});
        // The namespace may not be there yet: sooner than the beat.
        loop_.after(kRetry, guarded([this] { create_lease(); }));
      }));
}

}  // namespace krater::agent
