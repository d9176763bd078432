#include "api/server/http.h"

#include "api/registry/status.h"
#include "base/strings.h"

namespace krater::api {

std::string_view Request::header(std::string_view name) const {
  const std::string wanted = to_lower(name);
  for (const auto& [key, value] : headers) {
    if (to_lower(key) == wanted) return value;
  }
  return {};
}

std::string Request::joined_header(std::string_view name) const {
  const std::string wanted = to_lower(name);
  std::string out;
  for (const auto& [key, value] : headers) {
    if (to_lower(key) != wanted) continue;
    if (!out.empty()) out += ", ";
    out += value;
  }
  return out;
}

void Rope::add(std::string text) {
  if (!text.empty()) add(std::make_shared<const std::string>(std::move(text)));
}

void Rope::add(Bytes text) {
  size_ += text->size();
  const std::string_view bytes = *text;
  pieces_.push_back({bytes, std::move(text)});
}

void Rope::add_literal(std::string_view text) {
  size_ += text.size();
  pieces_.push_back({text, nullptr});
}

std::string Rope::text() const {
  std::string out;
  out.reserve(size_);
  for (const Piece& piece : pieces_) out += piece.bytes;
  return out;
}

Response respond(int status, std::string_view content_type, std::string body) {
  Response response;
  response.status = status;
  response.set("Content-Type", std::string(content_type));
  response.body.add(std::move(body));
  return response;
}

Response respond_json(int status, const Json& value) {
  return respond(status, kJsonType, to_json(value) + "\n");
}

Response respond_error(const Error& error) {
  Response response = respond_json(http_status(error), failure_status(error));
  if (error.retry_after_seconds)
    response.set("Retry-After", std::to_string(*error.retry_after_seconds));
  return response;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 301:
      return "Moved Permanently";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace krater::api
