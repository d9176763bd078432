#include "api/server/gzip.h"

#include <zlib.h>

#include <array>

#include "base/check.h"
#include "base/strings.h"

namespace krater::api {
namespace {

constexpr int kFast = 1;              // JSON shrinks tenfold at any level; time is what differs
constexpr int kGzipWindow = 15 + 16;  // the largest window, in gzip's wrapping
constexpr int kMemory = 8;

}  // namespace

bool accepts_gzip(std::string_view accept_encoding) {
  for (const std::string_view clause : split(accept_encoding, ',')) {
    const std::size_t semicolon = clause.find(';');
    if (to_lower(trim(clause.substr(0, semicolon))) != "gzip") continue;
    if (semicolon == std::string_view::npos) return true;
    const std::string quality = to_lower(trim(clause.substr(semicolon + 1)));
    return quality.find_first_of("123456789") != std::string::npos;  // q=0, q=0.0: refused
  }
  return false;
}

GzipEncoder::GzipEncoder() : stream_(std::make_unique<z_stream_s>()) {
  CHECK(deflateInit2(stream_.get(), kFast, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) ==
        Z_OK);
}

GzipEncoder::~GzipEncoder() {
  deflateEnd(stream_.get());
}

void GzipEncoder::add(std::string_view bytes, std::string& out) {
  run(bytes, Z_NO_FLUSH, out);
}

void GzipEncoder::finish(std::string& out) {
  run({}, Z_FINISH, out);
}

void GzipEncoder::run(std::string_view bytes, int flush, std::string& out) {
  std::array<unsigned char, 16 << 10> ready;
  stream_->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream_->avail_in = static_cast<uInt>(bytes.size());
  do {
    stream_->next_out = ready.data();
    stream_->avail_out = static_cast<uInt>(ready.size());
    deflate(stream_.get(), flush);
    out.append(reinterpret_cast<const char*>(ready.data()), ready.size() - stream_->avail_out);
  } while (stream_->avail_out == 0);
}

}  // namespace krater::api
