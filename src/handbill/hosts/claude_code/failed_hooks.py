"""Find hooks of Handbill that failed, in Claude Code's own record."""

from __future__ import annotations

from handbill.hosts.claude_code.rows import attachment_of, records_with

_FAILURES = (b'"hook_non_blocking_error"', b'"hook_cancelled"', b'"hook_success"')


def failures(data: bytes, mark: bytes) -> list[tuple[str, str, str]]:
    """Return (uuid, host event, failure) for our own hooks that the host reports as failed."""
    found = []
    for marker in _FAILURES:
        for record in records_with(data, marker):
            attachment = attachment_of(record)
            command = str(attachment.get("command", ""))
            if f'"{attachment.get("type")}"'.encode() != marker or mark.decode() not in command:
                continue
            code = attachment.get("exitCode")
            if attachment["type"] == "hook_success":
                if code == 0:
                    continue
                how = f"failed after the client had read its answer (exit code {code})"
            elif attachment["type"] == "hook_non_blocking_error":
                how = f"ended without an answer (exit code {code})"
            elif attachment.get("timedOut"):
                how = f"timed out after {attachment.get('durationMs')} ms"
            else:
                how = "was cancelled by the client"
            found.append((str(record.get("uuid", "")), str(attachment.get("hookEvent", "")), how))
    return found
