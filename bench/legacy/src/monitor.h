// Where a long run stands, and whether the operator wants it to stop. Both are shared with the signal handler.
#ifndef FIELDLAB_MONITOR_H
#define FIELDLAB_MONITOR_H

extern volatile int monitor_row;

// SIGUSR1 prints the row, SIGINT asks for an early, orderly end.
void monitor_install();
bool monitor_stopped();

#endif
