#include "agent/process/images.h"

#include <yaml-cpp/yaml.h>

#include <array>

#include "base/strings.h"

namespace krater::agent {

bool glob_matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

std::vector<ImageMap::Entry> ImageMap::defaults() {
  std::vector<Entry> out;
  for (const char* name : {"*busybox*", "*bash*", "alpine*", "python*", "debian*", "ubuntu*"})
    out.push_back({name, {}});
  return out;
}

Result<std::vector<ImageMap::Entry>> ImageMap::parse_yaml(const std::string& text) {
  try {
    std::vector<Entry> out;
    const YAML::Node images = YAML::Load(text)["images"];
    if (!images || !images.IsSequence())
      return make_error(Code::Invalid, "the image map needs a list `images`");
    for (const YAML::Node& node : images) {
      Entry entry;
      entry.match = node["match"].as<std::string>("");
      if (entry.match.empty())
        return make_error(Code::Invalid, "an entry of the image map has no `match`");
      entry.image.path = node["path"].as<std::string>("");
      entry.image.rootfs = node["rootfs"].as<std::string>("");
      entry.image.venv = !entry.image.path.empty();
      const bool host = node["host"].as<bool>(false);
      if (entry.image.path.empty() && entry.image.rootfs.empty() && !host) {
        return make_error(Code::Invalid, "image map entry " + entry.match +
                                             " needs one of `path`, `rootfs`, `host: true`");
      }
      out.push_back(std::move(entry));
    }
    return out;
  } catch (const YAML::Exception& problem) {
    return make_error(Code::Invalid,
                      std::string("the image map is not valid YAML: ") + problem.what());
  }
}

Result<Image> ImageMap::resolve(std::string_view image) const {
  std::string_view shorter = image;
  for (const std::string_view prefix : {"docker.io/", "library/"}) {
    if (shorter.starts_with(prefix)) shorter.remove_prefix(prefix.size());
  }
  std::vector<std::string> known;
  for (const Entry& entry : entries_) {
    if (glob_matches(entry.match, image) || glob_matches(entry.match, shorter)) return entry.image;
    known.push_back(entry.match);
  }
  return make_error(Code::NotFound, "image \"" + std::string(image) +
                                        "\" is not mapped to anything on this node; mapped: " +
                                        join(known, ", ") + " (add it to the agent's image map)");
}

}  // namespace krater::agent
