// Labels and histograms as api::Metrics takes them.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/server/metrics.h"
#include "base/histogram.h"

namespace krater::cli {

// `queue_name="q",resource="cpu"`: values are escaped, as they may come from users.
std::string label_text(std::initializer_list<std::pair<std::string_view, std::string_view>> labels);

// Appends its buckets, its sum and its count.
void add_histogram(std::vector<api::Metrics::Sample>& to, const std::string& labels,
                   const Histogram& histogram);

}  // namespace krater::cli
