// Which programs an image name stands for on this node: there is no image store, names are mapped
// to what is installed. First match wins. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/process/codec.h"
#include "base/result.h"

namespace krater::agent {

class ImageMap {
 public:
  struct Entry {
    std::string match;  // "*" stands for any text: "rayproject/ray*"
    Image image;
  };

  // Images of small general tools stand for the host's own.
  static std::vector<Entry> defaults();
  // images: [{match: "rayproject/ray*", path: /opt/ray-venv}, {match: "busybox*", host: true},
  // {match: "x", rootfs: /srv/x}] Code::Invalid with the entry at fault.
  static Result<std::vector<Entry>> parse_yaml(const std::string& text);

  explicit ImageMap(std::vector<Entry> entries) : entries_(std::move(entries)) {}
  // Code::NotFound with a message that names the image and the mapped names.
  Result<Image> resolve(std::string_view image) const;

 private:
  std::vector<Entry> entries_;
};

bool glob_matches(std::string_view pattern, std::string_view text);

}  // namespace krater::agent
