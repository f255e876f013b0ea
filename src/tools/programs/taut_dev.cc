// taut-dev: a simulated cell for trials and measurements. Its code is in tools/dev.
#include "tools/dev/commands.h"

int main(int argc, char** argv) { return taut::tools::RunDev(argc, argv); }
