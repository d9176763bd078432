// The process runtime for real: shims, namespaces, cgroups, addresses. Needs root and the CNI
// plugins; skipped with a message where they are missing. This executable is also the shim it
// starts.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <cstdlib>

#include "agent/io/asio_poller.h"
#include "agent/logs/cri.h"
#include "agent/net/cni_config.h"
#include "agent/process/process_runtime.h"
#include "agent/shim/files.h"
#include "agent/shim/shim.h"
#include "base/strings.h"
#include "runtime/asio_loop.h"

namespace krater::agent {
namespace {

struct Exits final : RuntimeListener {
  std::map<std::string, ExitInfo> ended;
  int lost = 0;
  std::function<void()> changed;
  void on_container_exit(const std::string&, const std::string& container, int,
                         const ExitInfo& exit) override {
    ended[container] = exit;
    changed();
  }
  void on_sandbox_lost(const std::string&) override {
    ++lost;
    changed();
  }
};

class ProcessTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: namespaces, mounts and cgroups";
    if (::access("/usr/lib/cni/bridge", X_OK) != 0)
      GTEST_SKIP() << "needs the package containernetworking-plugins";
    char name[] = "/tmp/krater-process-XXXXXX";
    directory = ::mkdtemp(name);
    start_runtime();
  }
  void TearDown() override {
    if (!runtime) return;
    for (const std::string& uid : uids) {
      EXPECT_TRUE(wait<bool>([&](auto done) { runtime->remove_sandbox(uid, done); }));
    }
    runtime.reset();
    EXPECT_TRUE(remove_tree(directory));
  }

  void start_runtime() {
    ProcessRuntimeOptions options;
    options.directory = directory + "/pods";
    options.isolate = true;
    options.cni_bin_dir = "/usr/lib/cni";
    options.cni_config = cni_config_list(*Subnet::parse("10.88.0.0/16"), "/run/krater/cni-test");
    options.hidden = {directory};
    options.log_bytes = 4096;
    options.log_files = 3;
    runtime.emplace(loop, *poller, std::move(options));
    exits.changed = [this] { loop.stop(); };
    runtime->set_listener(&exits);
    (void)list();
  }
  std::vector<Sandbox> list() {
    return *wait<std::vector<Sandbox>>([&](auto done) { runtime->list(done); });
  }
  // Runs the loop until the call has answered.
  template <typename T>
  Result<T> wait(std::function<void(Runtime::Done<T>)> call) {
    std::optional<Result<T>> out;
    call([&](Result<T> answer) {
      out.emplace(std::move(answer));
      loop.stop();
    });
    while (!out) run_once();
    return *std::move(out);
  }
  // Until something stops the loop.
  void run_once() {
    loop.context().restart();
    loop.run();
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const SteadyTime begun = loop.now();
    while (!condition() && loop.now() - begun < 20s) {
      // Looks again at every event, and now and then where there is none (a file that vanishes).
      const Loop::TimerId look = loop.after(20ms, [this] { loop.stop(); });
      run_once();
      loop.cancel(look);
    }
    ASSERT_TRUE(condition()) << "did not happen within 20 s";
  }
  Sandbox sandbox(const std::string& uid) {
    uids.push_back(uid);
    SandboxSpec spec;
    spec.uid = uid;
    spec.name = spec.hostname = "pod-" + uid;
    spec.name_space = "ns";
    spec.resolv_conf = "nameserver 10.88.0.1\n";
    Result<Sandbox> made = wait<Sandbox>([&](auto done) { runtime->create_sandbox(spec, done); });
    EXPECT_TRUE(made) << made.error().message;
    return made ? *made : Sandbox();
  }
  static ContainerRun sh(const std::string& script, const std::string& name = "main") {
    ContainerRun out;
    out.name = name;
    out.image = "busybox:1.36";
    out.argv = {"sh", "-c", script};
    out.termination_path = "/dev/termination-log";
    return out;
  }
  Result<Started> start(const std::string& uid, ContainerRun run) {
    exits.ended.erase(run.name);
    return wait<Started>([&](auto done) { runtime->start_container(uid, run, done); });
  }
  ExitInfo run_to_end(const std::string& uid, ContainerRun run) {
    const std::string name = run.name;
    const Result<Started> started = start(uid, std::move(run));
    EXPECT_TRUE(started) << started.error().message;
    if (started) run_until([&] { return exits.ended.contains(name); });
    return exits.ended[name];
  }
  // What it printed, without time, stream and tag.
  std::string output(const std::string& uid, const std::string& container = "main",
                     int attempt = 0) {
    return text_of(runtime->pod_directory(uid) + "/logs/" + container + "/" +
                   std::to_string(attempt) + ".log");
  }
  static std::string text_of(const std::string& path) {
    const Result<std::string> read = read_file(path);
    const std::string log = read ? *read : std::string();
    std::string out;
    for (const std::string_view line : split(log, '\n')) {
      const auto record = parse_record(line);
      if (record) out += std::string(record->text) + "\n";
    }
    return out;
  }

