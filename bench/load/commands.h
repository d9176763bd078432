// The measurements. Each prints its lines and returns the program's exit code: 1 when a request
// failed.
#pragma once

#include <cstddef>
#include <string>

#include "bench/load/target.h"

namespace krater::bench {

struct CreateOptions {
  int clients = 64, requests = 20000;
  std::size_t bytes = 1024;
};
// Durable creates of ConfigMaps a second.
int bench_create(const Target& target, const CreateOptions& options);

struct GetOptions {
  int clients = 64, requests = 20000;
};
// One pod again and again: with one client beside a TLS server that sends the same bytes out of
// memory, then with many.
int bench_get(const Target& target, const GetOptions& options);

struct ListOptions {
  int objects = 10000, repeat = 10;
  std::string resource_version{};  // "0": where another server answers from its memory
};
// Lists of pods, beside a TLS server that sends the same bytes out of memory.
int bench_list(const Target& target, const ListOptions& options);

struct WatchOptions {
  int watchers = 1000, writes = 100;
};
// One write at a time, and how long until the last of many watchers has it; what the watches cost
// the server in memory and in processor time an event.
int bench_watch(const Target& target, const WatchOptions& options);

struct GangOptions {
  int jobs = 20, workers = 2, seconds = 60;
  std::string queue{};
};
// RayJobs submitted at once: how long from the submission of each until its last pod is bound.
int bench_gangs(const Target& target, const GangOptions& options);

struct ShapeOptions {
  int jobs = 500, pods = 20, clients = 16, seconds = 120;
  bool gang = true;
  std::string via = "vcjob";      // or "pods", "none"
  std::string until = "running";  // or "created", "first-bound", "bound"
};
// Jobs of one-CPU pods: when all are created, bound and running.
int bench_shapes(const Target& target, const ShapeOptions& options);

}  // namespace krater::bench
