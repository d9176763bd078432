#include "storage/store.h"

#include <future>
#include <utility>

namespace krater::storage {

KeyRange KeyRange::prefix(std::string_view prefix) {
  KeyRange range{std::string(prefix), std::string(prefix)};
  // The smallest string above every string with the prefix: the last byte that can grow grows.
  while (!range.end.empty() && static_cast<unsigned char>(range.end.back()) == 0xff) {
    range.end.pop_back();
  }
  if (!range.end.empty()) range.end.back() = static_cast<char>(range.end.back() + 1);
  return range;
}

Result<Committed> commit_and_wait(Store& store, Transaction transaction) {
  std::promise<Result<Committed>> answer;
  auto answered = answer.get_future();
  store.commit(std::move(transaction),
               [&answer](std::optional<CommitFailure> failure, Committed committed) {
                 if (failure) {
                   answer.set_value(std::move(failure->error));
                 } else {
                   answer.set_value(std::move(committed));
                 }
               });
  return answered.get();
}

}  // namespace krater::storage
