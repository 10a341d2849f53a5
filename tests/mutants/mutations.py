"""Small faults in a module, one at a time.

Each has a name, a line, and the module's text with that fault.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

_COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    name: str  # module:function:kind:number; stable while the function is unchanged
    line: int
    before: str
    after: str
    text: str

    @property
    def module(self) -> str:
        return self.name.partition(":")[0]


def mutants(module: str, text: str) -> Iterator[Mutant]:
    tree = ast.parse(text)
    for function in _functions(tree):
        numbers: dict[str, int] = {}
        for node in _inside(function):
            for kind, change in _changes(node):
                numbers[kind] = numbers.get(kind, 0) + 1
                name = f"{module}:{function.name}:{kind}:{numbers[kind]}"
                yield _made(name, tree, node, change)


def _functions(tree: ast.Module) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]


def _inside(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the function's own code, without its signature, docstring or nested functions."""
    waiting: list[ast.AST] = list(reversed(function.body))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef):
            continue
        yield node
        if isinstance(node, ast.AnnAssign):
            waiting += [node.value] if node.value is not None else []
        elif not isinstance(node, ast.JoinedStr) and not _is_negative(node):
            # Negative numbers stay as they are: -1 means "none", and so would -2.
            waiting += reversed(list(ast.iter_child_nodes(node)))


def _changes(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        yield "compare", _with(node, ops=[_COMPARE[type(node.ops[0])]()])
    elif isinstance(node, ast.BoolOp):
        yield "and-or", _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        for number in range(len(node.values)):
            rest = [*node.values[:number], *node.values[number + 1 :]]
            yield "operand", rest[0] if len(rest) == 1 else _with(node, values=rest)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield "not" if isinstance(node.op, ast.Not) else "minus", node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield "constant", ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield "constant", ast.Constant(node.value + 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
        if not any(isinstance(side, (ast.JoinedStr, ast.List, ast.Tuple)) for side in (node.left, node.right)):
            yield "plus-minus", _with(node, op=ast.Sub() if isinstance(node.op, ast.Add) else ast.Add())
    elif isinstance(node, (ast.If, ast.IfExp)) and not isinstance(node.test, (ast.Compare, ast.BoolOp, ast.UnaryOp)):
        yield "if", _with(node, test=ast.UnaryOp(ast.Not(), node.test))
    elif isinstance(node, ast.comprehension) and node.ifs:
        yield "filter", _with(node, ifs=[])
    elif isinstance(node, ast.Return) and node.value is not None and not _is_falsy(node.value):
        yield "return", _with(node, value=ast.Constant(None))
    elif isinstance(node, ast.AugAssign) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)):
        yield "statement", ast.Pass()
    elif isinstance(node, (ast.Break, ast.Continue)):
        yield "loop", ast.Continue() if isinstance(node, ast.Break) else ast.Break()


def _is_negative(node: ast.AST) -> bool:
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def _is_falsy(node: ast.expr) -> bool:
    """Whether the value is falsy. Callers rarely separate False, "" or an empty list from None."""
    return (isinstance(node, ast.Constant) and not node.value) or ast.unparse(node) in ("[]", "{}", "()", "set()")


def _with(node: ast.AST, **fields: object) -> ast.AST:
    after = copy.copy(node)
    for name, value in fields.items():
        setattr(after, name, value)
    return after


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old = old
        self.new = new

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Work on copies, so that the tree stays unchanged."""
        if node is self.old:
            return ast.copy_location(self.new, node) if hasattr(node, "lineno") else self.new
        return super().generic_visit(copy.copy(_listed(node)))


def _listed(node: ast.AST) -> ast.AST:
    after = copy.copy(node)
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(after, name, list(value))
    return after


def _made(name: str, tree: ast.Module, node: ast.AST, change: ast.AST) -> Mutant:
    made = ast.fix_missing_locations(_Replace(node, change).visit(tree))
    line = next((inner.lineno for inner in ast.walk(node) if hasattr(inner, "lineno")), 0)
    return Mutant(name, line, _shown(node), _shown(change), ast.unparse(made))


def _shown(node: ast.AST) -> str:
    if isinstance(node, ast.If):
        return f"if {ast.unparse(node.test)}"
    if isinstance(node, ast.comprehension):
        return "".join(f" if {ast.unparse(test)}" for test in node.ifs).strip() or "no filter"
    return " ".join(ast.unparse(node).split())
