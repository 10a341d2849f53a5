"""Did the model's server refuse the newest request? Then the client keeps more of the window when it compacts."""

from __future__ import annotations

import pytest
from transcript_lines import answer, prompt, result

from builders import DictWorld
from handbill.event import COMPACTING, Event
from handbill.hosts.claude_code.record import keeps_several_turns

REQUEST = b'{"type":"api-request","sessionId":"s","querySource":"sdk"}\n'
BLOB = b'{"type":"api-request-blob","hash":"x","message":{"role":"assistant","content":"\\"type\\":\\"assistant\\""}}\n'
TURN = prompt("1", None) + REQUEST + answer("2", "1") + result("3", "2", "t1")


@pytest.mark.parametrize(
    "data, refused",
    [
        (TURN, False),
        (TURN + REQUEST, True),
        (TURN + BLOB + REQUEST, True),
        (TURN + BLOB, False),
        (TURN + REQUEST + answer("4", "3"), False),
        (TURN + REQUEST + answer("4", "3") + prompt("5", "4"), False),
        (TURN + REQUEST + answer("4", "3") + prompt("5", "4") + REQUEST, True),
        (b"", False),
    ],
)
def test_the_newest_request_has_no_answer(data: bytes, refused: bool) -> None:
    world = DictWorld({"/t": data.decode()})
    event = Event(COMPACTING, "s", transcript="/t", trigger="auto", version=(2, 1, 325))
    assert keeps_several_turns(event, world) is refused  # type: ignore[arg-type]
    assert world.paused, "the client may be about to write the answer, or the request"


@pytest.mark.parametrize(
    "how", [{"version": (2, 1, 260)}, {"trigger": "manual"}, {"agent_id": "a1"}], ids=lambda how: next(iter(how))
)
def test_where_it_is_not_asked(how: dict[str, object]) -> None:
    values: dict[str, object] = {"trigger": "auto", "version": (2, 1, 325), **how}
    world = DictWorld({"/t": (TURN + REQUEST).decode()})
    event = Event(COMPACTING, "s", transcript="/t", **values)  # type: ignore[arg-type]
    assert not keeps_several_turns(event, world) and not world.paused  # type: ignore[arg-type]
