#include "api/server/tunnel_hub.h"

#include <gtest/gtest.h>

namespace krater::api {
namespace {

using tunnel::Channel;
using tunnel::Frame;
using tunnel::FrameType;

struct Wire final : TunnelLink {
  bool send(Frame frame) override {
    if (!up) return false;
    sent.push_back(std::move(frame));
    return true;
  }
  bool up = true;
  std::vector<Frame> sent;
};

struct Fixture {
  std::shared_ptr<Wire> wire = std::make_shared<Wire>();
  std::shared_ptr<Tunnel> tunnel = std::make_shared<Tunnel>(wire);
  int rings = 0;
  std::shared_ptr<TunnelStream> open() {
    return tunnel->open(tunnel::kLogs, JsonObject{}, [this] { ++rings; });
  }
};

TEST(Tunnel, AStreamOpensIsAcceptedCarriesAndEnds) {
  Fixture f;
  const auto stream = f.open();
  ASSERT_EQ(f.wire->sent.size(), 1u);
  EXPECT_EQ(f.wire->sent[0].type, FrameType::Open);
  EXPECT_FALSE(stream->state().accepted);
  EXPECT_TRUE(f.tunnel->receive(tunnel::encode({FrameType::Accept, stream->id(), ""})));
  EXPECT_TRUE(f.tunnel->receive(
      tunnel::encode(tunnel::data_frame(stream->id(), Channel::Stdout, "hello"))));
  EXPECT_TRUE(f.tunnel->receive(tunnel::encode(tunnel::end_frame(stream->id(), std::nullopt))));
  EXPECT_EQ(f.rings, 3);
  EXPECT_TRUE(stream->state().accepted);
  EXPECT_TRUE(stream->state().ended);
  EXPECT_FALSE(stream->state().failure);
  EXPECT_EQ(stream->take()->second, "hello");
  EXPECT_FALSE(stream->take());
}

TEST(Tunnel, ADroppedStreamTellsTheAgentAndLateFramesAreIgnored) {
  Fixture f;
  const std::uint32_t id = f.open()->id();
  EXPECT_EQ(f.wire->sent.back().type, FrameType::End);
  EXPECT_TRUE(f.tunnel->receive(tunnel::encode(tunnel::data_frame(id, Channel::Stdout, "late"))));
  EXPECT_FALSE(f.tunnel->receive(
      tunnel::encode(tunnel::data_frame(id + 1, Channel::Stdout, "never opened"))));
}

TEST(Tunnel, AnAgentThatOverrunsItsWindowBreaksTheProtocol) {
  Fixture f;
  const auto stream = f.open();
  const std::string piece(tunnel::kMaxData, 'x');
  for (std::size_t sent = 0; sent < tunnel::kInitialWindow; sent += piece.size()) {
    ASSERT_TRUE(f.tunnel->receive(
        tunnel::encode(tunnel::data_frame(stream->id(), Channel::Stdout, piece))));
  }
  EXPECT_FALSE(
      f.tunnel->receive(tunnel::encode(tunnel::data_frame(stream->id(), Channel::Stdout, "x"))));
}

TEST(Tunnel, WhatIsTakenIsGrantedAgain) {
  Fixture f;
  const auto stream = f.open();
  const std::string piece(tunnel::kMaxData, 'x');
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(f.tunnel->receive(
        tunnel::encode(tunnel::data_frame(stream->id(), Channel::Stdout, piece))));
  while (stream->take()) {
  }
  ASSERT_EQ(f.wire->sent.back().type, FrameType::Window);
  EXPECT_EQ(*tunnel::window_of(f.wire->sent.back()), 4 * tunnel::kMaxData);
}

TEST(Tunnel, TheEndOfTheConnectionFailsEveryStream) {
  Fixture f;
  const auto stream = f.open();
  f.tunnel->close();
  EXPECT_EQ(stream->state().failure->code, Code::Unavailable);
  EXPECT_EQ(f.open()->state().failure->code, Code::Unavailable);
}

TEST(TunnelHub, ANewerTunnelReplacesAndThePoolServesItsNodes) {
  TunnelHub hub;
  Fixture a;
  Fixture b;
  hub.add("n1", a.tunnel);
  hub.add("n1", b.tunnel);
  hub.remove("n1", a.tunnel);  // the old one ends later
  EXPECT_EQ(hub.find("n1"), b.tunnel);
  hub.add_pool("sim", a.tunnel);
  EXPECT_EQ(hub.find("sim-7"), a.tunnel);
  EXPECT_EQ(hub.find("simple"), nullptr);
  hub.remove("n1", b.tunnel);
  EXPECT_EQ(hub.find("n1"), nullptr);
}

}  // namespace
}  // namespace krater::api
