"""Exchanges the loops of a perfect nest so that the innermost one walks through memory in small steps.

Before::

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            for (int k = 0; k < n; k++)
                c[i][j] += a[i][k] * b[k][j];

After::

    for (int i = 0; i < n; ++i)
        for (int k = 0; k < n; ++k)
            for (int j = 0; j < n; ++j) {
                c[i][j] += a[i][k] * b[k][j];
            }

Legal when every dependence still runs forwards: written as a vector of directions in the new order, the first that is not ``=`` is ``<``.
A sum into ``c[i][j]`` depends on itself along ``k``, so its terms are still added in the order of ``k`` and round as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

from perfcc.core.candidate import Parameters
from perfcc.core.facts import Facts
from perfcc.core.ir import Block, Loop
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.rules.bounds import fresh
from perfcc.rules.order import backwards, band, cost, heads, reorderable, reversed_by
from perfcc.rules.tree import exchange, find

PHASE = 10
ID = "loop-interchange"
_LARGEST_BAND = 5
_ORDERS = 4


def match(kernel: Kernel, nest: Loop, facts: Facts) -> Iterable[Match]:
    """For each band the orders with a better innermost loop, the best first; the order it has where there is none."""
    for head in heads(nest):
        ids = tuple(member.id for member in band(head))[:_LARGEST_BAND]
        now = cost(facts, ids)
        better = sorted((cost(facts, order), order) for order in permutations(ids) if cost(facts, order)[0] < now[0])
        legal_first = sorted(better, key=lambda entry: reversed_by(facts.dependences, ids, entry[1]) is not None)
        for _, order in legal_first[:_ORDERS]:
            yield Match(ID, nest, head.id, order)
        if not better:
            yield Match(ID, nest, head.id, ids)


def parameters(match: Match, facts: Facts) -> Iterable[Parameters]:
    names = {loop.id: loop.var.name for loop in band(find(match.nest, match.loop))}
    return ((("order", ",".join(names[id] for id in match.band)),),)


def legal(match: Match, facts: Facts) -> Legal | Refusal:
    members = band(find(match.nest, match.loop))[: len(match.band)]
    ids = tuple(member.id for member in members)
    headers = reorderable(members, match.nest, facts)
    if isinstance(headers, Reason):
        return Refusal(ID, headers)
    if match.band == ids:
        return Refusal(ID, Reason("stride-already-best", members[0].span))
    stopped = reversed_by(facts.dependences, ids, match.band)
    if stopped is not None:
        return Refusal(ID, backwards(stopped))
    argument = "every dependence still runs forwards in the new order, so each element sees the same operations in the same order"
    return Legal(ID, argument, headers[1])


def rewrite(kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop:
    members = {m.id: m for m in band(find(match.nest, match.loop))[: len(match.band)]}
    body = list(members.values())[-1].body
    for id in reversed(match.band):
        header = fresh(members[id], match.nest)
        assert not isinstance(header, Reason), "the proof covers the header"
        loop = replace(header[0], body=body, span=None)
        body = Block((loop,))
    return exchange(match.nest, match.loop, loop)
