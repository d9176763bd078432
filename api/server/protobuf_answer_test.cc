// Answers for clients that read protobuf alone.
#include "api/server/protobuf_answer.h"

#include <gtest/gtest.h>

#include "api/machinery/protobuf.h"
#include "api/machinery/wire.h"
#include "api/server/testing/test_server.h"

namespace krater::api {
namespace {

using testing::Headers;
using testing::HttpsClient;
using testing::Reply;
using testing::TestServer;

const std::string kConfigMaps = "/api/v1/namespaces/default/configmaps";
const std::string kMap = R"({"metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}})";
const Headers kProtobuf{{"Accept", "application/vnd.kubernetes.protobuf"}};

Json decoded(TestServer& server, const std::string& body) {
  const KindSchemaPtr schema = server.harness().registry().schemas().find("", "v1", "configmaps");
  const Result<Json> out = schema->decode_protobuf(body);
  return out ? *out : Json(out.error().message);
}

// The length-delimited fields of one number.
std::vector<std::string> fields(std::string_view message, int number) {
  std::vector<std::string> out;
  WireReader reader(message);
  while (!reader.done()) {
    const Result<WireField> field = reader.next();
    if (!field) break;
    if (field->number == number) out.emplace_back(field->bytes);
  }
  return out;
}

TEST(ProtobufAnswer, AnObjectIsWhatItIsInJson) {
  TestServer server;
  HttpsClient client = server.admin();
  const Reply made = client.send("POST", kConfigMaps, kMap, kProtobuf);
  ASSERT_EQ(made.status, 201);
  EXPECT_EQ(made.header("Content-Type"), "application/vnd.kubernetes.protobuf");
  const Json object = client.send("GET", kConfigMaps + "/a").json();
  const Reply got = client.send("GET", kConfigMaps + "/a", "", kProtobuf);
  EXPECT_EQ(with_sorted_keys(decoded(server, got.body)), with_sorted_keys(object));
  EXPECT_EQ(with_sorted_keys(decoded(server, made.body)), with_sorted_keys(object));
}

TEST(ProtobufAnswer, AListHasItsRevisionAndItems) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kConfigMaps, kMap);
  const std::string revision =
      text_at(client.send("GET", kConfigMaps).json(), {"metadata", "resourceVersion"});
  const Reply list = client.send("GET", kConfigMaps + "?limit=500", "", kProtobuf);
  const Result<ProtobufEnvelope> envelope = read_envelope(list.body);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "ConfigMapList");
  ASSERT_EQ(fields(envelope->raw, 1).size(), 1u);
  EXPECT_EQ(fields(fields(envelope->raw, 1)[0], 2), std::vector<std::string>{revision});
  ASSERT_EQ(fields(envelope->raw, 2).size(), 1u);  // the item
  EXPECT_EQ(fields(fields(fields(envelope->raw, 2)[0], 1)[0], 1), std::vector<std::string>{"a"});
}

TEST(ProtobufAnswer, AnErrorIsAStatus) {
  TestServer server;
  const Reply missing = server.admin().send("GET", kConfigMaps + "/none", "", kProtobuf);
  EXPECT_EQ(missing.status, 404);
  const Result<ProtobufEnvelope> envelope = read_envelope(missing.body);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "Status");
  EXPECT_EQ(fields(envelope->raw, 4), std::vector<std::string>{"NotFound"});
  EXPECT_EQ(read_envelope(server.anonymous().send("GET", kConfigMaps, "", kProtobuf).body)->kind,
            "Status");
}

TEST(ProtobufAnswer, MetadataAloneIsWrittenToo) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kConfigMaps, kMap);
  const Reply list = client.send(
      "GET", kConfigMaps, "",
      {{"Accept",
        "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}});
  const Result<ProtobufEnvelope> envelope = read_envelope(list.body);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "PartialObjectMetadataList");
  EXPECT_EQ(envelope->api_version, "meta.k8s.io/v1");
  const std::string item = fields(envelope->raw, 2).at(0);
  EXPECT_EQ(fields(fields(item, 1).at(0), 1), std::vector<std::string>{"a"});
  EXPECT_TRUE(fields(item, 2).empty());  // no data
}

TEST(ProtobufAnswer, JsonIsPreferredWhereItIsAccepted) {
  TestServer server;
  const Reply both = server.admin().send(
      "GET", kConfigMaps, "", {{"Accept", "application/vnd.kubernetes.protobuf,application/json"}});
  EXPECT_EQ(both.header("Content-Type"), "application/json");
}

TEST(ProtobufAnswer, WhatHasNoProtobufFormIsNotAcceptable) {
  TestServer server;
  HttpsClient client = server.admin();
  for (const std::string path : {"/apis/ray.io/v1/namespaces/default/rayjobs",
                                 "/apis/scheduling.volcano.sh/v1beta1/queues"}) {
    const Reply reply = client.send("GET", path, "", kProtobuf);
    EXPECT_EQ(reply.status, 406) << path;
  }
  const Reply table =
      client.send("GET", kConfigMaps, "",
                  {{"Accept", "application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1"}});
  EXPECT_EQ(table.status, 406);
}

TEST(ProtobufAnswer, AWatchIsFramedByLengths) {
  TestServer server;
  HttpsClient client = server.admin();
  client.send("POST", kConfigMaps, kMap);
  HttpsClient watcher = server.admin();
  const Reply stream =
      watcher.send("GET", kConfigMaps + "?watch=true&timeoutSeconds=1", "", kProtobuf);
  EXPECT_EQ(stream.header("Content-Type"), "application/vnd.kubernetes.protobuf;stream=watch");
  const std::string& body = stream.body;
  ASSERT_GT(body.size(), 4u);
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<unsigned char>(body[i]);
  ASSERT_EQ(body.size(), 4 + length);
  const std::string_view event = std::string_view(body).substr(4);
  EXPECT_EQ(fields(event, 1), std::vector<std::string>{"ADDED"});
  const std::string object = fields(fields(event, 2).at(0), 1).at(0);
  EXPECT_EQ(text_at(decoded(server, object), {"data", "k"}), "v");
}

}  // namespace
}  // namespace krater::api
