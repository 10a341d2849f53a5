"""Names derived from content.

Nobody can make another text with the same name, which would suppress the first text.
"""

from __future__ import annotations

from handbill.text.document import DIGEST

try:
    from _blake2 import blake2b  # `hashlib` would import much more
except ImportError:
    from hashlib import blake2b


def digest_of(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST // 2).hexdigest()
