#include "model/tunnel.h"

#include <gtest/gtest.h>

namespace krater::tunnel {
namespace {

TEST(Tunnel, AFrameIsTypeThenBigEndianStreamThenPayload) {
  const std::string wire = encode(data_frame(0x01020304, Channel::Stderr, "hi"));
  EXPECT_EQ(wire, std::string("\x03\x01\x02\x03\x04\x02hi", 8));
  const Result<Frame> back = decode(wire);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->stream, 0x01020304u);
  const Result<DataView> data = data_of(*back);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->channel, Channel::Stderr);
  EXPECT_EQ(data->bytes, "hi");
}

TEST(Tunnel, WhatIsNoFrameIsRefused) {
  EXPECT_FALSE(decode(""));
  EXPECT_FALSE(decode("\x03\x01\x02\x03"));
  EXPECT_FALSE(decode(std::string("\x09\0\0\0\1", 5)));
  EXPECT_FALSE(decode(std::string(kMaxMessage + 1, '\x03')));
  EXPECT_FALSE(data_of(Frame{FrameType::Data, 1, ""}));
  EXPECT_FALSE(data_of(Frame{FrameType::Data, 1, "\x09x"}));
  EXPECT_FALSE(window_of(Frame{FrameType::Window, 1, "abc"}));
  EXPECT_FALSE(open_of(Frame{FrameType::Open, 1, "{}"}));
}

TEST(Tunnel, AnEndCarriesTheFailureWithItsCode) {
  EXPECT_FALSE(failure_of(end_frame(1, std::nullopt)));
  const auto failure =
      failure_of(end_frame(1, make_error(Code::BadRequest, "container \"c\" is waiting")));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->code, Code::BadRequest);
  EXPECT_EQ(failure->message, "container \"c\" is waiting");
  EXPECT_EQ(failure_of(Frame{FrameType::End, 1, "junk"})->code, Code::Internal);
}

TEST(Tunnel, ALogRequestSurvivesTheWire) {
  LogRequest request{"default", "p", "u", "c"};
  request.follow = true;
  request.tail_lines = 0;
  request.since_time = WallTime(1'700'000'000'123'456'789);
  const Result<Frame> frame = decode(encode(open_frame(7, kLogs, to_json_value(request))));
  ASSERT_TRUE(frame);
  const Result<OpenRequest> open = open_of(*frame);
  ASSERT_TRUE(open);
  EXPECT_EQ(open->kind, kLogs);
  const Result<LogRequest> back = log_request(open->params);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->pod, "p");
  EXPECT_TRUE(back->follow);
  EXPECT_FALSE(back->previous);
  EXPECT_EQ(back->tail_lines, 0);
  EXPECT_EQ(back->since_time->unix_nanos(), 1'700'000'000'123'456'789);
  EXPECT_FALSE(back->limit_bytes);
  EXPECT_FALSE(log_request(Json(JsonObject{{"pod", "p"}})));
}

TEST(Tunnel, AnExecRequestKeepsItsWords) {
  ExecRequest request{"default", "p", "u", "c", {"sh", "-c", "a b"}};
  request.tty = true;
  const Result<ExecRequest> back = exec_request(to_json_value(request));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->command, (std::vector<std::string>{"sh", "-c", "a b"}));
  EXPECT_TRUE(back->tty);
  EXPECT_FALSE(back->in);
}

TEST(Tunnel, ASenderStopsAtItsWindowAndGoesOnWhenGranted) {
  SendWindow window;
  std::size_t sent = 0;
  while (const std::size_t n = window.take(1 << 20)) {
    EXPECT_LE(n, kMaxData);
    sent += n;
  }
  EXPECT_EQ(sent, kInitialWindow);
  window.grant(10);
  EXPECT_EQ(window.take(100), 10u);
}

TEST(Tunnel, AReceiverGrantsInHalfWindowsAndNoticesAnOverrun) {
  ReceiveWindow window;
  EXPECT_TRUE(window.receive(kInitialWindow));
  EXPECT_FALSE(window.receive(1));
  EXPECT_EQ(window.consume(kInitialWindow / 2 - 1), 0u);
  EXPECT_EQ(window.consume(1), kInitialWindow / 2);
  EXPECT_TRUE(window.receive(kInitialWindow / 2));
  EXPECT_FALSE(window.receive(1));
}

}  // namespace
}  // namespace krater::tunnel
