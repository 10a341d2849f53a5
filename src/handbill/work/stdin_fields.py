"""The JSON objects that `engine session` reads from stdin. The help of each command lists them."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXTS = {"type": "array", "items": {"type": "string", "minLength": 1}}

# `activate`: the task's parameters
PARAMETERS: dict[str, Any] = {
    "type": "object",
    "required": ["taskSummary"],
    "additionalProperties": False,
    "properties": {
        "taskSummary": {"type": "string", "minLength": 1, "description": "what is to be done, in a sentence or two"},
        "scope": {"type": "string", "description": "what belongs to the task and what does not"},
        "directoriesOfInterest": {
            **_TEXTS, "description": "folders, from the project's root, whose directives are delivered at once",
        },
        "contextPaths": {**_TEXTS, "description": "files that the task is about"},
        "requestFiles": {**_TEXTS, "description": "requests that the session must answer before it ends"},
        "ragDiscoveredPaths": {**_TEXTS, "description": "files that a search suggested"},
        "extraInfo": {"type": ["string", "null"], "description": "anything else that the session should record"},
    },
}  # fmt: skip

# `idle` and `deactivate`
ENDING: dict[str, Any] = {
    "type": "object",
    "required": ["description"],
    "additionalProperties": False,
    "properties": {
        "description": {"type": "string", "minLength": 1, "description": "what was done"},
        "keywords": {**_TEXTS, "description": "words to find this session by"},
        "proof": {"type": "object", "description": "the proof for the last phase, field by field"},
    },
}  # fmt: skip
