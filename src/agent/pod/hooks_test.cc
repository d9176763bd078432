// Probes' and hooks' actions, and what a pod's worker makes of a hook's end.
#include <gtest/gtest.h>

#include "agent/agent.h"
#include "agent/net/grpc_health.h"
#include "agent/net/tcp_dialer.h"
#include "agent/pod/action_runner.h"
#include "agent/simulated/simulated_runtime.h"
#include "agent/testing/pods.h"
#include "model/pod.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::agent {
namespace {

using testing::pod_spec;

// Containers are simulated, commands in them end as the test says.
struct ScriptedRuntime : SimulatedRuntime {
  using SimulatedRuntime::SimulatedRuntime;
  struct Asked {
    std::vector<std::string> argv;
    int timeout_seconds;
  };
  std::vector<Asked> asked;
  std::vector<std::int64_t> stops;  // graces
  Done<ExecResult> pending;
  bool needs_content() const override { return true; }
  void exec(const std::string&, const std::string&, std::vector<std::string> argv,
            int timeout_seconds, Done<ExecResult> done) override {
    asked.push_back({std::move(argv), timeout_seconds});
    pending = std::move(done);
  }
  void stop_container(const std::string& uid, const std::string& container,
                      std::int64_t grace_seconds) override {
    stops.push_back(grace_seconds);
    SimulatedRuntime::stop_container(uid, container, grace_seconds);
  }
  void end_command(int code, std::string output = {}) {
    const Done<ExecResult> done = std::move(pending);
    pending = nullptr;
    done(ExecResult{code, false, std::move(output)});
  }
};

struct FakeHttp final : HttpClient {
  HttpRequest last;
  Result<HttpResponse> reply = HttpResponse{200};
  Loop& loop;
  explicit FakeHttp(Loop& on) : loop(on) {}
  std::unique_ptr<HttpExchange> send(HttpRequest request, Done done) override {
    last = std::move(request);
    loop.post([done = std::move(done), answer = reply] { done(answer); });
    return std::make_unique<HttpExchange>();
  }
  std::unique_ptr<HttpExchange> stream(HttpRequest, HttpStreamHandlers) override { return {}; }
};

struct FakeDialer final : TcpDialer {
  std::string last;
  Result<void> reply{};
  void try_connect(const std::string& host, int port, Duration,
                   std::function<void(Result<void>)> done) override {
    last = host + ":" + std::to_string(port);
    done(reply);
  }
};

struct FakeGrpc final : GrpcHealth {
  std::string last;
  HealthAnswer reply{true, {}};
  void check(const std::string& host, int port, const std::string& service, Duration,
             std::function<void(const HealthAnswer&)> done) override {
    last = host + ":" + std::to_string(port) + "/" + service;
    done(reply);
  }
};

class HooksTest : public ::testing::Test {
 protected:
  void start() {
    AgentDeps deps{client, loop, loop.wall(), rng, runtime, &http, &dialer, &grpc};
    agent.emplace(deps, std::vector<NodeFacts>{{"n1", "10.0.0.1", 4000}}, NodeInfo{});
    agent->start();
    loop.run_ready();
  }
  void put(const std::string& spec) {
    client.put(kinds::kPod, testing::pod_json(spec));
    loop.advance(std::chrono::seconds(1));
  }
  PodView pod() { return PodView(client.read(kinds::kPod, "ns", "p")); }
  void remove(std::int64_t grace_seconds) {
    Json next = *client.read(kinds::kPod, "ns", "p")->document();
    set_path(next, {"metadata", "deletionTimestamp"}, Json(to_rfc3339(loop.wall().now())));
    set_path(next, {"metadata", "deletionGracePeriodSeconds"}, Json(grace_seconds));
    set_path(next, {"metadata", "finalizers"}, Json(JsonArray{"test/hold"}));
    client.put(kinds::kPod, std::move(next));
    loop.advance(std::chrono::milliseconds(100));
  }
  std::vector<std::string> told() {
    std::vector<std::string> out;
    for (const ObjectPtr& event : client.all(kinds::kEvent)) {
      const auto document = event->document();
      out.push_back(text_at(*document, {"reason"}) + ": " + text_at(*document, {"message"}));
    }
    return out;
  }
  bool was_told(const std::string& text) {
    const std::vector<std::string> all = told();
    return std::find(all.begin(), all.end(), text) != all.end();
  }
  ActionOutcome run(const ActionSpec& action) {
    const NodeFacts facts{"n1", "10.0.0.1"};
    client::EventRecorder events(client, loop, loop.wall(), "kubelet");
    Context context{client, loop,  loop.wall(), rng,   runtime, events,
                    facts,  &http, &dialer,     &grpc, nullptr, {}};
    std::optional<ActionOutcome> out;
    run_action(context, pod_spec("{}"), "c", action, "10.88.0.5", 1,
               [&](const ActionOutcome& outcome) { out = outcome; });
    loop.advance(std::chrono::seconds(1));
    EXPECT_TRUE(out);
    return out.value_or(ActionOutcome{});
  }
  static ContainerSpec container(const std::string& json) {
    return pod_spec(R"({"containers":[)" + json + "]}").containers.at(0);
  }

