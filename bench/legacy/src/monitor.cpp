#include "monitor.h"

#include <signal.h>
#include <unistd.h>

volatile int monitor_row = 0;

static volatile sig_atomic_t stop_requested = 0;

static void on_interrupt(int)
{
    stop_requested = 1;
}

static void on_query(int)
{
    char text[] = "fieldlab: at row 0000000\n";
    int row = monitor_row;
    for (int digit = 0; digit < 7; ++digit) {
        text[23 - digit] = static_cast<char>('0' + row % 10);
        row /= 10;
    }
    if (write(2, text, sizeof text - 1) < 0)
        stop_requested = 1;
}

void monitor_install()
{
    signal(SIGINT, on_interrupt);
    signal(SIGUSR1, on_query);
}

bool monitor_stopped()
{
    return stop_requested != 0;
}
