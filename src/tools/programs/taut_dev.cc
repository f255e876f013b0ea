// taut-dev: a simulated cell for trials and measurements. All there is to see is in dev/.
#include "tools/dev/commands.h"

int main(int argc, char** argv) { return taut::tools::RunDev(argc, argv); }
