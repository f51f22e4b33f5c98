#include "error.h"

#include <stdio.h>

static int warning_count = 0;

void warn(const std::string& what)
{
    ++warning_count;
    fprintf(stderr, "fieldlab: warning: %s\n", what.c_str());
}

int warnings()
{
    return warning_count;
}

std::string to_text(long value)
{
    char buffer[32];
    sprintf(buffer, "%ld", value);
    return buffer;
}
