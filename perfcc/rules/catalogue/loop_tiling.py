"""Cuts a perfect nest into blocks whose data stays in the cache while it is used again.

Before::

    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            b[j * n + i] = a[i * n + j];

After::

    for (int perfcc_i = 0; perfcc_i < n; perfcc_i += 32)
        for (int perfcc_j = 0; perfcc_j < n; perfcc_j += 32) {
            const int perfcc_hi2 = (perfcc_i + 32) < n ? (perfcc_i + 32) : n;
            for (int i = perfcc_i; i < perfcc_hi2; ++i) {
                const int perfcc_hi3 = (perfcc_j + 32) < n ? (perfcc_j + 32) : n;
                for (int j = perfcc_j; j < perfcc_hi3; ++j) {
                    b[j * n + i] = a[i * n + j];
                }
            }
        }

Legal when the band is fully permutable: no dependence that starts in it has a direction other than ``=`` or ``<``. Each element then sees
the same operations in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from perfcc.core.candidate import Parameters
from perfcc.core.facts import Facts, NoWrap
from perfcc.core.ir import Binary, Block, IntConst, Loop, VarRef
from perfcc.core.kernel import Kernel
from perfcc.core.proof import Legal, Refusal
from perfcc.core.protocols import Match
from perfcc.core.reason import Reason
from perfcc.core.types import Scope, Storage, TypeKind, Variable
from perfcc.rules.bounds import fresh
from perfcc.rules.order import backwards, band, heads, reorderable, tied_by
from perfcc.rules.tree import exchange, find

PHASE = 20
ID = "loop-tiling"
_LARGEST_BAND = 3
_LARGEST_TILE = 512
_TILES = {2: ("32,32", "64,64", "16,128"), 3: ("32,32,256", "64,64,64", "16,64,512")}
_NEAR = 8
"""Elements of 8 bytes in a cache line: a step of fewer stays in lines that were fetched already."""


def match(kernel: Kernel, nest: Loop, facts: Facts) -> Iterable[Match]:
    """The innermost two or three loops of each band that count upwards."""
    for head in heads(nest):
        members = band(head)[-_LARGEST_BAND:]
        if all(member.step > 0 for member in members) and not any(member.id.endswith(".tile") for member in members):
            yield Match(ID, nest, members[0].id, tuple(member.id for member in members))


def parameters(match: Match, facts: Facts) -> Iterable[Parameters]:
    return tuple((("tiles", sizes),) for sizes in _TILES.get(len(match.band), ("32",)))


def legal(match: Match, facts: Facts) -> Legal | Refusal:
    members = band(find(match.nest, match.loop))
    headers = reorderable(members, match.nest, facts)
    if isinstance(headers, Reason):
        return Refusal(ID, headers)
    stopped = tied_by(facts.dependences, match.band)
    if stopped is not None:
        return Refusal(ID, backwards(stopped))
    if not _reuses(match.band, facts):
        return Refusal(ID, Reason("no-reuse", members[0].span))
    room = [
        NoWrap(Binary("+", m.bound, IntConst(_LARGEST_TILE * m.step)), m.var.element.bits, m.var.element.kind is TypeKind.SIGNED)
        for m in headers[0]
        if m.var.element is not None
    ]
    argument = "no dependence of the band runs backwards along any of its loops, so blocks may run one after another"
    return Legal(ID, argument, (*headers[1], *room))


def rewrite(kernel: Kernel, match: Match, proof: Legal, parameters: Parameters) -> Loop:
    members = band(find(match.nest, match.loop))
    sizes = [int(size) for size in str(dict(parameters)["tiles"]).split(",")]
    assert len(sizes) == len(members)
    assert max(sizes) <= _LARGEST_TILE
    headers: list[Loop] = []
    for member in members:
        header = fresh(member, match.nest)
        assert not isinstance(header, Reason), "the proof covers the header"
        headers.append(header[0])
    blocks = [_block_loop(header, size) for header, size in zip(headers, sizes, strict=True)]
    points = [_point_loop(header, block.var, size) for header, block, size in zip(headers, blocks, sizes, strict=True)]
    body = members[-1].body
    for loop in reversed((*blocks, *points)):
        made = replace(loop, body=body)
        body = Block((made,))
    return exchange(match.nest, match.loop, made)


def _block_loop(loop: Loop, size: int) -> Loop:
    """Runs over the first values of the blocks."""
    element = loop.var.element
    assert element is not None
    name = f"perfcc_{loop.var.name}"
    var = Variable(f"perfcc_{loop.var.id}", name, element.spelling, Storage.SCALAR, element, Scope.LOCAL, declared_in_kernel=True)
    return replace(loop, id=f"{loop.id}.tile", var=var, step=loop.step * size)


def _point_loop(loop: Loop, block: Variable, size: int) -> Loop:
    """Runs over one block: up to its end or the loop's own, whichever comes first."""
    start = VarRef(block, block.element)
    past = size * loop.step - (0 if loop.relation == "<" else 1)
    return replace(loop, lower=start, bound=Binary("min", Binary("+", start, IntConst(past)), loop.bound))


def _reuses(members: tuple[str, ...], facts: Facts) -> bool:
    """True when an access comes back, in an outer loop of the band, to data (or a cache line) that an inner loop has swept past."""
    for access in facts.accesses:
        strides = dict(access.strides)
        for position, outer in enumerate(members[:-1]):
            step = strides.get(outer, 0)
            swept = any(strides.get(inner, 0) != 0 for inner in members[position + 1 :])
            if swept and step is not None and abs(step) < _NEAR:
                return True
    return False
