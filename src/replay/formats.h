// What a workload is written in, found out from what is in the files, whatever they are called.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "replay/readers.h"
#include "replay/workload.h"

namespace krater::replay {

enum class Format { Auto, Objects, Events, Columns, Alibaba, Google2011, Google2019, Log };

// "objects", "events", "csv", "alibaba", "google-2011", "google-2019", "log"; "auto".
std::optional<Format> format_named(std::string_view name);
std::vector<std::string> format_names();

// Objects and events of Kubernetes, YAML or JSON, one, many or lists.
//
// When a job comes: annotation krater.io/sim-submit-at ("90s"), else by creationTimestamp, counted
// from the first, else at once. How long a pod runs: annotation krater.io/sim-run-time, else as its
// events tell, else until the end. A pod with a node is there from the beginning; who has ended is
// left out; a Job whose pods are there is these pods.
// Code::BadRequest with file, document and field for what is no good.
Result<Workload> read_objects(const std::vector<TraceFile>& files, const TraceOptions& options);

// Files that make up one workload: objects for the cluster, and traces, if they are of one kind.
// Code::BadRequest with the file, and where it can be told line and field.
Result<Workload> read_files(std::vector<TraceFile> files, Format format,
                            const TraceOptions& options);

// A file, or every file of a directory but hidden ones. Of a directory, files that do not claim to
// be YAML, JSON or CSV by their names are left out when nobody knows them. Code::NotFound when
// there is nothing to read.
Result<Workload> read_path(const std::string& path, Format format, const TraceOptions& options);

}  // namespace krater::replay
