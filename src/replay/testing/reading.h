// Workloads read from text, and what tests ask of them.
#pragma once

#include <string>
#include <string_view>

#include "replay/formats.h"

namespace krater::replay::testing {

// As a file `t`.
inline Result<Workload> read(const std::string& text, Format format = Format::Auto,
                             const TraceOptions& options = {}) {
  return read_files({{"t", text}}, format, options);
}

inline const Submission* find_job(const Workload& workload, const std::string& name) {
  for (const Submission& one : workload.submissions) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

inline bool noted(const Workload& workload, std::string_view part) {
  for (const std::string& note : workload.notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

}  // namespace krater::replay::testing