  runtime::AsioLoop loop;
  std::unique_ptr<FdPoller> poller = make_asio_poller(loop.context());
  std::string directory;
  Exits exits;
  std::optional<ProcessRuntime> runtime;
  std::vector<std::string> uids;
};

TEST_F(ProcessTest, RunsAProgramInItsOwnNamespaces) {
  const Sandbox made = sandbox("a");
  EXPECT_TRUE(made.ip.starts_with("10.88.")) << made.ip;
  const ExitInfo exit =
      run_to_end("a", sh("echo pid $$; hostname; cat /etc/hostname; ip -o -4 addr show eth0 | grep "
                         "-o '10.88[0-9.]*' | head -1; ls -A /tmp; exit 7"));
  EXPECT_EQ(exit.code, 7);
  EXPECT_EQ(exit.reason, "Error");
  EXPECT_EQ(output("a"), "pid 1\npod-a\npod-a\n" + made.ip + "\n");
}

TEST_F(ProcessTest, ASignalIs128PlusItsNumber) {
  sandbox("a");
  EXPECT_EQ(run_to_end("a", sh("sleep 100 & kill -TERM $!; wait $!; exit $?")).code, 143);
}

TEST_F(ProcessTest, StopsWithSigtermAndAfterTheGraceWithSigkill) {
  sandbox("a");
  ASSERT_TRUE(
      start("a", sh("trap 'exit 3' TERM; echo up; while true; do sleep 0.05; done", "kind")));
  ASSERT_TRUE(start("a", sh("trap '' TERM; echo up; while true; do sleep 0.05; done", "stubborn")));
  for (const char* name : {"kind", "stubborn"}) {
    while (output("a", name) != "up\n") (void)list();
    runtime->stop_container("a", name, 1);
  }
  run_until([&] { return exits.ended.size() == 2; });
  EXPECT_EQ(exits.ended["kind"].code, 3);
  EXPECT_EQ(exits.ended["stubborn"].code, 137);
}

TEST_F(ProcessTest, AMissingProgramIsNamed) {
  sandbox("a");
  ContainerRun run = sh("");
  run.argv = {"/no/such/program"};
  const Result<Started> started = start("a", run);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::BadRequest);
  EXPECT_NE(started.error().message.find("/no/such/program"), std::string::npos);
  run.argv = {"no-such-program"};
  EXPECT_EQ(start("a", run).error().message,
            "exec: \"no-such-program\": executable file not found in $PATH");
}

TEST_F(ProcessTest, AnUnknownImageIsRefusedWithTheMappedNames) {
  sandbox("a");
  ContainerRun run = sh("true");
  run.image = "registry.example/unknown:1";
  const Result<Started> started = start("a", run);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::NotFound);
  EXPECT_NE(started.error().message.find("*busybox*"), std::string::npos);
}

TEST_F(ProcessTest, TooMuchMemoryIsOomKilled) {
  sandbox("a");
  ContainerRun run = sh("exec tail /dev/zero");
  run.memory_limit_bytes = 32 << 20;
  const ExitInfo exit = run_to_end("a", run);
  EXPECT_EQ(exit.code, 137);
  EXPECT_EQ(exit.reason, "OOMKilled");
}

TEST_F(ProcessTest, VolumesAreMountedAndNothingIsWrittenToTheHost) {
  sandbox("a");
  const std::string volume = runtime->pod_directory("a") + "/volumes/v";
  ASSERT_TRUE(make_directories(volume));
  ContainerRun run =
      sh("echo hello > /krater-test-volume/f; echo mine > /krater-test-file; cat "
         "/krater-test-volume/f");
  run.mounts = {{volume, "/krater-test-volume", false}};
  EXPECT_EQ(run_to_end("a", run).code, 0);
  EXPECT_EQ(output("a"), "hello\n");
  EXPECT_EQ(read_file(volume + "/f").value(), "hello\n");
  EXPECT_NE(::access("/krater-test-volume", F_OK), 0);
  EXPECT_NE(::access("/krater-test-file", F_OK), 0);
  run.argv = {"sh", "-c", "ls /krater-test-file; echo x > /krater-test-volume/g"};
  run.mounts[0].read_only = true;
  run.attempt = 1;
  run_to_end("a", run);
  EXPECT_NE(::access((volume + "/g").c_str(), F_OK), 0) << "a read-only volume was written";
}

