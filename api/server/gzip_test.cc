#include "api/server/gzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include "api/server/testing/test_server.h"

namespace krater::api {
namespace {

using testing::HttpsClient;
using testing::Reply;
using testing::TestServer;

std::string gunzip(const std::string& bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(64 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, IsUsedOnlyWhereItIsAccepted) {
  EXPECT_TRUE(accepts_gzip("gzip"));
  EXPECT_TRUE(accepts_gzip("deflate, GZIP;q=0.5"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("identity"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0"));
  EXPECT_FALSE(accepts_gzip("gzip;q=0.000"));
}

TEST(Gzip, PiecesComeBackAsOneText) {
  std::string text;
  std::string packed;
  GzipEncoder encoder;
  for (int i = 0; i < 5000; ++i) {
    const std::string piece = "{\"name\":\"pod-" + std::to_string(i) + "\"},";
    text += piece;
    encoder.add(piece, packed);
  }
  encoder.add({}, packed);
  encoder.finish(packed);
  EXPECT_LT(packed.size() * 4, text.size());
  EXPECT_EQ(gunzip(packed), text);
}

TEST(Gzip, LargeAnswersAreSmallerAndTheSame) {
  TestServer server;
  HttpsClient client = server.admin();
  const std::string maps = "/api/v1/namespaces/default/configmaps";
  for (const char* name : {"a", "b", "c"}) {
    const Json map = JsonObject{{"metadata", JsonObject{{"name", name}}},
                                {"data", JsonObject{{"k", std::string(300'000, *name)}}}};
    ASSERT_EQ(client.send("POST", maps, to_json(map)).status, 201);
  }
  const Reply plain = client.send("GET", maps);
  EXPECT_EQ(plain.header("Content-Encoding"), "");
  const Reply packed = client.send("GET", maps, "", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(packed.header("Content-Encoding"), "gzip");
  EXPECT_LT(packed.body.size() * 10, plain.body.size());
  EXPECT_EQ(gunzip(packed.body), plain.body);
  const Reply small = client.send("GET", "/version", "", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(small.header("Content-Encoding"), "");
}

}  // namespace
}  // namespace krater::api
