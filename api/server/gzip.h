// Answers made smaller for clients that accept it. On the connection's strand, a piece at a time,
// so that neither the answer nor its compressed form ever exists as a whole.
#pragma once

#include <memory>
#include <string>
#include <string_view>

struct z_stream_s;

namespace krater::api {

// Smaller answers are not worth the work.
inline constexpr std::size_t kGzipFrom = 128 << 10;

// Whether an Accept-Encoding header allows gzip.
bool accepts_gzip(std::string_view accept_encoding);

class GzipEncoder {
 public:
  GzipEncoder();
  ~GzipEncoder();
  GzipEncoder(const GzipEncoder&) = delete;
  GzipEncoder& operator=(const GzipEncoder&) = delete;

  // Appends to `out` what is ready; the encoder keeps up to a few hundred KiB back.
  void add(std::string_view bytes, std::string& out);
  // The rest. Once, as the last call.
  void finish(std::string& out);

 private:
  void run(std::string_view bytes, int flush, std::string& out);
  std::unique_ptr<z_stream_s> stream_;
};

}  // namespace krater::api
