#include "cli/server_process.h"

#include <algorithm>
#include <deque>
#include <future>

#include "api/auth/authenticator.h"
#include "api/auth/authorizer.h"
#include "api/auth/rbac/rbac_authorizer.h"
#include "api/custom/definition_keeper.h"
#include "api/local_client/local_client.h"
#include "api/machinery/custom/custom_schemas.h"
#include "api/machinery/schema.h"
#include "api/registry/registry.h"
#include "api/registry/view.h"
#include "api/server/server.h"
#include "api/webhook/caller.h"
#include "api/webhook/hook_stats.h"
#include "api/webhook/service_endpoints.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/admin.h"
#include "cli/control_plane.h"
#include "cli/document_aging.h"
#include "cli/file_watch.h"
#include "cli/files.h"
#include "cli/guards.h"
#include "cli/hook_metrics.h"
#include "cli/hook_transport.h"
#include "cli/key_reload.h"
#include "cli/loop_thread.h"
#include "cli/queue_metrics.h"
#include "cli/scheduler_gauges.h"
#include "cli/store_metrics.h"
#include "cli/volcano_controller_metrics.h"
#include "cli/volcano_parts.h"
#include "cli/volcano_scheduler_metrics.h"
#include "model/rbac_kinds.h"
#include "runtime/http_client.h"
#include "runtime/io_threads.h"
#include "runtime/system.h"
#include "storage/rocksdb_store.h"

namespace krater::cli {
namespace {

// History older than this is compacted: watches and paged lists may fall behind that far.
constexpr Duration kHistory = std::chrono::minutes(5);
constexpr Duration kMaintenancePeriod = std::chrono::minutes(1);
// Of the open files that the system allows: kept from connections, for the store and the rest.
constexpr std::size_t kOwnFiles = 128;
constexpr const char* kServiceAddress = "10.96.0.1";

struct ListenAddress {
  std::string host;
  std::uint16_t port = 0;
};

Result<ListenAddress> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  const std::optional<std::int64_t> port =
      colon == std::string::npos ? std::nullopt : parse_int(text.substr(colon + 1));
  if (!port || *port < 0 || *port > 65535)
    return make_error(Code::BadRequest, "--listen must be ADDRESS:PORT, not \"" + text + "\"");
  std::string host = text.substr(0, colon);
  if (host.size() > 1 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  return ListenAddress{host.empty() ? "0.0.0.0" : host, static_cast<std::uint16_t>(*port)};
}

bool is_wildcard(const std::string& host) {
  return host == "0.0.0.0" || host == "::";
}

std::vector<std::string> server_names(const std::string& host) {
  std::vector<std::string> out{"localhost",
                               "127.0.0.1",
                               "::1",
                               kServiceAddress,
                               "kubernetes",
                               "kubernetes.default",
                               "kubernetes.default.svc",
                               "kubernetes.default.svc.cluster.local"};
  if (!is_wildcard(host) && host != "127.0.0.1" && host != "localhost" && host != "::1")
    out.push_back(host);
  for (const std::string& own : runtime::own_names()) out.push_back(own);
  return out;
}

}  // namespace

struct ServerProcess::State {
  State(api::Pki authority_and_keys, const ServerOptions& given, ListenAddress address)
      : options(given),
        listen(std::move(address)),
        pki(std::move(authority_and_keys)),
        io(given.threads) {}

  Result<void> open_store();
  Result<void> serve();
  Result<void> start_control_plane();
  void watch_scheduler_conf();
  void maintain();
  Result<void> publish();
  void stop();

