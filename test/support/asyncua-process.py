"""A second server of OPC UA as a process of its own: `python3 asyncua-process.py OPTIONS`, with JSON of
OpcUaServerOptions (scripts/servers/opcua-process.ts). It writes `"ready"` to its output, and takes orders from its
input: each a line of JSON, as SetOrder is, answered by a line with its id. One with `tells`
is answered with all that notifications have told. It ends with its input."""

import asyncio
import base64
import json
import logging
import os
import sys
from datetime import datetime, timezone
from pathlib import Path

from asyncua import Server, ua
from asyncua.server.internal_subscription import InternalSubscription

logging.basicConfig(level=logging.ERROR)


# What each notification has told, by its subscription and its number: times of the source, and values.
told = {}


def remember(pop):
    def popped(self):
        result = pop(self)
        message = result.NotificationMessage
        values = [
            [item.Value.SourceTimestamp.isoformat(), item.Value.Value.Value]
            for data in message.NotificationData or []
            for item in getattr(data, "MonitoredItems", [])
            if item.Value.SourceTimestamp is not None
        ]
        if values:
            told[f"{result.SubscriptionId} {message.SequenceNumber}"] = values
        return result

    return popped


InternalSubscription._pop_publish_result = remember(InternalSubscription._pop_publish_result)

# A variable has to be made with some value.
firsts = {"Boolean": False, "String": "", "ByteString": b"", "DateTime": datetime.now(timezone.utc)}


def variant(data_type, value):
    kind = ua.VariantType[data_type]
    if value is None:
        return ua.Variant(None, ua.VariantType.Null)
    if data_type in ("Int64", "UInt64"):
        value = int(value)
    if data_type == "DateTime":
        value = instant(value)
    if data_type == "ByteString":
        value = base64.b64decode(value)
    return ua.Variant(value, kind)


def instant(text):
    return datetime.now(timezone.utc) if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


def nodes_of(variables):
    if isinstance(variables, int):
        return {f"item-{index}": "Double" for index in range(variables)}
    return variables


async def changes(server, nodes, every_ms, at_most):
    """All variables get a new value again and again, all of them with one time."""
    for number in range(1, at_most + 1):
        now = datetime.now(timezone.utc).isoformat()
        for name in nodes:
            await set_value(server, nodes, {"name": name, "value": number, "time": now})
        await asyncio.sleep(every_ms / 1000)


async def set_value(server, nodes, order):
    status = ua.StatusCode(getattr(ua.StatusCodes, order.get("status") or "Good"))
    value = ua.DataValue(
        variant(nodes[order["name"]], order["value"]),
        StatusCode=status,
        SourceTimestamp=instant(order.get("time")),
    )
    await server.write_attribute_value(ua.NodeId(order["name"], 1), value)


async def main(options):
    nodes = nodes_of(options["variables"])
    server = Server()
    await server.init()
    endpoint = f"opc.tcp://127.0.0.1:{options['port']}"
    server.set_endpoint(endpoint)
    server.set_security_policy([ua.SecurityPolicyType.NoSecurity])
    secured = options.get("certificate")
    if secured:
        folder = Path(secured)
        await server.set_application_uri("urn:asyncua:test")
        await server.load_certificate(folder / "certificate.pem")
        await server.load_private_key(folder / "key.pem")
        server.set_security_policy([ua.SecurityPolicyType.Basic256Sha256_SignAndEncrypt])
    for name, data_type in nodes.items():
        waiting = ua.DataValue(
            ua.Variant(None, ua.VariantType.Null),
            StatusCode=ua.StatusCode(ua.StatusCodes.BadWaitingForInitialData),
        )
        node = await server.nodes.objects.add_variable(
            ua.NodeId(name, 1), name, firsts.get(data_type, 0), ua.VariantType[data_type]
        )
        await server.write_attribute_value(node.nodeid, waiting)
    async with server:
        tell("ready")
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(limit=64 * 1024 * 1024)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        changing = None
        while line := await reader.readline():
            order = json.loads(line)
            for value in order["values"]:
                await set_value(server, nodes, value)
                if value["name"] == options.get("changesFrom") and changing is None:
                    rest = [name for name in nodes if name != value["name"]]
                    every, most = options["changeEveryMs"], options.get("changesMax") or 10**9
                    changing = asyncio.create_task(changes(server, {n: nodes[n] for n in rest}, every, most))
            tell({"id": order["id"], "told": told if order.get("tells") else None})
    os._exit(0)


def tell(message):
    print(json.dumps(message), flush=True)


asyncio.run(main(json.loads(sys.argv[1])))
