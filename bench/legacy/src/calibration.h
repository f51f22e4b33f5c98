// Sensor calibration, kept apart because the coefficients change with every cruise.
#ifndef FIELDLAB_CALIBRATION_H
#define FIELDLAB_CALIBRATION_H

const int SENSORS = 8;

// Physical value of a raw reading of that sensor (0 to SENSORS - 1).
double calibrated(double raw, int sensor);

// Corrections that series can be put through.
double clip_negative(double value);
double remove_dead_band(double value);

#endif
