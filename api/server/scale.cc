// The scale subresource: Scales in and out, objects behind.
#include "api/registry/scale.h"

#include "api/server/await.h"
#include "api/server/body.h"
#include "api/server/handlers.h"
#include "api/server/render.h"
#include "base/check.h"

namespace krater::api::handlers {
namespace {

Response render_scale(const Deps& deps, const Exchange& x, const Media& media,
                      const Object& object) {
  const Result<Json> shown = scale_of(*x.schema, object);
  if (!shown) return respond_error(shown.error());
  Result<ObjectPtr> scale = Object::parse(object.key(), object.revision(),
                                          std::make_shared<const std::string>(to_json(*shown)));
  CHECK_MSG(scale.has_value(), object.key().text());
  return render_object(x, media, *scale, 200, deps.clock.now());
}

// By reference: see commit() of write.cc.
Answering write_scale(Deps& deps, Exchange& x, const Media& media, client::Write& write,
                      RequestInfo& info) {
  const Result<Answer> answer = co_await answer_of<Result<Answer>>([&](Registry::Done done) {
    deps.registry.write(std::move(write), std::move(info), std::move(done));
  });
  if (!answer) co_return respond_error(answer.error());
  Response response = render_scale(deps, x, media, *answer->object);
  add_warnings(response, answer->warnings);
  co_return response;
}

}  // namespace

Answering get_scale(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false, false);
  if (!media) co_return respond_error(media.error());
  const Result<ObjectPtr> object = deps.registry.get(
      x.schema->kind(), x.path.name_space, x.path.name, x.request.query.first("resourceVersion"));
  if (!object) co_return respond_error(object.error());
  co_return render_scale(deps, x, *media, **object);
}

Answering update_scale(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false, false);
  if (!media) co_return respond_error(media.error());
  Result<DecodedBody> body =
      decode_message(x.request, deps.registry.schemas(), "autoscaling/v1", "Scale");
  if (!body) co_return respond_error(body.error());
  Result<RequestInfo> info = request_info(x, "UpdateOptions", std::move(body->duplicates));
  if (!info) co_return respond_error(info.error());
  client::Write write = client::UpdateWrite{x.schema->kind(), x.path.name_space, x.path.name,
                                            std::move(body->object), std::string(kScale)};
  co_return co_await write_scale(deps, x, *media, write, *info);
}

Answering patch_scale(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false, false);
  if (!media) co_return respond_error(media.error());
  const Result<client::PatchType> type = patch_type(x.request.header("Content-Type"));
  if (!type) co_return respond_error(type.error());
  Result<DecodedBody> body = decode_patch(x.request, *type);
  if (!body) co_return respond_error(body.error());
  Result<RequestInfo> info = request_info(x, "PatchOptions", std::move(body->duplicates));
  if (!info) co_return respond_error(info.error());
  const Result<bool> force = patch_force(x, *type);
  if (!force) co_return respond_error(force.error());
  info->force = *force;
  client::Write write =
      client::PatchWrite{x.schema->kind(),        x.path.name_space,  x.path.name, *type,
                         std::move(body->object), std::string(kScale)};
  co_return co_await write_scale(deps, x, *media, write, *info);
}

}  // namespace krater::api::handlers
