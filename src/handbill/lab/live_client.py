"""The real client with a scripted model on loopback, for live demos, tests and benchmarks.

All requests to the model are kept, because only they prove what arrived.
"""

from __future__ import annotations

import http.server
import json
import os
import signal
import socketserver
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

Block = dict[str, Any]


def say(text: str) -> Block:
    return {"type": "text", "text": text}


def call(name: str, **values: Any) -> Block:
    return {"type": "tool_use", "name": name, "input": values}


@dataclass
class Reply:
    blocks: list[Block]
    input_tokens: int = 1000
    delay: float = 0.0
    stops_for: float = 0.0  # seconds between the first words and the end of the reply
    refused: str = ""  # if set, the server answers with an error that has this message


@dataclass
class Request:
    body: dict[str, Any]
    agent: str  # empty for the main window
    received: float
    answered: float = 0.0

    @property
    def messages(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.body["messages"]
        return found

    @property
    def text(self) -> str:
        """Return everything the model was given, as one text."""
        return "\n".join(text for message in self.messages for text in texts(message))

    @property
    def is_summary(self) -> bool:
        return any("Respond with TEXT ONLY" in text for message in self.messages[-3:] for text in texts(message))


def texts(message: dict[str, Any]) -> Iterable[str]:
    content = message["content"]
    for block in [say(content)] if isinstance(content, str) else content:
        if block["type"] == "text":
            yield block["text"]
        elif block["type"] == "tool_result":
            inner = block.get("content") or ""
            yield from [inner] if isinstance(inner, str) else [part.get("text", "") for part in inner]


class Script:
    """Replies in order: `main` for the main window, `agent` for every subagent; then "done"."""

    def __init__(self, main: Sequence[Any], agent: Sequence[Any] = (), summary: str = "THE SUMMARY") -> None:
        self._left = {"main": list(main), "agent": list(agent)}
        self._summary = summary
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        if request.is_summary:
            return Reply([say(f"<analysis>a</analysis><summary>{self._summary}</summary>")])
        if not request.body.get("tools"):
            return Reply([say("ok")])
        with self._lock:
            left = self._left["agent" if request.agent else "main"]
            step = left.pop(0) if left else "done"
        if isinstance(step, str):
            return Reply([say(step)])
        return step if isinstance(step, Reply) else Reply(step if isinstance(step, list) else [step])


class Model:
    """A Messages API on 127.0.0.1 that answers by script.

    `latency`: seconds before each answer. The client writes its record within 0.1 s, and no real
    model is faster.
    """

    def __init__(self, latency: float = 0.15) -> None:
        self.latency = latency
        self.requests: list[Request] = []
        self.script: Callable[[Request], Reply] = Script([])
        self._lock = threading.Lock()
        model = self

        class Handler(_Handler):
            owner = model

        class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
            daemon_threads = True
            request_queue_size = 64

            def handle_error(self, *_: Any) -> None:
                """Ignore the error: a client that was killed does not wait for its answer."""

        self._server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> tuple[Reply, int]:
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
        reply = self.script(request)
        for index, block in enumerate(reply.blocks):
            if block["type"] == "tool_use":
                block.setdefault("id", f"toolu_{number:03d}_{index}_{uuid.uuid4().hex[:6]}")
        return reply, number


_END_OF_BLOCK = b"event: content_block_stop"


class _Handler(http.server.BaseHTTPRequestHandler):
    owner: Model
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Log nothing."""

    def _send(self, body: bytes, kind: str = "application/json", code: int = 200, stops_for: float = 0.0) -> None:
        self.send_response(code)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        end = body.index(_END_OF_BLOCK) if stops_for else len(body)
        self.wfile.write(body[:end])
        time.sleep(stops_for)
        self.wfile.write(body[end:])

    def do_HEAD(self) -> None:
        self._send(b"")

    def do_GET(self) -> None:
        self._send(b"{}", code=404)

    def do_POST(self) -> None:
        received = time.monotonic()
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if "count_tokens" in self.path:
            return self._send(b'{"input_tokens":1000}')
        if "/v1/messages" not in self.path or "messages" not in body:
            return self._send(b"{}")
        request = Request(body, self.headers.get("x-claude-code-agent-id") or "", received)
        reply, number = self.owner.answer(request)
        time.sleep(max(reply.delay, self.owner.latency))
        message = _message(body, reply, number)
        if reply.refused:
            error = {"type": "invalid_request_error", "message": reply.refused}
            return self._send(json.dumps({"type": "error", "error": error}).encode(), code=400)
        if not body.get("stream"):
            self._send(json.dumps(message).encode())
        else:
            self._send(_stream(message).encode(), "text/event-stream", stops_for=reply.stops_for)
        request.answered = time.monotonic()
        return None


def _message(body: dict[str, Any], reply: Reply, number: int) -> dict[str, Any]:
    calls = any(block["type"] == "tool_use" for block in reply.blocks)
    return {
        "id": f"msg_{number}_{uuid.uuid4().hex[:8]}", "type": "message", "role": "assistant",
        "model": body.get("model"), "content": reply.blocks, "stop_sequence": None,
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": {
            "input_tokens": reply.input_tokens, "output_tokens": 10, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        },
    }  # fmt: skip


def _stream(message: dict[str, Any]) -> str:
    lines: list[str] = []

    def send(kind: str, **values: Any) -> None:
        lines.append(f"event: {kind}\ndata: {json.dumps({'type': kind, **values})}\n\n")

    send("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        empty: Block = {**block, "input": {}} if block["type"] == "tool_use" else say("")
        delta: Block = {"type": "input_json_delta", "partial_json": json.dumps(block.get("input"))}
        if block["type"] == "text":
            delta = {"type": "text_delta", "text": block["text"]}
        send("content_block_start", index=index, content_block=empty)
        send("content_block_delta", index=index, delta=delta)
        send("content_block_stop", index=index)
    ending = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    send("message_delta", delta=ending, usage={"output_tokens": 10})
    send("message_stop")
    return "".join(lines)


@dataclass
class Run:
    """One process of the client, and the requests that it sent to the model."""

    exit_code: int
    stdout: str
    stderr: str
    requests: list[Request]
    session: str = ""

    def of(self, agent: str | None = "") -> list[Request]:
        """Return the requests of the conversation, in the main window or (None) in subagents."""
        wanted = [r for r in self.requests if r.body.get("tools") and not r.is_summary]
        return [r for r in wanted if (r.agent if agent is None else not r.agent)]


@dataclass
class Client:
    binary: str
    project: str
    home: str
    model: Model = field(default_factory=Model)
    extra: dict[str, str] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"], "HOME": self.home, "LANG": "C.UTF-8", "IS_SANDBOX": "1",
            "ANTHROPIC_BASE_URL": self.model.url, "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_TELEMETRY": "1",
            **self.extra,
        }  # fmt: skip

    def start(self, *arguments: str, env: dict[str, str] | None = None, cwd: str = "") -> subprocess.Popen[str]:
        return subprocess.Popen(
            [self.binary, "-p", *arguments, "--output-format", "json", "--dangerously-skip-permissions"],
            cwd=cwd or self.project, env={**self.environment(), **(env or {})}, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(
        self,
        prompt: str,
        script: Callable[[Request], Reply],
        *arguments: str,
        env: dict[str, str] | None = None,
        timeout: float = 120,
    ) -> Run:
        self.model.script = script
        before = len(self.model.requests)
        process = self.start(prompt, *arguments, env=env)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            err += f"\nno end after {timeout} s"
        return Run(process.returncode, out, err, self.model.requests[before:], _session(out))


def _session(out: str) -> str:
    try:
        value = json.loads(out)
    except ValueError:
        return ""
    return str(value.get("session_id", "")) if isinstance(value, dict) else ""
