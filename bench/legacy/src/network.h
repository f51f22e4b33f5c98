// The network of measuring stations: who reaches whom, and at what cost.
#ifndef FIELDLAB_NETWORK_H
#define FIELDLAB_NETWORK_H

#include <vector>

const int UNREACHABLE = 1000000000;

// Direct costs as an n x n matrix from edges (from, to, cost); of parallel edges the cheapest counts.
std::vector<int> cost_matrix(const std::vector<int>& edges, int n);

// Costs of the cheapest routes between all pairs (Floyd and Warshall); costs are not negative.
void all_routes(std::vector<int>& cost, int n);

// Which stations can be reached at all (Warshall), in place.
void closure(std::vector<int>& linked, int n);

// For each station the cost to the farthest one it reaches.
void eccentricities(const std::vector<int>& cost, int n, std::vector<int>& farthest);

// Number of hops from `start` in the unweighted network, -1 where there is no way.
std::vector<int> hops_from(const std::vector<int>& edges, int n, int start);

#endif
