// Spread of heat in a plate: explicit five-point scheme, the border is held.
#ifndef FIELDLAB_DIFFUSION_H
#define FIELDLAB_DIFFUSION_H

#include <vector>

// One time step from `old` to `now`; rate is k * dt / h^2, at most 0.25.
void heat_step(const std::vector<double>& old, std::vector<double>& now, int rows, int columns, double rate);

// `steps` time steps; the result is in `field`.
void heat_run(std::vector<double>& field, int rows, int columns, double rate, int steps);

// Tridiagonal system (Thomas algorithm) with constant coefficients: one implicit step along a rod.
void rod_step(std::vector<double>& rod, double rate);

#endif
