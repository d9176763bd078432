// Krater's only executable. What a verb does stands in src/cli, one file each.
#include "cli/cli.h"

// jemalloc reads this before main (decision 0016). A burst of documents comes and goes: what it
// freed goes back to the system after a second, by a thread of its own.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "narenas:4,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true";
}

int main(int argc, char** argv) {
  return krater::cli::run(argc, argv);
}
