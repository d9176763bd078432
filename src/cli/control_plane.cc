#include "cli/control_plane.h"

#include <map>
#include <set>

#include "api/custom/definition_keeper.h"
#include "api/local_client/local_client.h"
#include "base/log.h"
#include "cli/extender_calls.h"
#include "cli/ssh_keys.h"
#include "controllers/apps/daemon_set_controller.h"
#include "controllers/apps/deployment_controller.h"
#include "controllers/apps/replica_set_controller.h"
#include "controllers/apps/stateful_set_controller.h"
#include "controllers/batchscheduler/volcano.h"
#include "controllers/certificates/token_cleaner.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "controllers/disruption/disruption_controller.h"
#include "controllers/endpoints/endpoints_controller.h"
#include "controllers/gc/gc_controller.h"
#include "controllers/hypernode/hypernode_controller.h"
#include "controllers/job/job_controller.h"
#include "controllers/jobflow/jobflow_controller.h"
#include "controllers/loop/controller_loop.h"
#include "controllers/namespace/namespace_controller.h"
#include "controllers/node/node_controller.h"
#include "controllers/podgroup/podgroup_controller.h"
#include "controllers/queue/queue_controller.h"
#include "controllers/queue/step.h"
#include "controllers/quota/quota_controller.h"
#include "controllers/raycluster/raycluster_controller.h"
#include "controllers/rayjob/rayjob_controller.h"
#include "controllers/rbac/aggregation.h"
#include "controllers/storage/storage_controllers.h"
#include "controllers/vcjob/vcjob_controller.h"
#include "controllers/volcano_counts/volcano_counts.h"
#include "model/keys.h"
#include "model/queue.h"
#include "scheduler/scheduler.h"

namespace krater::cli {

using controllers::ControllerLoop;
using controllers::Enqueue;

// One client an identity: what each may do and what the audit names stands in its user name.
struct ControlPlane::Controllers {
  explicit Controllers(const ControlPlaneParts& parts) : parts_(parts) {
    add_kubernetes();
    add_volcano();
    add_ray();
    counts.observe(loop, {parts_.controllers.wants("vcjob-controller"),
                          parts_.controllers.wants("jobflow-controller"),
                          parts_.controllers.wants("queue-controller")});
  }

  ControllerLoop::Options options() {
    ControllerLoop::Options out;
    out.wanted = [this](std::string_view controller) {
      offered.insert(short_controller_name(controller));
      return parts_.controllers.wants(controller);
    };
    if (parts_.controllers_decided) {
      out.log_of = [this](std::string_view controller) {
        controllers::DecisionLog log;
        if (is_of_volcano(controller)) {
          log = [this](std::string line) {
            parts_.controllers_decided(parts_.clock.now(), std::move(line));
          };
        }
        return log;
      };
    }
    return out;
  }

  // Users' kinds come and go; whoever looks at all kinds is told.
  void keep_definitions() {
    if (parts_.custom == nullptr) return;
    api::DefinitionKeeperDeps deps{parts_.registry, *parts_.custom, *as("system:apiserver"),
                                   parts_.control, parts_.clock};
    deps.published = [this] { follow_kinds(); };
    keeper = std::make_unique<api::DefinitionKeeper>(std::move(deps));
    keeper->start();
  }

  static std::map<std::string, Kind> custom_kinds(const api::SchemaSet& schemas) {
    std::map<std::string, Kind> out;
    for (const api::KindSchemaPtr& schema : schemas.all()) {
      if (schema->storage_version() && api::as_custom(*schema) != nullptr)
        out.emplace(schema->kind().resource(), schema->kind());
    }
    return out;
  }

  void follow_kinds() {
    std::map<std::string, Kind> now = custom_kinds(*parts_.custom);
    for (const auto& [resource, kind] : custom) {
      const auto still = now.find(resource);
      if (still == now.end() || !is_version_of(still->second, kind)) forget_kind(kind);
    }
    for (const auto& [resource, kind] : now) {
      const auto before = custom.find(resource);
      const bool known = before != custom.end() && is_version_of(before->second, kind);
      if (!known) {
        meet_kind(kind);
      } else if (before->second != kind) {
        loop.follow_kind(kind);
        if (collector != nullptr) collector->add_kind(kind);
        if (kind.namespaced && terminator != nullptr) terminator->add_kind(kind);
      }
    }
    custom = std::move(now);
  }

