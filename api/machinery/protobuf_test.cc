#include "api/machinery/protobuf.h"

#include <gtest/gtest.h>

#include <cstring>

#include "api/machinery/protobuf_encode.h"
#include "api/machinery/schema.h"

namespace krater::api {
namespace {

// Writes messages as Go's encoder does.
class Message {
 public:
  Message& number(int field, std::int64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);
    varint(static_cast<std::uint64_t>(value));
    return *this;
  }
  Message& bytes(int field, std::string_view value) {
    varint(static_cast<std::uint64_t>(field) << 3 | 2);
    varint(value.size());
    out_ += value;
    return *this;
  }
  Message& message(int field, const Message& value) { return bytes(field, value.out_); }
  Message& entry(int field, std::string_view key, std::string_view value) {
    return message(field, Message().bytes(1, key).bytes(2, value));
  }
  const std::string& text() const { return out_; }

 private:
  void varint(std::uint64_t value) {
    while (value >= 0x80) {
      out_ += static_cast<char>(value | 0x80);
      value >>= 7;
    }
    out_ += static_cast<char>(value);
  }
  std::string out_;
};

std::string envelope(std::string_view api_version, std::string_view kind, const Message& raw) {
  const Message type_meta = Message().bytes(1, api_version).bytes(2, kind);
  return std::string("k8s\0", 4) +
         Message().message(1, type_meta).message(2, raw).bytes(3, "").bytes(4, "").text();
}

class Protobuf : public ::testing::Test {
 protected:
  std::string decode(std::string_view plural, const std::string& body) {
    for (const KindSchemaPtr& schema : schemas_->all()) {
      if (schema->kind().plural != plural || !schema->built_in()) continue;
      auto decoded = schema->decode_protobuf(body);
      return decoded ? to_json(*decoded) : "error: " + decoded.error().message;
    }
    return "no kind";
  }
  std::unique_ptr<SchemaSet> schemas_ = make_builtin_schemas();
};

TEST_F(Protobuf, APodIsDecodedFieldByField) {
  const Message port =
      Message().bytes(1, "http").number(2, 0).number(3, 8080).bytes(4, "TCP").bytes(5, "");
  const Message quantity = Message().bytes(1, "500m");
  const Message requests = Message().bytes(1, "cpu").message(2, quantity);
  // Probe{1 ProbeHandler{2 HTTPGetAction{2 port}}, 2 initialDelaySeconds}: the handler is
  // flattened.
  const Message int_port = Message().number(1, 0).number(2, 8080).bytes(3, "");
  const Message named_port = Message().number(1, 1).number(2, 0).bytes(3, "web");
  const Message liveness =
      Message()
          .message(1, Message().message(2, Message().bytes(1, "/ok").message(2, int_port)))
          .number(2, 5);
  const Message readiness =
      Message().message(1, Message().message(3, Message().message(1, named_port)));
  const Message container = Message()
                                .bytes(1, "main")
                                .bytes(2, "busybox")
                                .bytes(3, "sh")
                                .bytes(3, "-c")
                                .message(6, port)
                                .message(8, Message().message(2, requests))
                                .message(10, liveness)
                                .message(11, readiness)
                                .number(16, 0);
  // Volume{1 name, 2 VolumeSource{2 EmptyDirVolumeSource{}}}: the source is flattened.
  const Message volume =
      Message().bytes(1, "tmp").message(2, Message().message(2, Message().bytes(1, "")));
  const Message meta = Message()
                           .bytes(1, "p")
                           .bytes(2, "")
                           .message(8, Message())
                           .entry(11, "a", "b")
                           .entry(11, "c", "");
  const Message spec =
      Message().message(1, volume).message(2, container).number(4, 0).number(11, 0).number(21, 0);
  EXPECT_EQ(
      decode("pods", envelope("v1", "Pod",
                              Message().message(1, meta).message(2, spec).message(3, Message()))),
      R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"b","c":""}},)"
      R"("spec":{"volumes":[{"name":"tmp","emptyDir":{}}],"containers":[{"name":"main","image":"busybox","command":["sh","-c"],)"
      R"("ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"resources":{"requests":{"cpu":"500m"}},)"
      R"("livenessProbe":{"httpGet":{"path":"/ok","port":8080},"initialDelaySeconds":5},)"
      R"("readinessProbe":{"tcpSocket":{"port":"web"}}}],"terminationGracePeriodSeconds":0,"automountServiceAccountToken":false},"status":{}})");
}

