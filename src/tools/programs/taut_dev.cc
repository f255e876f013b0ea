// taut-dev: a simulated cell for trials and measurements. All of it is in tools/dev.
#include "tools/dev/commands.h"

int main(int argc, char** argv) { return taut::tools::RunDev(argc, argv); }
