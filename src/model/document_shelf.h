// Documents that were parsed lately, held for a moment: an object that has changed is looked at by
// one part of the process after the other, and its bytes are parsed once for all of them. Held are
// two generations, each bounded in number and bytes; age_documents() drops the older one. Any
// thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/json.h"

namespace krater {

class DocumentShelf {
 public:
  using Document = std::shared_ptr<const Json>;
  struct Limits {
    std::size_t documents = 2048;     // of one generation
    std::size_t bytes = 8U << 20;     // of one generation, as text; a tree takes several times that
    std::size_t largest = 64U << 10;  // larger ones are not worth the room
  };

  explicit DocumentShelf(Limits limits) : limits_(limits) {}

  // `bytes`: the length of its text.
  void keep(Document document, std::size_t bytes);
  // What has been here since the call before goes.
  void age();
  std::size_t size() const;

 private:
  std::vector<Document> begin_generation();  // under the mutex; the caller drops what comes out

  const Limits limits_;
  mutable std::mutex mutex_;
  std::vector<Document> young_, old_;
  std::size_t young_bytes_ = 0;
};

// The one that Object::document() uses.
DocumentShelf& document_shelf();

// To be called every second or so, or documents stay until others take their place.
inline void age_documents() {
  document_shelf().age();
}

}  // namespace krater