  static bool is_version_of(const Kind& a, const Kind& b) {
    return a.kind == b.kind && a.namespaced == b.namespaced;
  }

  void meet_kind(const Kind& kind) {
    if (collector != nullptr) loop.add_interest(collector->name(), collector->add_kind(kind));
    if (!kind.namespaced) return;
    if (terminator != nullptr) loop.add_interest(terminator->name(), terminator->add_kind(kind));
    if (counter != nullptr) loop.add_interest(counter->name(), counter->add_kind(kind));
  }

  void forget_kind(const Kind& kind) {
    loop.drop_kind(kind);
    if (collector != nullptr) collector->remove_kind(kind);
    if (terminator != nullptr) terminator->remove_kind(kind);
  }

  client::ObjectClient* as(const std::string& user) {
    clients.push_back(api::make_local_client(parts_.registry, parts_.control, user));
    return clients.back().get();
  }

  void add_kubernetes() {
    const std::string prefix = "system:serviceaccount:kube-system:";
    custom = custom_kinds(parts_.registry.schemas());
    std::vector<Kind> kinds, collected, scaled;
    for (const api::KindSchemaPtr& schema : parts_.registry.schemas().all()) {
      if (!schema->storage_version()) continue;
      kinds.push_back(schema->kind());
      // The size of users' objects may stand anywhere.
      if (schema->subresources().scale && api::as_custom(*schema) == nullptr)
        scaled.push_back(schema->kind());
      if (schema->kind().kind != "Event") collected.push_back(schema->kind());
    }
    loop.add(controllers::make_job_controller(), as(prefix + "job-controller"));
    add_workloads(prefix);
    add_storage(prefix);
    loop.add(controllers::make_disruption_controller(std::move(scaled)),
             as(prefix + "disruption-controller"));
    std::vector<Kind> counted = collected;
    std::erase_if(counted, [](const Kind& kind) { return !kind.namespaced; });
    auto quotas = controllers::make_quota_controller(counted);
    if (parts_.controllers.wants(quotas->name())) counter = quotas.get();
    loop.add(std::move(quotas), as(prefix + "resourcequota-controller"));
    client::ObjectClient* gc = as(prefix + "generic-garbage-collector");
    loop.add(
        [&](Enqueue wake) {
          auto made = controllers::make_gc_controller({*gc, std::move(wake), collected});
          if (parts_.controllers.wants(made->name())) collector = made.get();
          return made;
        },
        gc);
    client::ObjectClient* namespaces = as(prefix + "namespace-controller");
    loop.add(
        [&](Enqueue wake) {
          auto made = controllers::make_namespace_controller({*namespaces, std::move(wake), kinds});
          if (parts_.controllers.wants(made->name())) terminator = made.get();
          return made;
        },
        namespaces);
    loop.add(controllers::make_namespace_defaults_controller(parts_.ca_pem),
             as(prefix + "service-account-controller"));
    loop.add(controllers::make_node_controller(), as(prefix + "node-controller"));
    loop.add(controllers::make_pod_gc_controller(), as(prefix + "pod-garbage-collector"));
    loop.add(controllers::make_endpoints_controller(), as(prefix + "endpoint-controller"));
    loop.add(controllers::make_role_aggregation_controller(),
             as(prefix + "clusterrole-aggregation-controller"));
    loop.add(controllers::make_token_cleaner(), as(prefix + "token-cleaner"));
    if (parts_.certificates.signer.sign) {
      client::ObjectClient* certificates = as(prefix + "certificate-controller");
      loop.add(controllers::make_certificate_approver(parts_.certificates.approver), certificates);
      loop.add(controllers::make_certificate_signer(parts_.certificates.signer), certificates);
      loop.add(controllers::make_certificate_cleaner(parts_.certificates.end_of), certificates);
    }
    if (parts_.api_port != 0) {
      loop.add(controllers::make_api_service_controller({parts_.api_host, parts_.api_port}),
               as("system:apiserver"));
    }
  }

