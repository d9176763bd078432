// Webhooks on the way of a write: which of them are meant, what they are asked, what their words
// do to the object. As pure as the rest of preparing: what has not been answered yet is noted in
// the ledger and comes back as an error that nobody sees. Any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/admission/admission.h"
#include "api/registry/prepare.h"

namespace krater::api {

// One write as rules of webhooks name it.
struct HookSubject {
  Operation operation = Operation::Create;
  Kind resource;  // whose group, version and plural rules name
  Kind shown;     // of the object that is sent: the resource's own, or Scale, Binding, Eviction
  std::string name_space, name, subresource;
  Json options{};  // of a delete; null: those of the request
};

// An object that mutating webhooks may change.
struct HookedObject {
  std::function<Json()> show;              // as they see it
  std::function<Result<void>(Json)> take;  // what one of them has made of it
  // The rules of this server that ran before them, once more, after they have changed something.
  std::function<Result<void>()> built_in;
};

// One after the other, each with what those before it have made of the object; once more those
// that ask for it, when others have changed it after them. `object` null: nothing may be changed (a
// delete). `old` null: there was nothing before.
Result<void> ask_mutating_hooks(const HookSubject& subject, HookedObject* object, const Json* old,
                                const PrepareInput& in, std::vector<std::string>& warnings);

// All at once; the first refusal in their order.
Result<void> ask_validating_hooks(const HookSubject& subject, const Json* object, const Json* old,
                                  const PrepareInput& in, std::vector<std::string>& warnings);

// Whether there is any webhook of the kind that could be asked about the subject: nearly always
// not, and then this costs nothing.
Result<bool> any_hook(HookKind kind, const HookSubject& subject, const PrepareInput& in);

}  // namespace krater::api