  ServerOptions options;
  ListenAddress listen;
  std::string url;
  VolcanoChoices volcano;
  ControllerSelection controllers;
  bool with_scheduler = true;
  Duration signing_duration{};
  runtime::SystemClock clock;
  runtime::SystemRng rng;
  api::Pki pki;
  std::unique_ptr<api::CustomSchemas> schemas;
  std::unique_ptr<storage::Store> store;
  // Where writes that lost a race are prepared again, and what is done once a minute.
  LoopThread chores{"krater-chores"};
  std::unique_ptr<KeyReload> key_reload;    // on chores; null: not asked for
  LoopThread audit_thread{"krater-audit"};  // runs when there is an audit log
  std::unique_ptr<api::Auditing> auditing;  // null: no audit log
  api::HookStats hook_stats;
  std::unique_ptr<api::HookTransport> hook_transport;  // on hooks_thread
  std::unique_ptr<api::HookCaller> hooks;
  std::unique_ptr<api::Registry> registry;
  std::shared_ptr<const api::JwtSigner> signer;
  std::unique_ptr<api::ServiceAccountTokens> tokens;
  std::unique_ptr<api::Authenticator> authenticator;
  std::unique_ptr<api::NodeGraph> graph;
  std::unique_ptr<api::Authorizer> authorizer;
  runtime::IoThreads io;
  LoopThread hooks_thread{"krater-hooks"};  // webhooks are asked here, and what waited goes on
  std::unique_ptr<api::ApiServer> server;
  LoopThread control{"krater-control"}, scheduler{"krater-sched"};
  std::unique_ptr<HttpClient> http;  // on control
  std::unique_ptr<ControlPlane> plane;
  std::unique_ptr<FileWatch> conf_watch;            // on chores; null: no --scheduler-conf
  VolcanoParts shown;                               // on scheduler
  std::deque<std::pair<WallTime, Revision>> marks;  // chores: revisions by time, for compaction
  bool serving = false, stopped = false;
};

Result<void> ServerProcess::State::open_store() {
  storage::OpenOptions open;
  open.path = options.data_dir + "/store";
  open.decode = api::object_decoder();
  TRY_ASSIGN(OpenedSealer opened, open_sealer(options.data_dir, options.guards));
  open.sealer = opened.sealer;
  TRY_ASSIGN(store, storage::open_rocksdb(std::move(open)));
  if (opened.sealer) TRY(refresh_seals(*store, *opened.sealer));
  schemas = api::make_schemas();
  chores.start();
  if (opened.sealer && options.guards.encryption_reload) {
    key_reload = std::make_unique<KeyReload>(
        KeyReloadParts{std::move(opened.path), std::move(opened.text), std::move(opened.sealer),
                       *store, *schemas, chores.loop(), clock});
  }
  api::RegistryDeps deps{*store, *schemas, clock, rng};
  hook_transport =
      make_hook_transport(hooks_thread.loop(), [this](const api::HookService& service) {
        return api::service_endpoints(service, api::View(store->snapshot()));
      });
  hooks = api::make_hook_caller(hooks_thread.loop(), *hook_transport, rng, hook_stats);
  hooks_thread.start();
  deps.hooks = hooks.get();
  deps.admission.joins_gangs = controllers.wants("pg-controller");
  apply(options.volcano, volcano, deps.admission);
  shown.attach(*schemas, volcano, deps.admission);
  deps.offload = [this](std::function<void()> work) { chores.loop().post(std::move(work)); };
  registry = api::make_registry(std::move(deps));
  std::promise<Result<void>> defaults;
  registry->create_defaults([&](Result<void> done) { defaults.set_value(std::move(done)); });
  TRY(defaults.get_future().get());
  return api::load_definitions(*registry, *schemas);
}

Result<void> ServerProcess::State::serve() {
  TRY_ASSIGN(signer, api::JwtSigner::make(pki.service_account_key_pem));
  tokens = std::make_unique<api::ServiceAccountTokens>(signer, api::TokenSettings(), clock, rng);
  const api::ObjectLookup lookup = api::registry_lookup(*registry);
  authenticator = api::make_authenticator(*tokens, lookup, clock);
  graph = std::make_unique<api::NodeGraph>(api::object_history(*registry, {kinds::kPod}));
  authorizer = api::make_rbac_authorizer(
      api::make_built_in_authorizer(lookup, *graph),
      api::object_history(*registry, {kinds::kRole, kinds::kClusterRole, kinds::kRoleBinding,
                                      kinds::kClusterRoleBinding}));

  api::ServerOptions how;
  how.address = listen.host;
  how.port = listen.port;
  how.certificate = pki.server;
  how.client_ca_pem = pki.authority.certificate_pem();
  how.version = kVersion;
  const std::size_t files = runtime::raise_open_files();
  how.limits.connections =
      std::min(how.limits.connections, files > 2 * kOwnFiles ? files - kOwnFiles : files / 2);
  api::ServerParts parts{io.context(), *registry,     *authenticator, *authorizer,
                         *tokens,      pki.authority, clock,          rng};
  parts.health.push_back({"store", [this] { return store->failure(); }});
  parts.component_logs = shown.logs();
  TRY_ASSIGN(auditing, open_audit(options.guards, audit_thread.loop(), clock));
  if (auditing) audit_thread.start();
  parts.auditing = auditing.get();
  how.limits.flow = {static_cast<std::size_t>(options.guards.max_requests),
                     static_cast<std::size_t>(options.guards.max_mutating_requests)};
  server = api::make_api_server(std::move(how), std::move(parts));
  if (key_reload) key_reload->add_metrics(server->metrics());
  add_hook_metrics(server->metrics(), hook_stats);
  add_store_metrics(server->metrics(), *store, *schemas, options.data_dir + "/store");
  TRY(server->start());
  serving = true;
  const std::string host = is_wildcard(listen.host) ? "127.0.0.1" : listen.host;
  url = "https://" + (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" +
        std::to_string(server->port());
  return {};
}

Result<void> ServerProcess::State::start_control_plane() {
  control.start();
  scheduler.start();
  http = runtime::make_http_client(control.loop(), {});
  ControlPlaneParts parts{*registry, clock, rng, control.loop(), *http, scheduler.loop()};
  parts.controllers = controllers;
  parts.with_scheduler = with_scheduler;
  parts.custom = schemas.get();
  parts.scheduler_conf = volcano.scheduler_conf;
  parts.scheduler_configmap = volcano.scheduler_configmap;
  parts.schedule_period = volcano.schedule_period;
  parts.scheduler_names = volcano.scheduler_names;
  parts.takes_default_scheduler = volcano.takes_default_scheduler;
  parts.default_queue = volcano.default_queue;
  parts.node_selector = volcano.node_selector;
  const auto gauges = std::make_shared<SchedulerGauges>();
  add_scheduler_gauges(server->metrics(), gauges);
  parts.scheduler_measured = [gauges](const scheduler::Metrics& now) { gauges->take(now); };
  parts.scheduler_decided = shown.sink_of(kVolcanoScheduler);
  parts.controllers_decided = shown.sink_of(kVolcanoControllers);
  parts.ca_pem = pki.authority.certificate_pem();
  parts.certificates = certificate_duties(pki.authority, *authorizer, signing_duration);
  parts.api_host = is_wildcard(listen.host) ? runtime::primary_address() : listen.host;
  parts.api_port = server->port();
  plane = std::make_unique<ControlPlane>(std::move(parts));
  Result<void> controlling, scheduling;
  control.run_and_wait([&] { controlling = plane->start_controllers(); });
  TRY(std::move(controlling));
  add_queue_metrics(server->metrics(), control.loop(), [this] {
    return plane ? plane->counters() : std::vector<controllers::ControllerCounters>();
  });
  add_volcano_controller_metrics(server->metrics(), control.loop(), [this] {
    return plane ? plane->controller_figures() : controllers::VolcanoControllerFigures();
  });
  if (with_scheduler) {
    add_volcano_scheduler_metrics(server->metrics(), scheduler.loop(), [this] {
      return plane ? plane->scheduler_figures() : std::nullopt;
    });
  }
  scheduler.run_and_wait([&] { scheduling = plane->start_scheduler(); });
  TRY(std::move(scheduling));
  scheduler.run_and_wait([this] {
    shown.start(api::make_local_client(*registry, scheduler.loop(), "system:apiserver"),
                scheduler.loop(), clock, {with_scheduler, controllers.wants_any_of_volcano()});
  });
  watch_scheduler_conf();
  chores.loop().post([this] {
    keep_aging_documents(chores.loop());
    maintain();
    if (key_reload) key_reload->start();
    if (conf_watch) conf_watch->start();
  });
  return {};
}

void ServerProcess::State::watch_scheduler_conf() {
  if (options.volcano.scheduler_conf.empty()) return;
  conf_watch = std::make_unique<FileWatch>(
      options.volcano.scheduler_conf, volcano.scheduler_conf, chores.loop(),
      [this](std::string text) {
        scheduler.loop().post([this, text = std::move(text)] { plane->use_scheduler_conf(text); });
      });
}

// Once a minute on the chores loop.
void ServerProcess::State::maintain() {
  registry->expire_events();
  marks.emplace_back(clock.now(), store->revision());
  while (marks.size() > 1 && marks.front().first + kHistory < clock.now()) {
    const Revision until = marks.front().second;
    marks.pop_front();
    if (until <= store->compacted()) continue;
    if (const Result<void> done = store->compact(until); !done)
      log::warn("store.compact", {{"error", done.error().message}});
  }
  chores.loop().after(kMaintenancePeriod, [this] { maintain(); });
}

Result<void> ServerProcess::State::publish() {
  TRY(write_file(server_url_file(options.data_dir), url + "\n", 0644));
  TRY_ASSIGN(const std::string kubeconfig, api::admin_kubeconfig(pki.authority, url, clock.now()));
  return write_file(options.data_dir + "/kubeconfig", kubeconfig, 0600);
}

void ServerProcess::State::stop() {
  if (std::exchange(stopped, true)) return;
  if (hooks) hooks->give_up();  // or connections would wait for webhooks
  if (serving) {
    std::promise<void> closed;
    server->stop([&] { closed.set_value(); });
    closed.get_future().wait();
  }
  if (plane) {
    scheduler.run_and_wait([this] {
      shown.stop();
      plane->stop_scheduler();
    });
    control.run_and_wait([this] {
      plane->stop_controllers();
      http.reset();
    });
  }
  scheduler.stop();
  control.stop();
  hooks_thread.stop();
  io.stop();
  if (auditing) audit_thread.run_and_wait([this] { auditing->log->flush(); });
  audit_thread.stop();
  if (store) store->stop();
  chores.stop();
  plane.reset();
  server.reset();
  registry.reset();
  hooks.reset();
  hook_transport.reset();
  store.reset();
}

ServerProcess::ServerProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServerProcess::~ServerProcess() {
  stop();
}
void ServerProcess::stop() {
  state_->stop();
}
const std::string& ServerProcess::url() const {
  return state_->url;
}
const api::Pki& ServerProcess::pki() const {
  return state_->pki;
}

Result<std::unique_ptr<ServerProcess>> ServerProcess::start(const ServerOptions& options) {
  TRY_ASSIGN(ListenAddress listen, parse_listen(options.listen));
  TRY(make_directory(options.data_dir, 0700));
  TRY_ASSIGN(VolcanoChoices volcano, read_volcano_options(options.volcano));
  TRY_ASSIGN(ControllerSelection controllers, ControllerSelection::parse(options.controllers));
  const std::optional<Duration> signing = parse_go_duration(options.signing_duration);
  if (!signing || *signing <= Duration(0))
    return make_error(Code::BadRequest,
                      "--cluster-signing-duration must be a time such as 8760h, not \"" +
                          options.signing_duration + "\"");
  const runtime::SystemClock clock;
  TRY_ASSIGN(api::Pki pki, api::load_or_create_pki(options.data_dir + "/pki",
                                                   server_names(listen.host), clock.now()));
  std::unique_ptr<ServerProcess> out(
      new ServerProcess(std::make_unique<State>(std::move(pki), options, std::move(listen))));
  out->state_->volcano = std::move(volcano);
  out->state_->controllers = std::move(controllers);
  out->state_->signing_duration = *signing;
  out->state_->with_scheduler = options.scheduler == SchedulerKind::Volcano;
  TRY(out->state_->open_store());
  TRY(out->state_->serve());
  TRY(out->state_->start_control_plane());
  TRY(out->state_->publish());
  log::info("ready", {{"url", out->url()}, {"kubeconfig", options.data_dir + "/kubeconfig"}});
  return out;
}

}  // namespace krater::cli
