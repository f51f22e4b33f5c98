// perfcc, perfcc-g++, ...: stands where the compiler stood.
#include "launcher.h"

int main(int argc, char **argv, char **) { return perfcc::launch(argc, argv); }
