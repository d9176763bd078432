#include "model/document_shelf.h"

namespace krater {

void DocumentShelf::keep(Document document, std::size_t bytes) {
  if (bytes > limits_.largest) return;
  std::vector<Document> gone;  // trees are taken down without the lock
  const std::lock_guard lock(mutex_);
  young_.push_back(std::move(document));
  young_bytes_ += bytes;
  if (young_.size() >= limits_.documents || young_bytes_ >= limits_.bytes)
    gone = begin_generation();
}

void DocumentShelf::age() {
  std::vector<Document> gone;
  const std::lock_guard lock(mutex_);
  gone = begin_generation();
}

std::size_t DocumentShelf::size() const {
  const std::lock_guard lock(mutex_);
  return young_.size() + old_.size();
}

std::vector<DocumentShelf::Document> DocumentShelf::begin_generation() {
  young_bytes_ = 0;
  return std::exchange(old_, std::exchange(young_, {}));
}

DocumentShelf& document_shelf() {
  // Never destroyed: threads may hold objects until the very end.
  static DocumentShelf& shelf = *new DocumentShelf(DocumentShelf::Limits());
  return shelf;
}

}  // namespace krater
