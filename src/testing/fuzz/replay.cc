// Runs a fuzz target without a fuzzer: over its corpus, and over what a few small changes make of
// each file. The changes follow from the bytes alone. So every build runs the targets, with
// whatever compiler, and what once was found stays found.
//
//   fuzz_json CORPUS [changes a file, 30 unless told]
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <string>

#include "base/env.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void run(const std::string& input) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
}

std::string changed(std::string text, krater::Rng& rng) {
  for (std::uint64_t n = 1 + rng.below(4); n > 0 && !text.empty(); --n) {
    const std::size_t at = rng.below(text.size());
    const std::size_t length = 1 + rng.below(std::min<std::size_t>(text.size() - at, 16));
    switch (rng.below(5)) {
      case 0:
        text[at] = static_cast<char>(rng.next());
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.insert(rng.below(text.size()), text.substr(at, length));
        break;
      case 3:
        text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
        break;
      default:
        text.replace(rng.below(text.size()), 1, 1, text[at]);
        break;
    }
  }
  return text;
}

std::uint64_t seed_of(const std::string& text) {
  std::uint64_t out = 1469598103934665603U;
  for (const char c : text) out = (out ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int changes = argc > 2 ? std::atoi(argv[2]) : 30;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[1])) files.insert(entry.path());
  if (files.empty()) {
    std::cerr << "no corpus in " << argv[1] << '\n';
    return 1;
  }
  for (const std::filesystem::path& path : files) {
    std::cout << path.filename().string() << std::endl;
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)),
                           std::istreambuf_iterator<char>());
    run(text);
    krater::SeededRng rng(seed_of(text));
    for (int i = 0; i < changes; ++i) run(changed(text, rng));
  }
  std::cout << files.size() << " files\n";
  return 0;
}
