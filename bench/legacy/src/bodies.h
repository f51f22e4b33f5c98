// Drifting bodies under their mutual attraction, softened at short range.
#ifndef FIELDLAB_BODIES_H
#define FIELDLAB_BODIES_H

#include <vector>

struct Bodies {
    std::vector<double> mass;
    std::vector<double> x, y, z;
    std::vector<double> vx, vy, vz;
};

void accelerations(const std::vector<double>& mass, const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& z, std::vector<double>& ax, std::vector<double>& ay, std::vector<double>& az,
                   double softening);

// Moves all bodies by `steps` steps of length dt.
void drift(Bodies& bodies, int steps, double dt, double softening);

double kinetic_energy(const Bodies& bodies);

#endif
