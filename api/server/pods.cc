// Bindings and evictions.
#include "api/registry/status.h"
#include "api/server/await.h"
#include "api/server/body.h"
#include "api/server/handlers.h"
#include "model/kinds.h"

namespace krater::api::handlers {
namespace {

using Outcome = Result<Answer>;

Response success(const Outcome& answer) {
  if (!answer) return respond_error(answer.error());
  Json status = success_status();
  set_path(status, {"code"}, Json(201));
  return respond_json(201, status);
}

Answering bind_to(Deps& deps, Exchange& x, std::string pod) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), "v1", "Binding");
  if (!body) co_return respond_error(body.error());
  const std::string named = text_at(body->object, {"metadata", "name"});
  if (pod.empty()) pod = named;
  if (pod.empty() || (!named.empty() && named != pod)) {
    co_return respond_error(bad_request("name in URL does not match name in Binding object"));
  }
  const std::string kind = text_at(body->object, {"target", "kind"});
  const std::string node = text_at(body->object, {"target", "name"});
  if ((!kind.empty() && kind != "Node") || node.empty()) {
    const Kind binding{"", "v1", "Binding", "bindings", true};
    co_return respond_error(invalid(
        binding, pod,
        {node.empty()
             ? Cause{"FieldValueRequired", "Required value", "target.name"}
             : Cause{"FieldValueNotSupported",
                     "Unsupported value: \"" + kind + "\": supported values: \"Node\", \"<empty>\"",
                     "target.kind"}}));
  }
  const Result<RequestInfo> info = request_info(x, "CreateOptions");
  if (!info) co_return respond_error(info.error());
  const Json* annotations = find(body->object, {"metadata", "annotations"});
  client::BindWrite write{x.path.name_space, pod, Uid(text_at(body->object, {"metadata", "uid"})),
                          NodeName(node), string_map(annotations)};
  const Outcome answer = co_await answer_of<Outcome>(
      [&](Registry::Done done) { deps.registry.write(std::move(write), *info, std::move(done)); });
  co_return success(answer);
}

}  // namespace

Answering bind_pod(Deps& deps, Exchange& x) {
  return bind_to(deps, x, x.path.name);
}
Answering bind(Deps& deps, Exchange& x) {
  return bind_to(deps, x, "");
}

Answering evict(Deps& deps, Exchange& x) {
  const Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), "policy/v1", "Eviction");
  if (!body) co_return respond_error(body.error());
  const std::string named = text_at(body->object, {"metadata", "name"});
  if (!named.empty() && named != x.path.name)
    co_return respond_error(bad_request("name in URL does not match name in Eviction object"));
  Result<RequestInfo> info = request_info(x, "CreateOptions");
  if (!info) co_return respond_error(info.error());
  // The eviction's deleteOptions, read as the body of a delete would be.
  const Json* options = find(body->object, {"deleteOptions"});
  Request inner;
  inner.method = "DELETE";
  inner.target = inner.path = x.request.path;
  inner.body = options == nullptr ? std::string("{}") : to_json(*options);
  Exchange deletion{inner, x.who, x.what, x.path, Verb::Delete, x.schema};
  Result<DeleteRequest> request = delete_request(deletion, deps.registry.schemas(), kinds::kPod);
  if (!request) co_return respond_error(request.error());
  info->dry_run = info->dry_run || request->dry_run;
  const Outcome answer = co_await answer_of<Outcome>([&](Registry::Done done) {
    deps.registry.evict(std::move(request->write), *info, std::move(done));
  });
  co_return success(answer);
}

}  // namespace krater::api::handlers
