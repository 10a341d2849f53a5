"""Part of a random session in the interactive client.

It has prompts, rewinds of every kind, compactions and Escape.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interrupted import Moody, Person, transcript
from sandbox import COMPACTION
from terminal import FROM_HERE, RESTORE, UP_TO_HERE

from soak import session as made

if TYPE_CHECKING:
    from soak.session import Session

ACTIONS = ("prompt", RESTORE, FROM_HERE, UP_TO_HERE, "/compact", "/clear", "escape")
WEIGHTS = (4, 2, 1, 1, 1, 1, 1)


def at_the_terminal(session: Session, arguments: list[str]) -> str:
    """Play the part. Return the session that is open at the end."""
    box, choose = session.box, session.random
    person = Person(box)
    person.model = box.client.model.script = Moody(box)
    extra = dict(box.client.extra)
    box.client.extra.update(COMPACTION)
    try:
        person.start(*arguments)
        _prompt(session, person)
        for _ in range(choose.randint(2, 5)):
            action = choose.choices(ACTIONS, WEIGHTS)[0]
            session.story.append(f"  {action}")
            if action == "escape":
                person.begin(f"wait DO: {_step(session)}; wait")
                person.escape()
            elif action.startswith("/"):
                person.say(action)
            elif action != "prompt":
                person.rewind(up=choose.randint(1, 3), choice=action)
            _prompt(session, person)
        person.say(f"end DO: {'; '.join(['bash true'] * made.QUIET)}")
        person.exit()
        return transcript(box).stem
    finally:
        box.client.extra.clear()
        box.client.extra.update(extra)
        person.close()


def _prompt(session: Session, person: Person) -> None:
    steps = "; ".join(_step(session) for _ in range(session.random.randint(0, 3)))
    mention = f"@{session.random.choice(made.FOLDERS)}/f.py " if session.random.random() < 0.2 else ""
    start = "/ship it" if session.random.random() < 0.15 else f"go {mention}"
    line = f"{start} DO: {steps or 'only words'} ;"
    session.story.append(f"    {line}")
    person.say(line)


def _step(session: Session) -> str:
    folder = session.random.choice(made.FOLDERS)
    session.count += 1
    return session.random.choices(
        [f"read {folder}/f.py", f"read {folder}/f.py + bash cat api/f.py", f"write {folder}/new{session.count}.py",
         f"bash cat {folder}/f.py", f"agent read {folder}/f.py , bash true", "bash echo full"],
        [6, 2, 2, 1, 1, 1],
    )[0]  # fmt: skip
