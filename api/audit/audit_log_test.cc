#include "api/audit/audit_log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "api/audit/trail.h"
#include "testing/manual_loop.h"

namespace krater::api::audit {
namespace {

namespace fs = std::filesystem;

class AuditLogTest : public ::testing::Test {
 protected:
  AuditLogTest() {
    std::string pattern = (fs::temp_directory_path() / "krater-audit-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~AuditLogTest() override { fs::remove_all(folder_); }

  std::shared_ptr<AuditLog> open(LogSettings settings = {}) {
    settings.path = (folder_ / "audit.log").string();
    Result<std::shared_ptr<AuditLog>> log = AuditLog::open(settings, loop_, loop_.wall());
    EXPECT_TRUE(log.has_value());
    return *log;
  }
  std::string text() const {
    std::ifstream in(folder_ / "audit.log");
    std::stringstream out;
    out << in.rdbuf();
    return out.str();
  }
  std::vector<std::string> files() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_))
      out.push_back(entry.path().filename().string());
    std::sort(out.begin(), out.end());
    return out;
  }

  fs::path folder_;
  krater::testing::ManualLoop loop_;
};

TEST_F(AuditLogTest, LinesComeInTheirOrderAndOnTheLoopOnly) {
  const auto log = open();
  log->write(Level::Metadata, "a");
  log->write(Level::Request, "b");
  EXPECT_EQ(text(), "");
  loop_.run_ready();
  EXPECT_EQ(text(), "a\nb\n");
  log->write(Level::Metadata, "c");
  loop_.run_ready();
  EXPECT_EQ(text(), "a\nb\nc\n");
  EXPECT_EQ(log->counts().events, 3u);
  EXPECT_EQ(log->counts().by_level[1], 2u);
  EXPECT_EQ(fs::status(folder_ / "audit.log").permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(AuditLogTest, AFullQueueDropsAndCounts) {
  LogSettings settings;
  settings.queue_lines = 2;
  const auto log = open(settings);
  for (const char* line : {"a", "b", "c"}) log->write(Level::Metadata, line);
  EXPECT_EQ(log->counts().dropped, 1u);
  loop_.run_ready();
  log->write(Level::Metadata, "d");
  loop_.run_ready();
  EXPECT_EQ(text(), "a\nb\nd\n");
}

TEST_F(AuditLogTest, TheQueueIsBoundedInBytesToo) {
  LogSettings settings;
  settings.queue_bytes = 10;
  const auto log = open(settings);
  log->write(Level::Metadata, "12345678");
  log->write(Level::Metadata, "12345678");
  EXPECT_EQ(log->counts().dropped, 1u);
}

TEST_F(AuditLogTest, ItContinuesWhatIsThere) {
  std::ofstream(folder_ / "audit.log") << "old\n";
  const auto log = open();
  log->write(Level::Metadata, "new");
  log->flush();
  EXPECT_EQ(text(), "old\nnew\n");
}

TEST_F(AuditLogTest, RotatesBySizeAndKeepsSoMany) {
  LogSettings settings;
  settings.max_size_mb = 1;
  settings.max_backups = 2;
  const auto log = open(settings);
  const std::string half(600'000, 'x');
  for (int i = 0; i < 5; ++i) {
    log->write(Level::Metadata, half);
    loop_.advance(1s);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"audit-2026-01-01T00-00-03.000.log",
                                               "audit-2026-01-01T00-00-04.000.log", "audit.log"}));
  EXPECT_EQ(fs::file_size(folder_ / "audit.log"), half.size() + 1);
}

TEST_F(AuditLogTest, OldFilesGoByAge) {
  std::ofstream(folder_ / "audit-2025-12-01T00-00-00.000.log") << "x";
  std::ofstream(folder_ / "audit-2025-12-31T00-00-00.000.log") << "x";
  std::ofstream(folder_ / "audit-notes-of-somebody.log") << "x";
  LogSettings settings;
  settings.max_size_mb = 1;
  settings.max_age_days = 7;
  const auto log = open(settings);
  for (int i = 0; i < 2; ++i) log->write(Level::Metadata, std::string(600'000, 'x'));
  loop_.run_ready();
  EXPECT_EQ(files(), (std::vector<std::string>{"audit-2025-12-31T00-00-00.000.log",
                                               "audit-2026-01-01T00-00-00.000.log",
                                               "audit-notes-of-somebody.log", "audit.log"}));
}

TEST_F(AuditLogTest, AFileThatCannotBeOpenedIsAnError) {
  LogSettings settings;
  settings.path = (folder_ / "no" / "audit.log").string();
  const auto log = AuditLog::open(settings, loop_, loop_.wall());
  ASSERT_FALSE(log.has_value());
  EXPECT_NE(log.error().message.find("cannot open the audit log"), std::string::npos);
}

class TrailTest : public AuditLogTest {
 protected:
  Trail trail(Level level, bool omit_managed_fields = false) {
    RequestFacts facts;
    facts.audit_id = "id-1";
    facts.uri = "/api/v1/namespaces/lab/secrets";
    facts.user_agent = "kubectl/v1.32";
    facts.source_ips = {"127.0.0.1"};
    facts.user = {"ann", "7", {"g"}, {{"k", {"v"}}}};
    facts.what = {"create"};
    facts.what.version = "v1";
    facts.what.resource = "secrets";
    facts.what.name_space = "lab";
    Decision decision{level};
    decision.omit_managed_fields = omit_managed_fields;
    return {log_, loop_.wall(), decision, std::move(facts)};
  }
  std::vector<Json> events() {
    log_->flush();
    std::vector<Json> out;
    std::istringstream in(text());
    for (std::string line; std::getline(in, line);) out.push_back(*parse_json(line));
    return out;
  }
  const Json secret_ = *parse_json(
      R"({"metadata":{"name":"s","uid":"u","managedFields":[{}]},"data":{"k":"dg=="}})");
  std::shared_ptr<AuditLog> log_ = open();
};

TEST_F(TrailTest, EachStageIsOneEvent) {
  Trail t = trail(Level::Metadata);
  t.received();
  t.annotate("authorization.k8s.io/decision", "allow");
  t.request_object(secret_);
  t.complete(201);
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(
      to_json(all[0]),
      R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"id-1",)"
      R"("stage":"RequestReceived","requestURI":"/api/v1/namespaces/lab/secrets","verb":"create",)"
      R"("user":{"username":"ann","uid":"7","groups":["g"],"extra":{"k":["v"]}},)"
      R"("sourceIPs":["127.0.0.1"],"userAgent":"kubectl/v1.32",)"
      R"("objectRef":{"resource":"secrets","namespace":"lab","apiVersion":"v1"},)"
      R"("requestReceivedTimestamp":"2026-01-01T00:00:00.000000Z",)"
      R"("stageTimestamp":"2026-01-01T00:00:00.000000Z"})");
  EXPECT_EQ(text_at(all[1], {"stage"}), "ResponseComplete");
  EXPECT_EQ(text_at(all[1], {"objectRef", "name"}), "s");
  EXPECT_EQ(int_at(all[1], {"responseStatus", "code"}), 201);
  EXPECT_EQ(text_at(all[1], {"annotations", "authorization.k8s.io/decision"}), "allow");
  EXPECT_EQ(find(all[1], {"requestObject"}), nullptr);
}

TEST_F(TrailTest, BodiesAreWrittenWhereTheLevelSaysSo) {
  Trail request = trail(Level::Request);
  request.request_object(secret_);
  request.response_object(secret_);
  request.complete(201);
  Trail both = trail(Level::RequestResponse, true);
  both.request_object(secret_);
  both.response_object(secret_);
  both.complete(201);
  const std::vector<Json> all = events();
  EXPECT_EQ(text_at(all[0], {"requestObject", "data", "k"}), "dg==");
  EXPECT_EQ(find(all[0], {"responseObject"}), nullptr);
  EXPECT_NE(find(all[0], {"requestObject", "metadata", "managedFields"}), nullptr);
  EXPECT_EQ(text_at(all[1], {"responseObject", "data", "k"}), "dg==");
  EXPECT_EQ(find(all[1], {"responseObject", "metadata", "managedFields"}), nullptr);
  EXPECT_EQ(find(all[1], {"requestObject", "metadata", "managedFields"}), nullptr);
}

TEST_F(TrailTest, AFailureIsToldAtEveryLevel) {
  Trail t = trail(Level::Metadata);
  t.response_object(*parse_json(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"no","reason":"Forbidden","code":403})"));
  t.complete(403);
  EXPECT_EQ(to_json(*find(events()[0], {"responseStatus"})),
            R"({"metadata":{},"status":"Failure","message":"no","reason":"Forbidden","code":403})");
}

TEST_F(TrailTest, ImpersonationIsToldOnceItIsKnown) {
  Trail t = trail(Level::Metadata);
  t.received();
  t.impersonated({"bob", {}, {"h"}, {}});
  t.started(200);
  const std::vector<Json> all = events();
  EXPECT_EQ(find(all[0], {"impersonatedUser"}), nullptr);
  EXPECT_EQ(text_at(all[1], {"user", "username"}), "ann");
  EXPECT_EQ(text_at(all[1], {"impersonatedUser", "username"}), "bob");
  EXPECT_EQ(text_at(all[1], {"stage"}), "ResponseStarted");
}

TEST_F(TrailTest, APanicAndAStrangerAreEventsOfTheirOwn) {
  trail(Level::Metadata).panicked("why");
  trail(Level::Metadata).unauthenticated("Authentication failed, attempted: bearer");
  trail(Level::None).complete(200);
  const std::vector<Json> all = events();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(text_at(all[0], {"stage"}), "Panic");
  EXPECT_EQ(text_at(all[0], {"responseStatus", "message"}), "APIServer panic'd: why");
  EXPECT_EQ(int_at(all[1], {"responseStatus", "code"}), 401);
}

}  // namespace
}  // namespace krater::api::audit