  krater::testing::ManualLoop loop;
  krater::testing::FakeClient client{loop, loop.wall()};
  SeededRng rng{1};
  ScriptedRuntime runtime{loop, loop.wall()};
  FakeHttp http{loop};
  FakeDialer dialer;
  FakeGrpc grpc;
  std::optional<Agent> agent;
};

TEST_F(HooksTest, AnHttpProbeJudgesTheStatusAndAHookDoesNot) {
  const ContainerSpec c = container(
      R"({"name":"c","ports":[{"name":"web","containerPort":8080}],
          "readinessProbe":{"httpGet":{"path":"ready","port":"web","httpHeaders":[{"name":"X","value":"y"}]}},
          "lifecycle":{"preStop":{"httpGet":{"port":8080,"httpHeaders":[{"name":"user-agent","value":"mine"}]}}}})");
  struct Case {
    int status;
    bool probe;
  };
  for (const Case& one : {Case{200, true}, Case{302, true}, Case{404, false}, Case{500, false}}) {
    http.reply = HttpResponse{one.status};
    EXPECT_EQ(run(c.readiness->action).success, one.probe) << one.status;
    EXPECT_EQ(http.last.url, "http://10.88.0.5:8080/ready");
    const std::vector<std::pair<std::string, std::string>> headers{
        {"X", "y"}, {"User-Agent", "kube-probe/1.32"}, {"Accept", "*/*"}};
    EXPECT_EQ(http.last.headers, headers);
    EXPECT_TRUE(run(*c.pre_stop).success) << one.status;
    EXPECT_EQ(http.last.headers.front().second, "mine") << "what the user says is kept";
    EXPECT_EQ(http.last.headers.size(), 2U);
  }
  EXPECT_EQ(run(c.readiness->action).message, "HTTP probe failed with statuscode: 500");
  http.reply = make_error(Code::Unavailable, "connection refused");
  EXPECT_FALSE(run(*c.pre_stop).success);
}

TEST_F(HooksTest, TcpAndGrpcGoToTheirPorts) {
  const ContainerSpec c = container(
      R"({"name":"c","readinessProbe":{"grpc":{"port":9000,"service":"mine"}},
          "livenessProbe":{"grpc":{"port":9000}},
          "lifecycle":{"postStart":{"tcpSocket":{"port":7000,"host":"10.0.0.9"}}}})");
  EXPECT_TRUE(run(c.readiness->action).success);
  EXPECT_EQ(grpc.last, "10.88.0.5:9000/mine");
  EXPECT_TRUE(run(c.liveness->action).success);
  EXPECT_EQ(grpc.last, "10.88.0.5:9000/");
  grpc.reply = {false, "service unhealthy"};
  EXPECT_EQ(run(c.readiness->action).message, "service unhealthy");
  EXPECT_TRUE(run(*c.post_start).success);
  EXPECT_EQ(dialer.last, "10.0.0.9:7000");
  dialer.reply = make_error(Code::Unavailable, "refused");
  EXPECT_FALSE(run(*c.post_start).success);
}

TEST_F(HooksTest, AContainerWaitsForItsPostStartHook) {
  start();
  put(R"({"containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["warm","up"]}}}},{"name":"b"}]})");
  ASSERT_EQ(runtime.asked.size(), 1U);
  EXPECT_EQ(runtime.asked[0].argv, (std::vector<std::string>{"warm", "up"}));
  EXPECT_GT(runtime.asked[0].timeout_seconds, 3600) << "it may take as long as it likes";
  EXPECT_EQ(pod().phase(), PodPhase::Pending);
  EXPECT_EQ(pod().container_statuses().at(0).waiting_reason, "ContainerCreating");
  EXPECT_EQ(pod().container_statuses().at(1).waiting_reason, "ContainerCreating");
  runtime.end_command(0);
  loop.advance(std::chrono::seconds(1));
  EXPECT_EQ(pod().phase(), PodPhase::Running);
  EXPECT_TRUE(pod().ready());
  agent.reset();
}

TEST_F(HooksTest, AFailedPostStartHookKillsTheContainerInAKubeletsWords) {
  start();
  put(R"({"restartPolicy":"Never","containers":[{"name":"a","lifecycle":{"postStart":{"exec":{"command":["x"]}}}}]})");
  runtime.end_command(3, "the password is 12345\n");
  loop.advance(std::chrono::seconds(1));
  EXPECT_EQ(runtime.stops, std::vector<std::int64_t>{30});
  EXPECT_TRUE(was_told("FailedPostStartHook: PostStartHook failed"));
  EXPECT_TRUE(was_told("Killing: FailedPostStartHook"));
  for (const std::string& text : told()) EXPECT_EQ(text.find("12345"), std::string::npos) << text;
  EXPECT_EQ(pod().phase(), PodPhase::Failed);
  EXPECT_EQ(pod().container_statuses().at(0).exit->code, 143);
  agent.reset();
}

TEST_F(HooksTest, APreStopHookRunsFirstAndOutOfTheGrace) {
  start();
  put(R"({"containers":[{"name":"a","lifecycle":{"preStop":{"exec":{"command":["bye"]}}}}]})");
  remove(10);
  ASSERT_EQ(runtime.asked.size(), 1U);
  EXPECT_EQ(runtime.asked[0].timeout_seconds, 10);
  EXPECT_TRUE(runtime.stops.empty());
  loop.advance(std::chrono::seconds(4));
  runtime.end_command(0);
  loop.advance(std::chrono::seconds(1));
  EXPECT_EQ(runtime.stops, std::vector<std::int64_t>{6});
  EXPECT_FALSE(was_told("FailedPreStopHook: PreStopHook failed"));
  agent.reset();
}

TEST_F(HooksTest, AFailedPreStopHookIsToldAndTheProgramKeepsTwoSeconds) {
  start();
  put(R"({"containers":[{"name":"a","lifecycle":{"preStop":{"exec":{"command":["bye"]}}}}]})");
  remove(10);
  loop.advance(std::chrono::seconds(10));
  runtime.end_command(1);
  loop.advance(std::chrono::seconds(1));
  EXPECT_EQ(runtime.stops, std::vector<std::int64_t>{2});
  EXPECT_TRUE(was_told("FailedPreStopHook: PreStopHook failed"));
  agent.reset();
}

}  // namespace
}  // namespace krater::agent
