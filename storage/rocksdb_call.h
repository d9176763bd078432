// RocksDB is the distribution's build, which the thread sanitizer does not see into: what one of
// its threads hands to another looks like a race. A call made through this leaves the accesses of
// the calling thread within RocksDB out of the record; our own code is watched as ever. Nothing in
// other builds.
#pragma once

#include <utility>

#if defined(__SANITIZE_THREAD__)
#define KRATER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KRATER_THREAD_SANITIZER 1
#endif
#endif

#ifdef KRATER_THREAD_SANITIZER
// Of the sanitizer's runtime.
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace krater::storage {

class RocksdbCall {
 public:
#ifdef KRATER_THREAD_SANITIZER
  RocksdbCall() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~RocksdbCall() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  RocksdbCall() = default;
  ~RocksdbCall() = default;
#endif
  RocksdbCall(const RocksdbCall&) = delete;
  RocksdbCall& operator=(const RocksdbCall&) = delete;
};

// What `call` answers; it should do nothing but call RocksDB.
template <typename Call>
auto in_rocksdb(Call&& call) {
  [[maybe_unused]] const RocksdbCall inside;
  return std::forward<Call>(call)();
}

}  // namespace krater::storage
