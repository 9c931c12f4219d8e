"""What processes have to do with the network, as far as the system says."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from collections.abc import Collection


@dataclass(frozen=True, slots=True)
class Network:
    """Whether processes wait for connections, and whether they have one to another machine."""

    listens: bool = False
    reaches_out: bool = False


def network(pids: Collection[int]) -> Network:
    """What these processes do now; nothing where the system does not say."""
    try:
        connections = [each for each in psutil.net_connections("inet") if each.pid in pids]
        own = {each.address for card in psutil.net_if_addrs().values() for each in card}
    except (psutil.Error, OSError):
        return Network()
    there = {each.raddr.ip.partition("%")[0] for each in connections if each.raddr}
    return Network(
        any(each.status == psutil.CONN_LISTEN for each in connections),
        any(ip not in own and not _is_loopback(ip) for ip in there),
    )


def _is_loopback(ip: str) -> bool:
    return ip_address(ip.removeprefix("::ffff:")).is_loopback
