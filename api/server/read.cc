// get and list.
#include "api/server/body.h"
#include "api/server/handlers.h"
#include "api/server/render.h"

namespace krater::api::handlers {

Answering get(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, false);
  if (!media) co_return respond_error(media.error());
  const Result<ObjectPtr> object = deps.registry.get(
      x.schema->kind(), x.path.name_space, x.path.name, x.request.query.first("resourceVersion"));
  if (!object) co_return respond_error(object.error());
  co_return render_object(x, *media, *object, 200, deps.clock.now());
}

Answering list(Deps& deps, Exchange& x) {
  const Result<Media> media = negotiate_for(x, true);
  if (!media) co_return respond_error(media.error());
  const Result<ListQuery> query = list_query(x);
  if (!query) co_return respond_error(query.error());
  const Result<ListResult> result = deps.registry.list(x.schema->kind(), *query);
  if (!result) co_return respond_error(result.error());
  co_return render_list(x, *media, *result, deps.clock.now());
}

}  // namespace krater::api::handlers
