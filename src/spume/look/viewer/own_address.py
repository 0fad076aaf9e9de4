"""The viewer only answers requests to its own address.

A page from elsewhere can open a websocket to any address, and by rebinding its own name to 127.0.0.1 it can even pass
for the same site. A browser sends the requested name (Host) and the requesting page (Origin) with each request: the
name must be a numeric address, localhost or this machine's name, and the page must have the same origin.
"""

import contextlib
import functools
import inspect
import ipaddress
import socket
import threading
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

_patching = threading.Lock()


def is_own(headers: Mapping[str, str], host: str) -> bool:
    """Whether a request with these headers is meant for a viewer that serves on `host`."""
    asked = headers.get("Host", "")
    try:
        name = urlsplit(f"//{asked}").hostname or ""
        origin = headers.get("Origin")
        page = None if origin is None else urlsplit(origin).netloc
    except ValueError:
        return False
    return _is_own_name(name, host) and page in (None, asked)


def _is_own_name(name: str, host: str) -> bool:
    if name in {host.lower(), "localhost", *_names_of_this_machine()}:
        return True
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(name))
    return False


@functools.cache
def _names_of_this_machine() -> tuple[str, str]:
    return socket.gethostname().lower(), socket.getfqdn().lower()


@contextlib.contextmanager
def own_address_only(host: str) -> Iterator[None]:
    """A server that viser starts inside this block rejects all other requests. viser has no setting for this, so
    requests are checked where it passes them to the websockets package."""
    from websockets.asyncio import server

    original = server.serve
    guarded = False

    def serve(handler: Any, *arguments: Any, process_request: Any = None, **options: Any) -> Any:
        nonlocal guarded
        guarded = True

        async def check(connection: Any, request: Any) -> Any:
            if not is_own(request.headers, host):
                return connection.respond(403, "This viewer is for the address it was started with.\n")
            answer = process_request(connection, request) if process_request else None
            return await answer if inspect.isawaitable(answer) else answer

        return original(handler, *arguments, process_request=check, **options)

    with _patching:
        vars(server)["serve"] = serve
        try:
            yield
        finally:
            vars(server)["serve"] = original
    if not guarded:
        raise RuntimeError("this version of viser starts its server in another way: the viewer cannot check requests")
