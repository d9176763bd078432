// A small world for scenario tests: controllers on a fake client and a manual loop, and hands that
// play the other parts (kubelet, user).
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/check.h"
#include "controllers/loop/controller_loop.h"
#include "testing/fake_client.h"
#include "testing/manual_loop.h"

namespace krater::controllers::testing {

struct World {
  krater::testing::ManualLoop loop;
  krater::testing::FakeClient fake{loop, loop.wall()};
  ControllerLoop controllers{loop, loop.wall(), fake};

  void settle() { loop.run_ready(); }
  // Lets time pass in steps, so that what timers start can finish.
  void pass(Duration time) { loop.advance(time); }

  ObjectPtr put(const Kind& kind, std::string_view json) {
    Result<Json> parsed = parse_json(json);
    CHECK_MSG(parsed.has_value(), json);
    return fake.put(kind, *std::move(parsed));
  }
  ObjectPtr get(const Kind& kind, const std::string& name_space, const std::string& name) const {
    return fake.read(kind, name_space, name);
  }
  // As a user or kubelet would; a merge patch.
  void patch(const Object& object, const Kind& kind, std::string_view json,
             const std::string& subresource = {}) {
    Result<Json> parsed = parse_json(json);
    CHECK_MSG(parsed.has_value(), json);
    const auto done =
        fake.apply(client::PatchWrite{kind, object.name_space(), object.name(),
                                      client::PatchType::Merge, *std::move(parsed), subresource});
    CHECK_MSG(done.has_value(), done.error().message);
  }
  void remove(const Kind& kind, const std::string& name_space, const std::string& name,
              client::Propagation propagation = client::Propagation::Default) {
    const auto done = fake.apply(client::DeleteWrite{kind, name_space, name, propagation});
    CHECK_MSG(done.has_value(), done.error().message);
  }
  // How often an Event with this reason was told.
  std::int64_t told(std::string_view reason) const {
    std::int64_t out = 0;
    for (const ObjectPtr& event : fake.all(kinds::kEvent)) {
      if (text_at(*event->document(), {"reason"}) == reason)
        out += int_at(*event->document(), {"count"}).value_or(1);
    }
    return out;
  }
};

}  // namespace krater::controllers::testing
