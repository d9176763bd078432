#include "api/cel/weigh.h"

#include "api/cel/value_data.h"

namespace krater::cel {
namespace {

constexpr std::size_t kCharactersOfAPart = 16;

class Scales {
 public:
  explicit Scales(std::uint64_t most) : most_(most) {}

  void add(const Json& json) {
    if (++sum_ > most_) return;
    if (json.is_array()) {
      for (const Json& item : json.get_array()) add(item);
    } else if (json.is_object()) {
      for (const auto& entry : json.get_object()) add(entry.value());
    } else if (json.is_string()) {
      sum_ += json.get_string().size() / kCharactersOfAPart;
    }
  }

  void add(const Value& value) {
    if (++sum_ > most_) return;
    if (value.kind() == Value::Kind::List) {
      const ListData& data = value.list_data();
      if (data.json != nullptr) return add_all(*data.json);
      for (const Value& item : data.items) {
        if (sum_ > most_) return;
        add(item);
      }
    } else if (value.kind() == Value::Kind::Map) {
      const MapData& data = value.map_data();
      if (data.json != nullptr) {
        for (const auto& entry : *data.json) add(entry.value());
        return;
      }
      for (const auto& entry : data.entries) {
        if (sum_ > most_) return;
        add(entry.second);
      }
    } else if (value.kind() == Value::Kind::Optional && value.contained() != nullptr) {
      add(*value.contained());
    }
  }

  std::uint64_t sum() const { return sum_; }

 private:
  void add_all(const JsonArray& array) {
    for (const Json& item : array) add(item);
  }

  const std::uint64_t most_;
  std::uint64_t sum_ = 0;
};

}  // namespace

std::uint64_t weigh(const Value& value, std::uint64_t most) {
  Scales scales(most);
  scales.add(value);
  return scales.sum();
}

}  // namespace krater::cel
