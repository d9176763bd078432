#include "sim/user.h"

namespace krater::sim {
namespace {

constexpr Duration kAgain = 500ms;

bool may_work_later(Code code) {
  return code == Code::Unavailable || code == Code::Timeout || code == Code::TooManyRequests ||
         code == Code::Conflict;
}

}  // namespace

void User::create(const Kind& kind, Json object) {
  const std::string name_space = text_at(object, {"metadata", "namespace"});
  if (kind.namespaced) made_.push_back({kind, name_space, text_at(object, {"metadata", "name"})});
  try_write(client::CreateWrite{kind, name_space, std::move(object)}, Code::AlreadyExists);
}

void User::remove(const Kind& kind, const std::string& name_space, const std::string& name) {
  try_write(client::DeleteWrite{kind, name_space, name}, Code::NotFound);
}

void User::delete_all() {
  for (const Made& one : made_) remove(one.kind, one.name_space, one.name);
}

void User::try_write(client::Write write, Code fine) {
  ++wanted_;
  lane_.post([this, write = std::move(write), fine] {
    client_.write(write, [this, write, fine](const Result<ObjectPtr>& done) {
      --wanted_;
      if (done || done.error().code == fine) return;
      if (!may_work_later(done.error().code)) {
        refusals_.push_back(client::key_of(write).text() + ": " + done.error().message);
        return;
      }
      ++wanted_;
      lane_.after(kAgain, [this, write, fine] {
        --wanted_;
        try_write(write, fine);
      });
    });
  });
}

}  // namespace krater::sim
