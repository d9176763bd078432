// Requests for certificates.
#include <chrono>

#include "api/machinery/cells/cells.h"

namespace krater::api::cells {

JsonArray certificate_signing_request(const Json& object, WallTime now) {
  std::string state;
  if (condition_status(object, "Approved") == "True") state = "Approved";
  if (condition_status(object, "Denied") == "True") state = "Denied";
  if (state.empty()) state = "Pending";
  if (condition_status(object, "Failed") == "True") state += ",Failed";
  if (!text_at(object, {"status", "certificate"}).empty()) state += ",Issued";
  const auto seconds = int_at(object, {"spec", "expirationSeconds"});
  return {Json(name(object)),
          Json(age(object, now)),
          Json(or_none(text_at(object, {"spec", "signerName"}))),
          Json(text_at(object, {"spec", "username"})),
          Json(seconds ? human_duration(std::chrono::seconds(*seconds)) : std::string("<none>")),
          Json(state)};
}

}  // namespace krater::api::cells
