#include "cli/agent_process.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <future>
#include <optional>

#include "agent/agent.h"
#include "agent/content/content_builder.h"
#include "agent/content/volume_keeper.h"
#include "agent/identity/certificate_keeper.h"
#include "agent/io/asio_poller.h"
#include "agent/net/asio_grpc_health.h"
#include "agent/net/asio_tcp_dialer.h"
#include "agent/net/cni_config.h"
#include "agent/net/node_network.h"
#include "agent/process/process_runtime.h"
#include "agent/simulated/simulated_runtime.h"
#include "agent/tunnel/tunnel_client.h"
#include "api/auth/certificate_request.h"
#include "base/check.h"
#include "base/log.h"
#include "base/strings.h"
#include "cli/document_aging.h"
#include "cli/files.h"
#include "cli/loop_thread.h"
#include "cli/machine.h"
#include "cli/node_options.h"
#include "client/http_object_client.h"
#include "runtime/http_client.h"
#include "runtime/system.h"

namespace krater::cli {
namespace {

constexpr const char* kCniDirectory = "/usr/lib/cni";
// Addresses handed out on this machine, by whichever agent: two of them never give the same one.
constexpr const char* kAddressDirectory = "/run/krater/cni";

// What `--stop-pods` may take before the agent ends without having seen the last of them.
constexpr std::chrono::seconds kEndPods{20};

struct ServerAddress {
  std::string host;
  std::uint16_t port = 443;
};

// Of "https://host:port", which the agent has used already.
ServerAddress address_of(std::string_view url) {
  if (const std::size_t scheme = url.find("://"); scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find('/'));
  ServerAddress out;
  const std::size_t colon = url.rfind(':');
  if (colon != std::string_view::npos && url.find(']', colon) == std::string_view::npos) {
    out.port = static_cast<std::uint16_t>(parse_int(url.substr(colon + 1)).value_or(443));
    url = url.substr(0, colon);
  }
  if (url.size() > 1 && url.front() == '[' && url.back() == ']') url = url.substr(1, url.size() - 2);
  out.host = std::string(url);
  return out;
}

// What the process runtime can do here: all of it as root with the plugins installed.
struct PodNetwork {
  bool isolate = false;
  std::optional<agent::Subnet> subnet;
};

Result<PodNetwork> pod_network(const AgentOptions& options) {
  PodNetwork out;
  out.isolate = ::geteuid() == 0;
  if (!out.isolate) {
    log::warn("agent.not_root", {{"effect", "pods share this machine's processes, network and files"}});
    return out;
  }
  if (!exists(std::string(kCniDirectory) + "/bridge")) {
    log::warn("agent.no_cni", {{"effect", "pods have no network of their own"}, {"install", "containernetworking-plugins"}});
    return out;
  }
  const std::optional<agent::Subnet> wanted = agent::Subnet::parse(options.pod_cidr);
  CHECK(wanted.has_value());  // see check_node_options
  out.subnet = agent::choose_subnet(*wanted, agent::routed_subnets(read_file("/proc/net/route").value_or(std::string())));
  if (!out.subnet) return make_error(Code::Unavailable, "no free network for pods beside this machine's routes");
  return out;
}

}  // namespace

struct AgentProcess::State {
  State(const AgentOptions& given, const NodeCredentials& who) : options(given), credentials(who) {}

  Result<void> prepare();
  Result<void> compose();  // on the loop
  Result<void> compose_process(const std::vector<agent::NodeFacts>& nodes);
  std::optional<agent::ForwarderSettings> api_forwarding() const;
  void connect_tunnel();
  void keep_certificate();
  std::string volumes_directory() const { return options.data_dir + "/volumes"; }
  void end_pods();
  void stop();

