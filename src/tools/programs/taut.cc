// taut: the command line. All there is to see is in cli/.
#include "tools/cli/cli.h"

int main(int argc, char** argv) { return taut::tools::RunCli(argc, argv); }
