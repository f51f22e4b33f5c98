#include "bodies.h"

#include <cmath>

void accelerations(const std::vector<double>& mass, const std::vector<double>& x, const std::vector<double>& y,
                   const std::vector<double>& z, std::vector<double>& ax, std::vector<double>& ay, std::vector<double>& az,
                   double softening)
{
    const int n = static_cast<int>(mass.size());
    for (int i = 0; i < n; ++i) {
        double sx = 0.0, sy = 0.0, sz = 0.0;
        for (int j = 0; j < n; ++j) {
            double dx = x[j] - x[i];
            double dy = y[j] - y[i];
            double dz = z[j] - z[i];
            double r2 = dx * dx + dy * dy + dz * dz + softening;
            double pull = mass[j] / (r2 * std::sqrt(r2));
            sx += pull * dx;
            sy += pull * dy;
            sz += pull * dz;
        }
        ax[i] = sx;
        ay[i] = sy;
        az[i] = sz;
    }
}

static void advance(std::vector<double>& position, std::vector<double>& velocity, const std::vector<double>& acceleration, double dt)
{
    const int n = static_cast<int>(position.size());
    for (int i = 0; i < n; ++i) {
        velocity[i] += dt * acceleration[i];
        position[i] += dt * velocity[i];
    }
}

void drift(Bodies& bodies, int steps, double dt, double softening)
{
    const std::vector<double>::size_type n = bodies.mass.size();
    std::vector<double> ax(n), ay(n), az(n);
    for (int step = 0; step < steps; ++step) {
        accelerations(bodies.mass, bodies.x, bodies.y, bodies.z, ax, ay, az, softening);
        advance(bodies.x, bodies.vx, ax, dt);
        advance(bodies.y, bodies.vy, ay, dt);
        advance(bodies.z, bodies.vz, az, dt);
    }
}

double kinetic_energy(const Bodies& bodies)
{
    double energy = 0.0;
    for (std::vector<double>::size_type i = 0; i < bodies.mass.size(); ++i)
        energy += 0.5 * bodies.mass[i] * (bodies.vx[i] * bodies.vx[i] + bodies.vy[i] * bodies.vy[i] + bodies.vz[i] * bodies.vz[i]);
    return energy;
}
