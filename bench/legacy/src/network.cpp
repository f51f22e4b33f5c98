#include "network.h"

#include <queue>

#include "error.h"

std::vector<int> cost_matrix(const std::vector<int>& edges, int n)
{
    std::vector<int> cost(static_cast<size_t>(n) * n, UNREACHABLE);
    for (int i = 0; i < n; ++i)
        cost[i * n + i] = 0;
    for (size_t e = 0; e + 2 < edges.size(); e += 3) {
        int from = edges[e], to = edges[e + 1];
        if (from < 0 || from >= n || to < 0 || to >= n || edges[e + 2] < 0)
            throw Error("network: bad edge number " + to_text(static_cast<long>(e / 3)));
        if (edges[e + 2] < cost[from * n + to])
            cost[from * n + to] = edges[e + 2];
    }
    return cost;
}

void all_routes(std::vector<int>& cost, int n)
{
    std::vector<int> through(n); // row k as it was before the pass: the pass itself may not change it
    for (int k = 0; k < n; ++k) {
        for (int j = 0; j < n; ++j)
            through[j] = cost[k * n + j];
        for (int i = 0; i < n; ++i) {
            const int first_leg = cost[i * n + k];
            for (int j = 0; j < n; ++j) {
                int detour = first_leg + through[j];
                if (detour < cost[i * n + j])
                    cost[i * n + j] = detour;
            }
        }
    }
}

void closure(std::vector<int>& linked, int n)
{
    for (int k = 0; k < n; ++k)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
                linked[i * n + j] |= linked[i * n + k] & linked[k * n + j];
}

void eccentricities(const std::vector<int>& cost, int n, std::vector<int>& farthest)
{
    for (int i = 0; i < n; ++i) {
        int most = 0;
        for (int j = 0; j < n; ++j)
            if (cost[i * n + j] < UNREACHABLE && cost[i * n + j] > most)
                most = cost[i * n + j];
        farthest[i] = most;
    }
}

std::vector<int> hops_from(const std::vector<int>& edges, int n, int start)
{
    std::vector<std::vector<int> > next(n);
    for (size_t e = 0; e + 2 < edges.size(); e += 3)
        next[edges[e]].push_back(edges[e + 1]);

    std::vector<int> hops(n, -1);
    std::queue<int> waiting;
    hops[start] = 0;
    waiting.push(start);
    while (!waiting.empty()) {
        int at = waiting.front();
        waiting.pop();
        for (size_t i = 0; i < next[at].size(); ++i) {
            int to = next[at][i];
            if (hops[to] < 0) {
                hops[to] = hops[at] + 1;
                waiting.push(to);
            }
        }
    }
    return hops;
}
