#include "calibration.h"

// Cruise 05-2: offset, slope and curvature, by sensor.
static const double coefficients[SENSORS][3] = {
    { 0.015, 1.0020, -3.1e-5 }, { -0.008, 0.9975, 1.2e-5 }, { 0.000, 1.0000, 0.0 },     { 0.120, 0.9812, 4.4e-4 },
    { -0.031, 1.0104, -9.0e-5 }, { 0.002, 0.9991, 2.5e-6 },  { 0.047, 1.0333, -1.7e-4 }, { -0.005, 1.0008, 6.0e-6 },
};

double calibrated(double raw, int sensor)
{
    const double* c = coefficients[sensor];
    return c[0] + raw * (c[1] + raw * c[2]);
}

double clip_negative(double value)
{
    return value < 0.0 ? 0.0 : value;
}

double remove_dead_band(double value)
{
    return value > -0.05 && value < 0.05 ? 0.0 : value;
}
