// create, update, patch, delete, deletecollection: decode, hand to the one door, render what comes
// back.
#include "api/auth/node_restriction.h"
#include "api/auth/rbac/rbac_authorizer.h"
#include "api/registry/body_checks.h"
#include "api/registry/status.h"
#include "api/server/await.h"
#include "api/server/body.h"
#include "api/server/certificates.h"
#include "api/server/handlers.h"
#include "api/server/render.h"
#include "model/rbac_kinds.h"

namespace krater::api::handlers {
namespace {

// By reference, and the callback captures by reference: GCC 12 copies closures and aggregates that
// are temporaries of a co_await expression bit by bit, which breaks every short string in them. The
// caller's frame outlives the wait.
boost::asio::awaitable<Result<Answer>> commit(Deps& deps, client::Write& write, RequestInfo& info) {
  co_return co_await answer_of<Result<Answer>>([&](Registry::Done done) {
    deps.registry.write(std::move(write), std::move(info), std::move(done));
  });
}

// Roles and bindings hand on no more than their writer has.
void guard_roles(const Deps& deps, const Exchange& x, RequestInfo& info) {
  if (x.path.group != kinds::kRole.group || x.who.in(kMastersGroup)) return;
  info.permit = [&deps, who = x.who](const Kind& kind, const Json& object, const Json* old) {
    return check_escalation(deps.authorizer, who, kind, object, old, deps.lookup());
  };
}

// A node writes what is its own. Roles and certificate requests are guarded by who they are about.
void guard_nodes(const Exchange& x, RequestInfo& info) {
  const AskingNode scope(x.who);
  if (!scope || info.permit) return;
  info.permit = [scope, what = x.what](const Kind&, const Json& object, const Json* old) {
    return check_node_write(scope, what, object, old);
  };
}

Response render_answer(const Deps& deps, const Exchange& x, const Media& media,
                       const Result<Answer>& answer) {
  if (!answer) return respond_error(answer.error());
  Response response =
      render_object(x, media, answer->object, answer->created ? 201 : 200, deps.clock.now());
  add_warnings(response, answer->warnings);
  return response;
}

// An apply creates what is not there, and patching is not yet the right to create.
std::optional<Error> refuse_create(const Deps& deps, const Exchange& x) {
  Attributes what = x.what;
  what.verb = "create";
  const Authorizer::Verdict verdict = deps.authorizer.decide(x.who, what);
  if (verdict.allowed && !NodeScope(x.who)) return std::nullopt;
  return refusal(x.who, what, verdict.reason);
}

}  // namespace

Answering create(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false);
  if (!media) co_return respond_error(media.error());
  Result<DecodedBody> body = decode_object(x.request, *x.schema);
  if (!body) co_return respond_error(body.error());
  Result<RequestInfo> info = request_info(x, "CreateOptions", std::move(body->duplicates));
  if (!info) co_return respond_error(info.error());
  guard_roles(deps, x, *info);
  guard_certificates(deps, x, *info);
  guard_nodes(x, *info);
  if (is_certificate_request(x)) name_requester(x.who, body->object);
  client::Write write =
      client::CreateWrite{x.schema->kind(), x.path.name_space, std::move(body->object)};
  const Result<Answer> answer = co_await commit(deps, write, *info);
  co_return render_answer(deps, x, *media, answer);
}

Answering update(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false);
  if (!media) co_return respond_error(media.error());
  Result<DecodedBody> body = decode_object(x.request, *x.schema);
  if (!body) co_return respond_error(body.error());
  Result<RequestInfo> info = request_info(x, "UpdateOptions", std::move(body->duplicates));
  if (!info) co_return respond_error(info.error());
  guard_roles(deps, x, *info);
  guard_certificates(deps, x, *info);
  guard_nodes(x, *info);
  client::Write write = client::UpdateWrite{x.schema->kind(), x.path.name_space, x.path.name,
                                            std::move(body->object), x.path.subresource};
  const Result<Answer> answer = co_await commit(deps, write, *info);
  co_return render_answer(deps, x, *media, answer);
}

Answering patch(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false);
  if (!media) co_return respond_error(media.error());
  const Result<client::PatchType> type = patch_type(x.request.header("Content-Type"));
  if (!type) co_return respond_error(type.error());
  Result<DecodedBody> body = decode_patch(x.request, *type);
  if (!body) co_return respond_error(body.error());
  if (*type == client::PatchType::Apply) {
    const Result<void> typed = check_applied_type(x.schema->kind(), body->object, true);
    if (!typed) co_return respond_error(typed.error());
  }
  Result<RequestInfo> info = request_info(x, "PatchOptions", std::move(body->duplicates));
  if (!info) co_return respond_error(info.error());
  guard_roles(deps, x, *info);
  guard_certificates(deps, x, *info);
  guard_nodes(x, *info);
  const Result<bool> force = patch_force(x, *type);
  if (!force) co_return respond_error(force.error());
  info->force = *force;
  if (*type == client::PatchType::Apply) info->create_refused = refuse_create(deps, x);
  client::Write write =
      client::PatchWrite{x.schema->kind(),        x.path.name_space, x.path.name, *type,
                         std::move(body->object), x.path.subresource};
  const Result<Answer> answer = co_await commit(deps, write, *info);
  co_return render_answer(deps, x, *media, answer);
}

Answering remove(Deps& deps, Exchange& x) {
  Result<DeleteRequest> request = delete_request(x, deps.registry.schemas(), x.schema->kind());
  if (!request) co_return respond_error(request.error());
  Result<RequestInfo> info = request_info(x, "DeleteOptions");
  if (!info) co_return respond_error(info.error());
  info->dry_run = request->dry_run;
  if (const AskingNode scope(x.who); scope) {
    const Result<void> allowed = check_node_delete(scope, x.what, deps.lookup());
    if (!allowed) co_return respond_error(allowed.error());
  }
  client::Write write = std::move(request->write);
  const Result<Answer> answer = co_await commit(deps, write, *info);
  if (!answer) co_return respond_error(answer.error());
  Response response;
  response.set("Content-Type", std::string(kJsonType));
  response.body.add(delete_body(x.schema->kind(), *answer));
  add_warnings(response, answer->warnings);
  co_return response;
}

Answering remove_collection(Deps& deps, Exchange& x) {
  Result<DeleteRequest> request = delete_request(x, deps.registry.schemas(), x.schema->kind());
  if (!request) co_return respond_error(request.error());
  Result<ListQuery> query = list_query(x);
  if (!query) co_return respond_error(query.error());
  Result<RequestInfo> info = request_info(x, "DeleteOptions");
  if (!info) co_return respond_error(info.error());
  info->dry_run = request->dry_run;
  using Many = Result<std::vector<Answer>>;
  const Many answers = co_await answer_of<Many>([&](Registry::ManyDone done) {
    deps.registry.delete_collection(x.schema->kind(), *query, request->write, *info,
                                    std::move(done));
  });
  if (!answers) co_return respond_error(answers.error());
  Revision at;
  for (const Answer& answer : *answers) at = std::max(at, answer.object->revision());
  co_return respond(200, kJsonType, delete_collection_body(*x.schema, *answers, at));
}

}  // namespace krater::api::handlers
