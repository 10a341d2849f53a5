from __future__ import annotations

from itertools import permutations

from handbill.plan import ALLOW, BLOCK, WARN, Plan


def test_block_beats_warn_beats_allow_in_any_order() -> None:
    for order in permutations([ALLOW, WARN, BLOCK]):
        plan = Plan()
        for verdict in order:
            other = Plan()
            other.gate(verdict, verdict)
            plan.add(other)
        plan.add(None)
        assert (plan.verdict, plan.gate_text) == (BLOCK, BLOCK)


def test_an_empty_plan_is_false_and_plans_add_up() -> None:
    plan, other = Plan(), Plan()
    assert not plan
    other.want("/a", "why")
    other.touched["/p"] = []
    plan.add(other)
    assert plan and plan.wants[0].path == "/a" and plan.touched == {"/p": []}