TEST_F(ProcessTest, ExecRunsBesideTheProgramAndEndsInTime) {
  sandbox("a");
  ASSERT_TRUE(start("a", sh("touch /tmp/ok; echo up; sleep 100")));
  while (output("a") != "up\n") (void)list();
  const auto exec = [&](std::vector<std::string> argv) {
    return *wait<ExecResult>([&](auto done) { runtime->exec("a", "main", argv, 1, done); });
  };
  EXPECT_EQ(exec({"cat", "/tmp/ok"}).exit_code, 0);
  const ExecResult missing = exec({"cat", "/tmp/no"});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.output.find("No such file"), std::string::npos);
  EXPECT_TRUE(exec({"sleep", "50"}).timed_out);
  EXPECT_EQ(exec({"sh", "-c", "ps -e | grep -c 'sleep$' || true"}).output, "1\n")
      << "the timed out program is still there";
}

TEST_F(ProcessTest, PodsOutliveTheAgentAndAreFoundAgain) {
  const Sandbox made = sandbox("a");
  ASSERT_TRUE(start("a", sh("echo up; sleep 1; exit 5")));
  runtime.reset();
  start_runtime();
  std::vector<Sandbox> found = list();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].alive);
  EXPECT_EQ(found[0].ip, made.ip);
  ASSERT_EQ(found[0].containers.size(), 1U);
  if (!found[0].containers[0].exit) run_until([&] { return exits.ended.contains("main"); });
  found = list();
  EXPECT_EQ(found[0].containers[0].exit->code, 5);
}

TEST_F(ProcessTest, LogsAreRotated) {
  sandbox("a");
  run_to_end("a", sh("i=0; while [ $i -lt 1000 ]; do echo line $i; i=$((i+1)); [ $((i%20)) -ne 0 ] "
                     "|| sleep 0.01; done"));
  const std::string base = runtime->pod_directory("a") + "/logs/main/0.log";
  int files = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string rotated = base + "." + std::to_string(i);
    if (::access(rotated.c_str(), F_OK) != 0) continue;
    ++files;
  }
  EXPECT_TRUE(output("a").ends_with("line 999\n")) << output("a");
  EXPECT_EQ(files, 2) << "with the current one three";
}

TEST_F(ProcessTest, NothingIsLeftAfterRemoval) {
  const Sandbox made = sandbox("gone");
  ASSERT_TRUE(start("gone", sh("sleep 1000 & sleep 1000")));
  ASSERT_TRUE(wait<bool>([&](auto done) { runtime->remove_sandbox("gone", done); }));
  EXPECT_NE(::access("/sys/fs/cgroup/memory/krater/podgone", F_OK), 0);
  EXPECT_NE(::access("/sys/fs/cgroup/krater/podgone", F_OK), 0);
  EXPECT_NE(::access(("/run/krater/cni-test/krater/" + made.ip).c_str(), F_OK), 0)
      << "the address was not given back";
  EXPECT_EQ(read_file("/proc/self/mountinfo").value().find(directory), std::string::npos);
  runtime->forget("gone");
  run_until([&] {
    (void)list();
    return ::access((directory + "/pods/gone").c_str(), F_OK) != 0;
  });
}

TEST_F(ProcessTest, AShimThatIsKilledIsNoticedAndCleanedUp) {
  const Sandbox made = sandbox("a");
  ASSERT_TRUE(start("a", sh("echo up; sleep 1000")));
  const Json state = *parse_json(read_file(runtime->pod_directory("a") + "/state.json").value());
  ASSERT_EQ(::kill(static_cast<pid_t>(*int_at(state, {"pid"})), SIGKILL), 0);
  run_until([&] { return exits.lost == 1; });
  EXPECT_TRUE(wait<bool>([&](auto done) { runtime->remove_sandbox("a", done); }));
  EXPECT_NE(::access(("/run/krater/cni-test/krater/" + made.ip).c_str(), F_OK), 0);
  EXPECT_FALSE(list().at(0).alive);
}

}  // namespace
}  // namespace krater::agent

int main(int argc, char** argv) {
  if (argc > 1 && std::string_view(argv[1]) == "shim")
    return krater::agent::shim_main(argc - 1, argv + 1);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