  AgentOptions options;
  NodeCredentials credentials;
  std::string images_yaml, programs_yaml, host_resolv_conf;
  PodNetwork network;
  runtime::SystemClock clock;
  runtime::SystemRng rng;
  LoopThread thread{"krater-agent"};
  // On the loop, in order of construction.
  std::shared_ptr<runtime::ClientTls> tls;
  std::unique_ptr<HttpClient> http, probes;
  std::unique_ptr<WebSocketConnector> sockets;
  std::unique_ptr<client::ObjectClient> client;
  std::unique_ptr<agent::FdPoller> poller;
  std::unique_ptr<agent::Runtime> runtime;
  std::unique_ptr<agent::NodeNetwork> names;
  std::unique_ptr<agent::TcpDialer> dialer;
  std::unique_ptr<agent::GrpcHealth> grpc;
  std::unique_ptr<agent::FigureSource> figures;
  std::unique_ptr<agent::ContentBuilder> content;
  std::unique_ptr<agent::VolumeKeeper> volumes;
  std::unique_ptr<agent::Agent> agent;
  std::unique_ptr<agent::TunnelClient> tunnel;
  std::unique_ptr<agent::CertificateKeeper> certificates;
  bool stopped = false;
};

// What blocks: files.
Result<void> AgentProcess::State::prepare() {
  TRY(make_directory(options.data_dir + "/pods", 0711));
  if (!options.programs.empty()) {
    TRY_ASSIGN(programs_yaml, read_file(options.programs));
  }
  if (options.runtime == RuntimeKind::Simulated) return {};
  TRY(make_directory(volumes_directory(), 0711));
  if (!options.images.empty()) {
    TRY_ASSIGN(images_yaml, read_file(options.images));
  }
  host_resolv_conf = read_file("/etc/resolv.conf").value_or(std::string());
  TRY_ASSIGN(network, pod_network(options));
  return {};
}

Result<void> AgentProcess::State::compose() {
  tls = std::make_shared<runtime::ClientTls>(credentials.identity);
  http = runtime::make_renewable_http_client(thread.loop(), tls);
  sockets = runtime::make_websocket_connector(thread.loop(), tls);
  client = client::make_http_object_client(*http, thread.loop(), rng, {options.server_url});
  std::vector<agent::NodeFacts> nodes;
  if (options.runtime == RuntimeKind::Simulated) {
    for (int i = 0; i < options.nodes; ++i) {
      TRY_ASSIGN(agent::NodeFacts node, node_facts(options, options.nodes == 1 ? options.node_name : fmt::format("{}-{}", options.node_name, i)));
      nodes.push_back(std::move(node));
    }
    agent::Programs programs;
    if (!programs_yaml.empty()) {
      TRY_ASSIGN(programs, agent::Programs::parse_yaml(programs_yaml));
    }
    runtime = std::make_unique<agent::SimulatedRuntime>(thread.loop(), clock, agent::first_address_of(options.node_name), std::move(programs));
  } else {
    TRY_ASSIGN(agent::NodeFacts node, node_facts(options, options.node_name));
    nodes.push_back(std::move(node));
    TRY(compose_process(nodes));
  }
  agent::AgentDeps deps{*client, thread.loop(), clock, rng, *runtime, probes.get(), dialer.get(), grpc.get(), content.get()};
  if (figures) {
    deps.node_watch.source = figures.get();
    TRY_ASSIGN(deps.node_watch.thresholds, agent::parse_thresholds(options.eviction_hard));
  }
  agent::NodeInfo info = node_info(options.runtime);
  if (options.runtime != RuntimeKind::Simulated) {
    info.volumes_directory = volumes_directory();
    volumes = std::make_unique<agent::VolumeKeeper>(*client, thread.loop(), volumes_directory(), nodes.front().name);
    volumes->start();
  }
  agent = std::make_unique<agent::Agent>(deps, std::move(nodes), std::move(info));
  agent->start();
  keep_aging_documents(thread.loop());
  if (options.runtime == RuntimeKind::Simulated && options.nodes > 1) runtime::yield_to_others();
  connect_tunnel();
  if (credentials.renews) keep_certificate();
  return {};
}

Result<void> AgentProcess::State::compose_process(const std::vector<agent::NodeFacts>& nodes) {
  agent::ProcessRuntimeOptions process;
  process.directory = options.data_dir + "/pods";
  process.isolate = network.isolate;
  process.hidden = {options.data_dir};
  TRY_ASSIGN(process.log_bytes, container_log_bytes(options));
  process.log_files = options.log_max_files;
  if (network.subnet) {
    process.cni_bin_dir = kCniDirectory;
    process.cni_config = agent::cni_config_list(*network.subnet, kAddressDirectory);
  }
  std::vector<agent::ImageMap::Entry> images;
  if (!images_yaml.empty()) {
    TRY_ASSIGN(images, agent::ImageMap::parse_yaml(images_yaml));
  }
  for (agent::ImageMap::Entry& entry : agent::ImageMap::defaults()) images.push_back(std::move(entry));
  process.images = agent::ImageMap(std::move(images));
  poller = agent::make_asio_poller(thread.loop().context());
  runtime = std::make_unique<agent::ProcessRuntime>(thread.loop(), *poller, std::move(process));

  std::string dns_address;
  if (network.subnet) {
    dns_address = network.subnet->gateway();
    agent::NodeNetworkSettings settings;
    settings.dns.address = dns_address;
    settings.dns.upstreams = agent::dns::nameservers_of(host_resolv_conf);
    settings.rules.table = fmt::format("krater-{:08x}", static_cast<std::uint32_t>(fnv1a(options.data_dir)));
    settings.rules.pod_network = network.subnet->text();
    settings.api = api_forwarding();
    names = std::make_unique<agent::NodeNetwork>(*client, thread.loop(), thread.loop().context(), rng, std::move(settings));
    TRY(names->start());
  }
  probes = runtime::make_http_client(thread.loop(), {.verify = false});
  dialer = agent::make_asio_tcp_dialer(thread.loop().context());
  grpc = agent::make_asio_grpc_health(thread.loop().context());
  figures = std::make_unique<agent::MachineFigures>(options.data_dir);
  agent::ContentSettings settings;
  settings.dns_address = dns_address;
  settings.host_resolv_conf = host_resolv_conf;
  settings.services = names ? &names->services() : nullptr;
  const ServerAddress server = address_of(options.server_url);
  settings.server_host = server.host;
  settings.server_port = server.port;
  content = agent::make_content_builder({*client, thread.loop(), clock, *runtime, nodes.front(), std::move(settings)});
  return {};
}

// Pods cannot connect to this machine's loopback: where the server is there, the agent lets them through.
std::optional<agent::ForwarderSettings> AgentProcess::State::api_forwarding() const {
  const ServerAddress server = address_of(options.server_url);
  if (!server.host.starts_with("127.") && server.host != "localhost" && server.host != "::1") return std::nullopt;
  agent::ForwarderSettings out;
  out.server_host = server.host;
  out.server_port = server.port;
  out.accepts = [pods = *network.subnet](std::uint32_t address) { return pods.contains(address); };
  return out;
}

void AgentProcess::State::connect_tunnel() {
  std::string url = "wss" + options.server_url.substr(options.server_url.find("://")) + "/krater/v1/tunnel";
  const bool pool = options.runtime == RuntimeKind::Simulated && options.nodes > 1;
  if (pool) url += "?pool=true";
  tunnel = std::make_unique<agent::TunnelClient>(*sockets, thread.loop(), clock, rng, agent::lookup_in(*agent, *runtime),
                                                 agent::TunnelSettings{url});
  tunnel->start();
}

void AgentProcess::State::keep_certificate() {
  agent::CertificateKeeperDeps deps{*client, thread.loop(), clock, rng, {}, {}, {}};
  deps.make_request = [this]() -> Result<agent::KeyAndRequest> {
    TRY_ASSIGN(api::CertificateRequest made,
               api::make_certificate_request({"system:node:" + options.node_name, {"system:nodes"}}));
    return agent::KeyAndRequest{std::move(made.key_pem), std::move(made.request_pem)};
  };
  deps.end_of = [](const std::string& pem) -> Result<WallTime> {
    TRY_ASSIGN(const api::Validity validity, api::validity_of(pem));
    return validity.until;
  };
  deps.adopt = [this](const std::string& key_pem, const std::string& certificate_pem) -> Result<void> {
    const runtime::TlsIdentity renewed{credentials.identity.ca_pem, certificate_pem, key_pem};
    TRY(CredentialFiles(options.data_dir).store(renewed));
    credentials.identity = renewed;
    tls->exchange(renewed);
    return {};
  };
  certificates = std::make_unique<agent::CertificateKeeper>(std::move(deps));
  certificates->start(credentials.life);
}

void AgentProcess::State::end_pods() {
  const auto ended = std::make_shared<std::promise<void>>();
  std::future<void> all_ended = ended->get_future();
  thread.run_and_wait([this, ended] { agent->end_pods([ended] { ended->set_value(); }); });
  if (all_ended.wait_for(kEndPods) != std::future_status::ready)
    log::warn("agent.pods_stay", {{"effect", "the next agent here takes them over"}});
}

void AgentProcess::State::stop() {
  if (std::exchange(stopped, true)) return;
  if (options.stop_pods && agent) end_pods();
  bool pods_stay = false;
  thread.run_and_wait([&] {
    pods_stay = agent && agent->pods() > 0;
    certificates.reset();
    tunnel.reset();
    volumes.reset();
    agent.reset();
  });
  if (names) {
    std::promise<void> gone;
    thread.run_and_wait([&] { names->stop(pods_stay, [&] { gone.set_value(); }); });
    gone.get_future().wait();
  }
  thread.run_and_wait([this] {
    content.reset();
    figures.reset();
    grpc.reset();
    dialer.reset();
    names.reset();
    runtime.reset();
    poller.reset();
    client.reset();
    sockets.reset();
    probes.reset();
    http.reset();
  });
  thread.stop();
}

AgentProcess::AgentProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
AgentProcess::~AgentProcess() { stop(); }
void AgentProcess::stop() { state_->stop(); }

Result<std::unique_ptr<AgentProcess>> AgentProcess::start(const AgentOptions& options, const NodeCredentials& credentials) {
  std::unique_ptr<AgentProcess> out(new AgentProcess(std::make_unique<State>(options, credentials)));
  State& state = *out->state_;
  state.thread.start();
  TRY(state.prepare());
  Result<void> composed;
  state.thread.run_and_wait([&] { composed = state.compose(); });
  TRY(std::move(composed));
  return out;
}

std::string node_name_of(const AgentOptions& options) {
  if (!options.node_name.empty()) return options.node_name;
  if (options.runtime == RuntimeKind::Simulated) return "sim";
  return to_lower(runtime::host_name());
}

}  // namespace krater::cli
