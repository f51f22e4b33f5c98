"""From loop sites to Kernels: the maximal modelled nests, and a refusal for every loop that is in none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from perfcc.core.kernel import Kernel
from perfcc.core.reason import Reason
from perfcc.core.span import Span
from perfcc.frontend import kinds as k
from perfcc.frontend.collect import FunctionSite, LoopSite, is_constant_lambda, is_generic_lambda
from perfcc.frontend.context import Context
from perfcc.frontend.dependent import first_dependent, hidden_names
from perfcc.frontend.hints import hint_before
from perfcc.frontend.hotness import hotness, refused_hotness
from perfcc.frontend.identity import digest
from perfcc.frontend.liveness import liveness
from perfcc.frontend.nest import NestBuilder
from perfcc.frontend.openmp import OpenMP
from perfcc.frontend.prelude import surroundings
from perfcc.frontend.purity import Purity
from perfcc.frontend.ranges import statement_end
from perfcc.frontend.refusal import Refused
from perfcc.frontend.unit import Unit
from perfcc.frontend.uses import Uses


class KernelBuilder:
    """Makes the kernels of one file; ``refusal`` is why none of them can be rewritten, if so."""

    def __init__(self, unit: Unit, refusal: Reason | None = None) -> None:
        self._unit = unit
        self._refusal = refusal
        self._openmp = OpenMP(unit.source)
        self._purity = Purity(unit)

    def kernels(self, site: FunctionSite) -> Iterator[Kernel]:
        """The kernels of one function, in source order of their first bytes."""
        uses: Uses | None = None
        stack = list(reversed(site.loops))
        while stack:
            loop = stack.pop()
            refusal = self._beforehand(site, loop)
            if refusal is None:
                try:
                    uses = uses or self._uses(site)
                    yield self._modelled(site, loop, uses)
                    continue
                except Refused as refused:
                    refusal = refused.reason
                except Exception as error:  # one kernel's failure must not cost the others
                    refusal = Reason("internal-error", self._span(loop), f"{type(error).__name__}: {error}")
            yield self._refused(site, loop, refusal)
            stack.extend(reversed(loop.inner))

    def _uses(self, site: FunctionSite) -> Uses:
        uses = Uses(site.node, self._unit.types)
        if site.dependent:
            uses.escape(hidden_names(self._unit, uses))
        return uses

    def _span(self, loop: LoopSite) -> Span:
        node = loop.node
        return self._unit.source.span(node.begin, max(node.begin + 1, statement_end(self._unit, node)))

    def _beforehand(self, site: FunctionSite, loop: LoopSite) -> Reason | None:
        """Reasons that the loop's surroundings give."""
        node, source = loop.node, self._unit.source
        span = self._span(loop)
        if self._refusal is not None:
            return self._refusal
        pragma = self._openmp.directive_before.get(node.begin)
        if pragma is not None:
            return Reason("user-openmp", source.span(pragma, pragma + 1))
        if node.parent is not None and k.is_openmp_directive(node.parent.kind):
            return Reason("user-openmp", span)
        if self._openmp.inside(node.begin):
            return Reason("inside-parallel-region", span)
        hint = hint_before(self._unit, node.begin)
        if hint is not None:
            return Reason("unmodelled-statement", hint, "a pragma for the loop that follows")
        if is_generic_lambda(self._unit, node):
            return Reason("dependent-type", span, "in a generic lambda")
        if site.dependent and (found := first_dependent(node)) is not None:
            return Reason("dependent-type", self._unit.span(found[0]), found[1])
        if site.constant:
            return Reason("unmodelled-statement", span, "in a constexpr function")
        if is_constant_lambda(self._unit, node):
            return Reason("unmodelled-statement", span, "in a lambda that may be evaluated while compiling")
        use = self._unit.expansions.outermost.get(node.begin)
        if use is not None:
            return Reason("macro-in-kernel", source.span(use.begin, use.end), use.name)
        for pragma_inside in self._openmp.directives_in(span.begin, span.end):
            return Reason("user-openmp", source.span(pragma_inside, pragma_inside + 1))
        if self._unit.whole.options_changed is not None:
            return Reason("unmodelled-statement", self._unit.whole.options_changed, "optimisation options are changed in the source")
        for directive in source.directives_in(site.node.begin, site.node.end):
            if directive.name in ("include", "include_next", "import"):
                return Reason("unmodelled-statement", source.span(directive.begin, directive.end), "the function goes on in another file")
        for directive in source.directives_in(0, span.begin):
            if directive.name == "line" or directive.name.isdigit():
                return Reason("unmodelled-statement", source.span(directive.begin, directive.end), "lines are numbered by #line")
        private = self._openmp.threadprivate | self._unit.whole.threadprivate
        if private:
            for token in source.tokens_in(span.begin, span.end):
                if not private.isdisjoint(self._unit.macros.words_behind({token.text})):
                    return Reason("thread-local-access", source.span(token.begin, token.end), token.text)
        for directive in source.directives_in(span.begin, span.end):
            return Reason("macro-in-kernel", source.span(directive.begin, directive.end), f"#{directive.name}")
        return None

    def _modelled(self, site: FunctionSite, loop: LoopSite, uses: Uses) -> Kernel:
        unit, span = self._unit, self._span(loop)
        context = Context(unit, uses, self._purity, span.begin, span.end)
        nest = NestBuilder(context).build(loop.node)
        around = surroundings(context, loop.node, self._purity)
        live = liveness(context, nest, loop.node)
        text = span.text(unit.source.text)
        variables = context.variables.all
        calls = around.calls
        identity = digest(
            unit.language,
            text,
            variables,
            around.prelude,
            around.headers,
            calls,
            (live.live_in, live.live_out, live.dead_after),
            nest=nest,
        )
        return Kernel(
            id=identity,
            function=site.name,
            language=unit.language,
            span=span,
            text=text,
            nest=nest,
            refusal=None,
            variables=variables,
            live_in=live.live_in,
            live_out=live.live_out,
            dead_after=live.dead_after,
            calls=calls,
            prelude=around.prelude,
            headers=around.headers,
            hotness=hotness(nest, loop.depth),
            loop_spans=tuple(self._span(inner) for inner in _all(loop)),
        )

    def _refused(self, site: FunctionSite, loop: LoopSite, refusal: Reason) -> Kernel:
        span = self._span(loop)
        text = span.text(self._unit.source.text)
        return Kernel(
            id=digest(self._unit.language, text, refusal=f"{refusal.id} {refusal.detail}"),
            function=site.name,
            language=self._unit.language,
            span=span,
            text=text,
            nest=None,
            refusal=refusal,
            hotness=refused_hotness(loop.depth),
            loop_spans=(span,),
        )


def _all(loop: LoopSite) -> Iterator[LoopSite]:
    stack = [loop]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.inner))


def numbered(kernels: list[Kernel]) -> tuple[Kernel, ...]:
    """The kernels file by file in source order, equal ones told apart by an ordinal."""
    seen: Counter[str] = Counter()
    made = []
    order = {file: position for position, file in enumerate(dict.fromkeys(kernel.span.file for kernel in kernels))}
    for kernel in sorted(kernels, key=lambda kernel: (order[kernel.span.file], kernel.span.begin, -kernel.span.end)):
        seen[kernel.id] += 1
        ordinal = seen[kernel.id]
        made.append(kernel if ordinal == 1 else replace(kernel, id=f"{kernel.id}-{ordinal}"))
    return tuple(made)