  void add_volcano() {
    client::ObjectClient* volcano = as("system:serviceaccount:volcano-system:volcano-controllers");
    loop.add(controllers::make_queue_controller(parts_.default_queue), volcano);
    loop.add(controllers::make_pod_group_controller(
                 {parts_.scheduler_names, [this](const Kind& kind) { return is_served(kind); },
                  parts_.default_queue}),
             volcano);
    loop.add(
        [&](Enqueue wake) {
          controllers::VolcanoJobDeps deps;
          deps.make_ssh_key = [this](std::function<void(controllers::vcjob::SshKey)> done) {
            ssh_keys.make([done](runtime::SshKeyPair pair) {
              done({std::move(pair.private_pem), std::move(pair.public_line)});
            });
          };
          deps.enqueue = std::move(wake);
          deps.served = [this](const Kind& kind) { return is_served(kind); };
          return controllers::make_volcano_job_controller(std::move(deps));
        },
        volcano);
    loop.add(controllers::make_job_flow_controller(), volcano);
    loop.add(controllers::make_job_template_controller(), volcano);
    loop.add(controllers::make_volcano_cron_job_controller(), volcano);
    loop.add(controllers::make_hyper_node_controller(), volcano);
  }

  bool is_served(const Kind& kind) const {
    for (const api::KindSchemaPtr& schema : parts_.registry.schemas().all()) {
      if (schema->kind().resource() == kind.resource()) return true;
    }
    return false;
  }

  void add_workloads(const std::string& prefix) {
    loop.add(controllers::make_replica_set_controller(), as(prefix + "replicaset-controller"));
    loop.add(controllers::make_replication_controller(), as(prefix + "replication-controller"));
    loop.add(controllers::make_deployment_controller(), as(prefix + "deployment-controller"));
    loop.add(controllers::make_stateful_set_controller(), as(prefix + "statefulset-controller"));
    loop.add(controllers::make_daemon_set_controller(), as(prefix + "daemon-set-controller"));
    loop.add(controllers::make_cron_job_controller(), as(prefix + "cronjob-controller"));
  }

  void add_storage(const std::string& prefix) {
    client::ObjectClient* binder = as(prefix + "persistent-volume-binder");
    loop.add(controllers::make_claim_controller(), binder);
    loop.add(controllers::make_volume_controller(), binder);
    loop.add(controllers::make_ephemeral_volume_controller(),
             as(prefix + "ephemeral-volume-controller"));
  }

  void add_ray() {
    client::ObjectClient* operator_client =
        as("system:serviceaccount:kube-system:kuberay-operator");
    loop.add(controllers::make_raycluster_controller({*gangs}), operator_client);
    loop.add(
        [&](Enqueue wake) {
          controllers::RayJobDeps deps{*gangs, parts_.http, parts_.control, parts_.clock,
                                       std::move(wake)};
          return controllers::make_rayjob_controller(std::move(deps));
        },
        operator_client);
  }

  const ControlPlaneParts& parts_;
  SshKeys ssh_keys{parts_.control};
  std::vector<std::unique_ptr<client::ObjectClient>> clients;
  std::unique_ptr<controllers::BatchScheduler> gangs = controllers::make_volcano_batch_scheduler(
      parts_.scheduler_names.front(), parts_.default_queue);
  std::unique_ptr<client::ObjectClient> reader =
      api::make_local_client(parts_.registry, parts_.control, "system:kube-controller-manager");
  // Owned by the loop; null: not to run.
  controllers::GarbageCollector* collector = nullptr;
  controllers::NamespaceController* terminator = nullptr;
  controllers::QuotaController* counter = nullptr;
  controllers::VolcanoCounts counts;
  std::set<std::string> offered;  // short names of all controllers, also those not wanted
  ControllerLoop loop{parts_.control, parts_.clock, *reader, options()};
  std::map<std::string, Kind> custom;  // users' kinds that the controllers know, by resource
  std::unique_ptr<api::DefinitionKeeper> keeper;
};

struct ControlPlane::Scheduling {
  explicit Scheduling(const ControlPlaneParts& parts)
      : client(api::make_local_client(parts.registry, parts.scheduler,
                                      "system:serviceaccount:volcano-system:volcano-scheduler")),
        scheduler({*client, parts.scheduler, parts.clock, parts.rng, options_of(parts),
                   parts.scheduler_measured, parts.scheduler_decided, &extender}) {}

