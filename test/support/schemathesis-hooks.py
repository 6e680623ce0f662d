"""What schemathesis sends where a body is not JSON: it knows no such types, and leaves out whoever takes them."""

import json

import schemathesis

# Their octets are no JSON: what is made up of a schema is sent as text, which the reader of the type has to refuse or take.
TYPES = [
    "application/cbor",
    "application/msgpack",
    "application/openmetrics-text",
    "application/protobuf",
    "application/senml+cbor",
    "application/vnd.apache.parquet",
    "application/vnd.msgpack",
    "application/x-msgpack",
    "application/x-protobuf",
]


@schemathesis.serializer(*TYPES)
def octets(ctx, value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


@schemathesis.serializer("application/x-ndjson")
def lines(ctx, value):
    if isinstance(value, str):
        return value.encode(errors="replace")
    # A list is one line, which is no reading: as a line for each element it would be a text that is as good as others.
    return json.dumps(value if isinstance(value, list) else [value]).encode()
