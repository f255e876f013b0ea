// taut-dev, the program that feeds simulated cells and measures receivers. The code is in tools/dev.
#include "tools/dev/commands.h"

int main(int argc, char** argv) { return taut::tools::RunDev(argc, argv); }
