// Every process that holds objects for long lets the documents go that nobody has asked for lately.
#pragma once

#include "base/env.h"
#include "model/document_shelf.h"

namespace krater::cli {

// On the loop's thread; goes on until the loop ends.
inline void keep_aging_documents(Loop& loop) {
  age_documents();
  loop.after(std::chrono::seconds(1), [&loop] { keep_aging_documents(loop); });
}

}  // namespace krater::cli
