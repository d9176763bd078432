// Resource quotas: what each object uses, what a namespace's quotas make of a new one, and what all
// objects of a namespace use together. Pure decisions over a view of the objects; the registry
// stores a charge in the transaction of the object that is charged, so that a quota is never
// overdrawn by requests that race.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/admission/admission.h"
#include "base/quantity.h"

namespace krater::api {

// Amounts by the names that quotas use: "pods", "requests.cpu", "limits.memory",
// "services.nodeports", "count/jobs.batch".
using Usage = std::map<std::string, Quantity, std::less<>>;

Usage usage_of(const Kind& kind, const Json& object);

// A quota as it stands after it was charged.
struct QuotaCharge {
  ObjectPtr before;
  Json after;
};
// For a creation, or a change to a larger size, that nothing else refuses. Code::Forbidden (only the reason) when a quota does not
// allow it; nothing for quotas that do not concern the object.
Result<std::vector<QuotaCharge>> charge_quotas(const Admission& admission);

// What a quota limits, counted anew.
Result<Usage> count_usage(const Json& quota, std::string_view name_space,
                          const ObjectReader& reader);

}  // namespace krater::api
