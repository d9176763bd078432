// Krater's only executable. What a verb does stands in src/cli, one file each.
#include "cli/cli.h"

int main(int argc, char** argv) {
  return krater::cli::run(argc, argv);
}