TEST_F(Protobuf, BytesTimesAndNegativeNumbersHaveTheirForms) {
  EXPECT_EQ(
      decode("secrets", envelope("v1", "Secret",
                                 Message().entry(2, "k", std::string("\0\xff", 2)).number(5, 1))),
      R"({"kind":"Secret","apiVersion":"v1","data":{"k":"AP8="},"immutable":true})");
  EXPECT_EQ(decode("priorityclasses",
                   envelope("scheduling.k8s.io/v1", "PriorityClass", Message().number(2, -5))),
            R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","value":-5})");
  const Message time = Message().number(1, 1767323045).number(2, 123456000);
  EXPECT_EQ(
      decode("leases", envelope("coordination.k8s.io/v1", "Lease",
                                Message().message(2, Message().message(4, time)))),
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","spec":{"renewTime":"2026-01-02T03:04:05.123456Z"}})");
}

TEST_F(Protobuf, UnknownFieldsAreSkippedAndTheLastValueWins) {
  const Message raw = Message().number(99, 7).bytes(98, "x").entry(2, "a", "1").entry(2, "a", "2");
  EXPECT_EQ(decode("configmaps", envelope("v1", "ConfigMap", raw)),
            R"({"kind":"ConfigMap","apiVersion":"v1","data":{"a":"2"}})");
}

TEST_F(Protobuf, BrokenBytesAreRefused) {
  EXPECT_EQ(decode("pods", "{}").substr(0, 54),
            "error: provided data does not appear to be a protobuf ");
  const std::string whole = envelope("v1", "Pod", Message().message(1, Message().bytes(1, "p")));
  // Every cut inside a length or a field is noticed or yields a smaller message; none crashes.
  for (std::size_t size = 4; size < whole.size(); ++size) decode("pods", whole.substr(0, size));
  EXPECT_EQ(decode("pods", whole.substr(0, 9)).substr(0, 6), "error:");
  EXPECT_EQ(decode("pods", envelope("v1", "Pod", Message().message(1, Message().bytes(1, "\xff")))),
            "error: the request body is not valid protobuf: a string is not UTF-8");
}

TEST_F(Protobuf, RequestMessagesAreFoundByTheirEnvelope) {
  const auto decoded = [&](const std::string& body) {
    auto out = schemas_->decode_protobuf_message("", body);
    return out ? to_json(*out) : "error: " + out.error().message;
  };
  EXPECT_EQ(
      decoded(envelope("apps/v1", "DeleteOptions",
                       Message().number(1, 0).bytes(4, "Foreground").bytes(5, "All"))),
      R"({"kind":"DeleteOptions","apiVersion":"apps/v1","gracePeriodSeconds":0,"propagationPolicy":"Foreground","dryRun":["All"]})");
  EXPECT_EQ(
      decoded(envelope("v1", "Binding",
                       Message()
                           .message(1, Message().bytes(1, "p"))
                           .message(2, Message().bytes(1, "Node").bytes(3, "n1")))),
      R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":"p"},"target":{"kind":"Node","name":"n1"}})");
  EXPECT_EQ(
      decoded(envelope("authentication.k8s.io/v1", "TokenRequest",
                       Message().message(2, Message().bytes(1, "krater").number(4, 3600)))),
      R"({"kind":"TokenRequest","apiVersion":"authentication.k8s.io/v1","spec":{"audiences":["krater"],"expirationSeconds":3600}})");
  for (const auto& [version, kind] : std::initializer_list<std::pair<std::string, std::string>>{
           {"authentication.k8s.io/v1", "TokenReview"},
           {"authentication.k8s.io/v1", "SelfSubjectReview"},
           {"authorization.k8s.io/v1", "SubjectAccessReview"},
           {"authorization.k8s.io/v1", "SelfSubjectAccessReview"},
           {"authorization.k8s.io/v1", "SelfSubjectRulesReview"},
           {"policy/v1", "Eviction"},
           {"autoscaling/v1", "Scale"}}) {
    EXPECT_EQ(decoded(envelope(version, kind, Message())),
              R"({"kind":")" + kind + R"(","apiVersion":")" + version + R"("})");
  }
  EXPECT_EQ(decoded(envelope("x/v1", "Y", Message())),
            R"(error: no kind "Y" is registered for version "x/v1")");
}

TEST_F(Protobuf, CustomKindsDoNotTakeIt) {
  const auto decoded = schemas_->find("ray.io", "v1", "rayjobs")
                           ->decode_protobuf(envelope("ray.io/v1", "RayJob", Message()));
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().code, Code::UnsupportedMedia);
}

