// taut, the command-line client. The code is in tools/cli.
#include "tools/cli/cli.h"

int main(int argc, char** argv) { return taut::tools::RunCli(argc, argv); }
