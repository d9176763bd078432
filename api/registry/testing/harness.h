// A registry over an in-memory store, for tests: writes are awaited, time stands still until told.
#pragma once

#include <atomic>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/machinery/custom/custom_schemas.h"
#include "api/registry/registry.h"
#include "base/check.h"
#include "base/env.h"
#include "storage/rocksdb_store.h"

namespace krater::api::testing {

class SetClock final : public WallClock {
 public:
  WallTime now() const override { return WallTime(nanos_.load()); }
  void advance(Duration by) { nanos_ += by.count(); }

 private:
  std::atomic<std::int64_t> nanos_{
      WallTime::from_unix_seconds(1'767'225'600).unix_nanos()};  // 2026-01-01T00:00:00Z
};

class Harness {
 public:
  explicit Harness(HookCaller* hooks = nullptr)
      : schemas_(make_schemas()), store_(open()), registry_(make_registry(deps(hooks))) {
    std::promise<Result<void>> done;
    registry_->create_defaults([&](Result<void> result) { done.set_value(std::move(result)); });
    const Result<void> made = done.get_future().get();
    CHECK_MSG(made.has_value(), made ? "" : made.error().message);
  }
  ~Harness() { store_->stop(); }
  Harness(const Harness&) = delete;
  Harness& operator=(const Harness&) = delete;

  Registry& registry() { return *registry_; }
  storage::Store& store() { return *store_; }
  SetClock& clock() { return clock_; }
  const SchemaSet& schemas() const { return *schemas_; }
  CustomSchemas& custom() { return *schemas_; }

  Result<Answer> write(client::Write write, RequestInfo info = {}) {
    std::promise<Result<Answer>> done;
    registry_->write(std::move(write), std::move(info),
                     [&](Result<Answer> answer) { done.set_value(std::move(answer)); });
    return done.get_future().get();
  }
  Result<std::vector<Answer>> transact(std::vector<client::Write> writes, RequestInfo info = {}) {
    std::promise<Result<std::vector<Answer>>> done;
    registry_->transact(
        std::move(writes), std::move(info),
        [&](Result<std::vector<Answer>> answer) { done.set_value(std::move(answer)); });
    return done.get_future().get();
  }

  Result<Answer> create(const Kind& kind, std::string_view json, std::string name_space = "default",
                        RequestInfo info = {}) {
    return write(
        client::CreateWrite{kind, kind.namespaced ? std::move(name_space) : "", parsed(json)},
        std::move(info));
  }
  Result<Answer> update(const Kind& kind, const std::string& name, Json object,
                        std::string subresource = {}, RequestInfo info = {}) {
    return write(client::UpdateWrite{kind, kind.namespaced ? "default" : "", name,
                                     std::move(object), std::move(subresource)},
                 std::move(info));
  }
  Result<Answer> merge(const Kind& kind, const std::string& name, std::string_view patch,
                       std::string subresource = {}, RequestInfo info = {}) {
    return write(
        client::PatchWrite{kind, kind.namespaced ? "default" : "", name, client::PatchType::Merge,
                           parsed(patch), std::move(subresource)},
        std::move(info));
  }
  Result<Answer> remove(const Kind& kind, const std::string& name,
                        client::DeleteWrite options = {}) {
    options.kind = kind;
    options.name_space = kind.namespaced ? "default" : "";
    options.name = name;
    return write(std::move(options));
  }
  // The stored document; an empty object when there is none.
  Json read(const Kind& kind, const std::string& name, std::string_view name_space = "default") {
    const Result<ObjectPtr> object = registry_->get(kind, kind.namespaced ? name_space : "", name);
    return object ? *(*object)->document() : Json(JsonObject());
  }

  static Json parsed(std::string_view json) {
    Result<Json> out = parse_json(json);
    CHECK_MSG(out.has_value(), json);
    return *std::move(out);
  }

 private:
  static std::unique_ptr<storage::Store> open() {
    storage::OpenOptions options;
    options.path = "/registry";
    options.in_memory = true;
    options.decode = object_decoder();
    Result<std::unique_ptr<storage::Store>> store = storage::open_rocksdb(std::move(options));
    CHECK_MSG(store.has_value(), store ? "" : store.error().message);
    return *std::move(store);
  }

  RegistryDeps deps(HookCaller* hooks) {
    RegistryDeps out{*store_, *schemas_, clock_, rng_};
    out.hooks = hooks;
    return out;
  }

  SetClock clock_;
  SeededRng rng_{20260101};
  std::unique_ptr<CustomSchemas> schemas_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<Registry> registry_;
};

inline constexpr std::string_view kPodJson = R"({
  "metadata": {"name": "p", "labels": {"app": "a"}},
  "spec": {"containers": [{"name": "main", "image": "busybox:1.36"}]}})";

inline std::string text_of(const Result<Answer>& answer) {
  return answer ? std::string("ok") : answer.error().message;
}

}  // namespace krater::api::testing