// What is encoded is read back as it was: every type of value, exact where zero is a value.
TEST_F(Protobuf, WhatIsEncodedIsDecodedAsItWas) {
  struct Case {
    const char* plural;
    std::string object;  // in the order of the field numbers, as decoding gives it
  };
  const std::vector<Case> cases{
      {"pods",
       R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","labels":{"a":"b","c":""}},)"
       R"("spec":{"volumes":[{"name":"tmp","emptyDir":{}}],"containers":[{"name":"main","image":"busybox","command":["sh","-c"],)"
       R"("ports":[{"name":"http","containerPort":8080,"protocol":"TCP"}],"resources":{"requests":{"cpu":"500m"}},)"
       R"("livenessProbe":{"httpGet":{"path":"/ok","port":8080},"initialDelaySeconds":5},)"
       R"("readinessProbe":{"tcpSocket":{"port":"web"}}}],"terminationGracePeriodSeconds":0,"automountServiceAccountToken":false},"status":{}})"},
      {"secrets", R"({"kind":"Secret","apiVersion":"v1","data":{"k":"AP8="},"immutable":true})"},
      {"priorityclasses",
       R"({"kind":"PriorityClass","apiVersion":"scheduling.k8s.io/v1","value":-5})"},
      {"leases",
       R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"l","creationTimestamp":"2026-01-02T03:04:05Z"},)"
       R"("spec":{"leaseDurationSeconds":0,"renewTime":"2026-01-02T03:04:05.123456Z"}})"},
      {"deployments",
       R"({"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","managedFields":[{"manager":"m","operation":"Apply","fieldsV1":{"f:spec":{}}}]},)"
       R"("spec":{"replicas":0,"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"25%","maxSurge":0}}}})"},
  };
  for (const Case& c : cases) {
    const Json object = *parse_json(c.object);
    for (const KindSchemaPtr& schema : schemas_->all()) {
      if (schema->kind().plural != c.plural || !schema->built_in()) continue;
      const std::string message = encode_protobuf_message(schema->root(), object.get_object());
      EXPECT_EQ(decode(c.plural, protobuf_envelope(text_at(object, {"apiVersion"}),
                                                   text_at(object, {"kind"}), message)),
                c.object);
    }
  }
}

// JSON has one field where the wire has a message with two.
TEST_F(Protobuf, DefinitionsOfKindsGoThereAndBack) {
  const Message text = Message().bytes(5, "string");
  const Message list = Message().bytes(5, "array").message(24, Message().message(1, text));
  const Message map =
      Message().bytes(5, "object").message(30, Message().number(1, 1).message(2, text));
  const Message open = Message().bytes(5, "object").message(30, Message().number(1, 1));
  const Message truth = Message().bytes(5, "boolean").message(8, Message().bytes(1, "false"));
  const auto property = [](std::string_view name, const Message& schema) {
    return Message().bytes(1, name).message(2, schema);
  };
  const Message schema = Message()
                             .bytes(5, "object")
                             .message(8, Message().bytes(1, R"({"a":1})"))
                             .message(29, property("list", list))
                             .message(29, property("map", map))
                             .message(29, property("open", open))
                             .message(29, property("truth", truth))
                             .number(38, 1);
  const Message version =
      Message().bytes(1, "v1").number(2, 1).number(3, 1).message(4, Message().message(1, schema));
  const Message definition =
      Message().message(2, Message().bytes(1, "example.com").message(7, version));
  const std::string decoded =
      decode("customresourcedefinitions",
             envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition", definition));
  const Result<Json> document = parse_json(decoded);
  ASSERT_TRUE(document.has_value()) << decoded;
  const Json* root =
      find(array_at(*document, {"spec", "versions"})->at(0), {"schema", "openAPIV3Schema"});
  ASSERT_NE(root, nullptr);
  EXPECT_EQ(to_json(*find(*root, {"properties"})),
            R"({"list":{"type":"array","items":{"type":"string"}},)"
            R"("map":{"type":"object","additionalProperties":{"type":"string"}},)"
            R"("open":{"type":"object","additionalProperties":true},)"
            R"("truth":{"type":"boolean","default":false}})");
  EXPECT_EQ(to_json(*find(*root, {"default"})), R"({"a":1})");
  const SchemaNode& node =
      schemas_->find_resource("customresourcedefinitions.apiextensions.k8s.io")->root();
  const std::string again = protobuf_envelope("apiextensions.k8s.io/v1", "CustomResourceDefinition",
                                              encode_protobuf_message(node, document->as_object()));
  EXPECT_EQ(decode("customresourcedefinitions", again), decoded);
}

TEST_F(Protobuf, AStatusHasItsDetailsAndCode) {
  const Json status = *parse_json(
      R"({"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"m","reason":"NotFound",)"
      R"("details":{"name":"p","kind":"pods","causes":[{"reason":"r","message":"w","field":"f"}]},"code":404})");
  const Message details = Message()
                              .bytes(1, "p")
                              .bytes(2, "")
                              .bytes(3, "pods")
                              .message(4, Message().bytes(1, "r").bytes(2, "w").bytes(3, "f"))
                              .number(5, 0)
                              .bytes(6, "");
  const Message list = Message().bytes(1, "").bytes(2, "").bytes(3, "");
  EXPECT_EQ(protobuf_status(status), envelope("v1", "Status",
                                              Message()
                                                  .message(1, list)
                                                  .bytes(2, "Failure")
                                                  .bytes(3, "m")
                                                  .bytes(4, "NotFound")
                                                  .message(5, details)
                                                  .number(6, 404)));
}

}  // namespace
}  // namespace krater::api
