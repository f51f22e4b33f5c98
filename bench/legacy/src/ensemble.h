// Ensembles of model runs.
#ifndef FIELDLAB_ENSEMBLE_H
#define FIELDLAB_ENSEMBLE_H

#include <vector>

// Several members of an ensemble, each `cells` long, averaged into `mean`.
void ensemble_mean(const std::vector<double>& members, std::vector<double>& mean, int count);

#endif
