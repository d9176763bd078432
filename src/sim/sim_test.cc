// Runs scenarios: each named file with its own seed, twice, and the two runs must be the same one.
//   sim_test FILE…                     KRATER_SIM_SEEDS=100 sim_test FILE…   (a hundred seeds more)
//   KRATER_SIM_SEED=17 sim_test FILE…  (that seed instead)
//   KRATER_SIM_LOG=1                   what the components log goes to standard error
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/last_words.h"
#include "base/log.h"
#include "base/strings.h"
#include "sim/world.h"

namespace krater::sim {
namespace {

// A run that takes this much processor time hangs: SIGPROF ends it, and a backtrace says where.
constexpr time_t kMostSeconds = 60;

Report run(const Scenario& scenario, std::uint64_t seed) {
  const itimerval limit{{0, 0}, {kMostSeconds, 0}};
  ::setitimer(ITIMER_PROF, &limit, nullptr);
  std::fprintf(stderr, "%s: seed %llu\n", scenario.name.c_str(),
               static_cast<unsigned long long>(seed));
  return World(scenario, seed).run();
}

std::uint64_t number_from(const char* variable, std::uint64_t fallback) {
  const char* text = std::getenv(variable);
  const auto number = text == nullptr ? std::nullopt : parse_int(text);
  return number ? static_cast<std::uint64_t>(*number) : fallback;
}

bool report(const Scenario& scenario, const Report& run) {
  std::printf("%s %s: %s\n", run.violations.empty() ? "ok  " : "FAIL", scenario.name.c_str(),
              run.text().c_str());
  for (const std::string& violation : run.violations) std::printf("  %s\n", violation.c_str());
  std::fflush(stdout);
  return run.violations.empty();
}

bool holds_and_repeats(const Scenario& scenario, std::uint64_t seed) {
  const Report first = run(scenario, seed);
  bool good = report(scenario, first);
  const Report second = run(scenario, seed);
  if (first.fingerprint != second.fingerprint) {
    std::printf("FAIL %s: the second run went another way: %s\n", scenario.name.c_str(),
                second.text().c_str());
    good = false;
  }
  return good;
}

bool run_file(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  const Result<Scenario> scenario =
      parse_scenario(std::filesystem::path(path).stem().string(), text.str());
  if (!file || !scenario) {
    std::printf("FAIL %s: %s\n", path.c_str(),
                scenario ? "cannot be read" : scenario.error().message.c_str());
    return false;
  }
  const std::uint64_t seed = number_from("KRATER_SIM_SEED", scenario->seed);
  bool good = holds_and_repeats(*scenario, seed);
  for (std::uint64_t i = 1; i <= number_from("KRATER_SIM_SEEDS", 0); ++i)
    good = report(*scenario, run(*scenario, seed + 1000 * i)) && good;
  return good;
}

}  // namespace
}  // namespace krater::sim

int main(int argc, char** argv) {
  const bool loud = std::getenv("KRATER_SIM_LOG") != nullptr;
  krater::log::configure(loud ? krater::log::Level::Debug : krater::log::Level::Error);
  krater::prepare_last_words();
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) good = krater::sim::run_file(argv[i]) && good;
  return good ? 0 : 1;
}
