from __future__ import annotations

import pytest

from handbill.plan import BLOCK, WARN, Plan


@pytest.mark.parametrize("order", [[WARN, BLOCK], [BLOCK, WARN], [WARN, BLOCK, WARN]])
def test_any_block_holds_the_call_in_any_order(order: list[str]) -> None:
    plan = Plan()
    for verdict in order:
        other = Plan()
        other.gate(verdict, f"a {verdict}")
        plan.add(other)
    plan.add(None)
    assert plan.blocks and plan.texts(BLOCK) == ["a block"]


def test_an_empty_plan_is_false_and_plans_add_up() -> None:
    plan, other = Plan(), Plan()
    assert not plan
    other.want("/a", "why")
    other.touched["/p"] = []
    plan.add(other)
    assert plan and plan.wants[0].path == "/a" and plan.touched == {"/p": []}