  static scheduler::Options options_of(const ControlPlaneParts& parts) {
    scheduler::Options out;
    out.config_text = parts.scheduler_conf;
    out.schedule_period = parts.schedule_period;
    out.scheduler_names = {parts.scheduler_names.begin(), parts.scheduler_names.end()};
    if (parts.takes_default_scheduler) out.scheduler_names.insert("default-scheduler");
    out.default_queue = QueueName(parts.default_queue);
    out.node_selector = parts.node_selector;
    if (parts.controllers.wants("pg-controller"))
      out.grouped_schedulers = {parts.scheduler_names.begin(), parts.scheduler_names.end()};
    if (parts.scheduler_configmap.size() == 3) {
      out.config_namespace = parts.scheduler_configmap[0];
      out.config_name = parts.scheduler_configmap[1];
      out.config_key = parts.scheduler_configmap[2];
    }
    out.served = [&registry = parts.registry](const Kind& kind) {
      for (const api::KindSchemaPtr& schema : registry.schemas().all()) {
        if (schema->kind().resource() == kind.resource()) return true;
      }
      return false;
    };
    return out;
  }

  // Where our queue controller does not run: Volcano's leaves the first two to its scheduler.
  void make_first_queues(std::string_view default_queue) {
    for (const std::string_view name : {keys::kRootQueue, default_queue}) {
      client->write(client::CreateWrite{kinds::kQueue, "", controllers::initial_queue(name)},
                    [](const Result<ObjectPtr>& made) {
                      if (!made && made.error().code != Code::AlreadyExists)
                        log::warn("scheduler.first_queue", {{"error", made.error().message}});
                    });
    }
  }

  ExtenderCalls extender;
  std::unique_ptr<client::ObjectClient> client;
  scheduler::Scheduler scheduler;
};

ControlPlane::ControlPlane(ControlPlaneParts parts) : parts_(std::move(parts)) {}
ControlPlane::~ControlPlane() = default;

Result<void> ControlPlane::start_controllers() {
  controllers_ = std::make_unique<Controllers>(parts_);
  TRY(parts_.controllers.check(controllers_->offered));
  controllers_->loop.start();
  controllers_->keep_definitions();
  return {};
}

void ControlPlane::stop_controllers() {
  if (controllers_) {
    controllers_->keeper.reset();
    controllers_->loop.stop();
  }
  controllers_.reset();
}

std::vector<controllers::ControllerCounters> ControlPlane::counters() const {
  return controllers_ ? controllers_->loop.counters()
                      : std::vector<controllers::ControllerCounters>();
}

controllers::VolcanoControllerFigures ControlPlane::controller_figures() const {
  return controllers_ ? controllers_->counts.figures() : controllers::VolcanoControllerFigures();
}

Result<void> ControlPlane::start_scheduler() {
  if (!parts_.with_scheduler) return {};
  scheduling_ = std::make_unique<Scheduling>(parts_);
  if (!parts_.controllers.wants("queue-controller"))
    scheduling_->make_first_queues(parts_.default_queue);
  return scheduling_->scheduler.start();
}

void ControlPlane::use_scheduler_conf(const std::string& text) {
  if (scheduling_) scheduling_->scheduler.use_base_config(text);
}

void ControlPlane::stop_scheduler() {
  if (scheduling_) scheduling_->scheduler.stop();
  scheduling_.reset();
}

std::optional<scheduler::VolcanoFigures> ControlPlane::scheduler_figures() const {
  if (!scheduling_) return std::nullopt;
  return scheduling_->scheduler.volcano_figures();
}

}  // namespace krater::cli
