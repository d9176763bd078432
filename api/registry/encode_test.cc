#include "api/registry/encode.h"

#include <gtest/gtest.h>

#include "api/registry/continue_token.h"
#include "api/registry/keys.h"
#include "base/strings.h"

namespace krater::api {
namespace {

Json object(std::string_view text) {
  return *parse_json(text);
}

TEST(Encode, PutsIdentityFirstAndLeavesRoomForTheRevision) {
  const Encoded encoded = encode_object(object(
      R"({"spec":{"b":1,"a":2},"metadata":{"labels":{"x":"y"},"uid":"u","resourceVersion":"7","name":"n"},"kind":"K","apiVersion":"v1"})"));
  EXPECT_EQ(
      encoded.bytes,
      R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n","uid":"u","resourceVersion":"","labels":{"x":"y"}},"spec":{"b":1,"a":2}})");
  EXPECT_EQ(encoded.bytes.substr(encoded.revision_at, 2), "\",");
}

TEST(Encode, ExchangesTheRevisionOnlyWhereItStands) {
  const Encoded encoded = encode_object(object(
      R"({"apiVersion":"v1","kind":"K","metadata":{"name":"n","annotations":{"a":"\"resourceVersion\":\"5\""}}})"));
  const std::string stored = at_revision(encoded.bytes, Revision(12));
  EXPECT_EQ(text_at(object(stored), {"metadata", "resourceVersion"}), "12");
  const std::string later = at_revision(stored, Revision(4711));
  EXPECT_EQ(text_at(object(later), {"metadata", "resourceVersion"}), "4711");
  EXPECT_EQ(text_at(object(later), {"metadata", "annotations", "a"}), "\"resourceVersion\":\"5\"");
}

TEST(Keys, NameObjectsAndKeepClaimsApart) {
  const ObjectKey pod = ObjectKey::of(kinds::kPod, "default", "p");
  EXPECT_EQ(store_key(pod), "/pods/default/p");
  EXPECT_EQ(object_key("/pods/default/p"), pod);
  EXPECT_EQ(object_key("/nodes/n1"), ObjectKey::of(kinds::kNode, "", "n1"));
  EXPECT_EQ(object_key(claim_key("clusterip/10.96.0.7")), std::nullopt);
  EXPECT_TRUE(store_range("pods", "a").contains("/pods/a/p"));
  EXPECT_FALSE(store_range("pods", "a").contains("/pods/a-b/p"));
  EXPECT_FALSE(store_range("jobs.batch", "").contains("/jobs.batch.volcano.sh/a/j"));
}

TEST(ContinueToken, ComesBackAsItWas) {
  const Result<ContinueToken> token = parse_continue(to_text({Revision(42), "/pods/a/b"}));
  ASSERT_TRUE(token.has_value());
  EXPECT_EQ(token->revision, Revision(42));
  EXPECT_EQ(token->after, "/pods/a/b");
  const Result<ContinueToken> open_end = parse_continue(to_text({std::nullopt, "/pods/a/b"}));
  ASSERT_TRUE(open_end.has_value());
  EXPECT_EQ(open_end->revision, std::nullopt);
}

TEST(ContinueToken, RefusesWhatItDidNotMake) {
  for (const std::string& text : {std::string("!!"), base64url_encode("[]"),
                                  base64url_encode(R"({"v":"meta.k8s.io/v1","rv":0,"start":"/a"})"),
                                  base64url_encode(R"({"v":"meta.k8s.io/v1","rv":5})"),
                                  base64url_encode(R"({"v":"v9","rv":5,"start":"/a"})")}) {
    const Result<ContinueToken> token = parse_continue(text);
    ASSERT_FALSE(token.has_value()) << text;
    EXPECT_EQ(token.error().code, Code::BadRequest);
    EXPECT_TRUE(token.error().message.starts_with("continue key is not valid: "))
        << token.error().message;
  }
}

}  // namespace
}  // namespace krater::api
