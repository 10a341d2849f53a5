"""Find the plugins that the user installed in Claude Code."""

from __future__ import annotations

from handbill.fast_json import loads
from handbill.paths import normal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from handbill.world import World

_PLUGINS = ".claude/plugins/installed_plugins.json"


def plugin_folders(plugin: str, world: World) -> list[str]:
    """Return the folders of this plugin; of all plugins if the name is empty.

    The file is {"plugins": {"name@market": [{"installPath": …}]}}.
    """
    data = world.tail(f"{world.home}/{_PLUGINS}", 0, 1 << 20)
    if data is None:
        return []
    try:
        plugins = loads(data.decode("utf-8", "replace"))["plugins"]
        return [
            normal(place["installPath"])
            for key, places in plugins.items()
            for place in (places if isinstance(places, list) else [places])
            if not plugin or key.partition("@")[0] == plugin
        ]
    except (ValueError, KeyError, TypeError, AttributeError):
        return []  # Another version of the host wrote it. The skills of its plugins are not found.
