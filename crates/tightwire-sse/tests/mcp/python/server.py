"""MCP server of the official Python SDK.

usage: server.py MODE

MODE is "stream", for resumable event streams, or "json". Prints its URL and serves until it is killed.

Tools: "count" reports progress and returns a text. With "close", it waits after the first step for a call of
"proceed", and then closes the connection. "notify" sends a notification that belongs to no request.
"""

import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.streamable_http import EventMessage, EventStore
from mcp.types import JSONRPCResponse

server = MCPServer("test", log_level="ERROR")
may_proceed = anyio.Event()


@server.tool()
async def count(steps: int, close: bool, ctx: Context) -> str:
    await ctx.report_progress(1, steps)
    if close:
        await may_proceed.wait()
        await ctx.close_sse_stream()
    for step in range(2, steps + 1):
        await ctx.report_progress(step, steps)
    return f"{steps} steps"


@server.tool()
async def proceed() -> str:
    may_proceed.set()
    return "ok"


@server.tool()
async def notify(ctx: Context) -> str:
    await ctx.session.send_tool_list_changed()
    return "ok"


class Store(EventStore):
    """The events of one session. An id is the number of its event, from 1."""

    def __init__(self):
        self.events = []

    async def store_event(self, stream_id, message):
        self.events.append((stream_id, message))
        return str(len(self.events))

    async def replay_events_after(self, last_event_id, send_callback):
        number = int(last_event_id)
        stream_id = self.events[number - 1][0]

        def missed():
            later = enumerate(self.events[number:], number + 1)
            # The first event of a stream has an id, but no message.
            return [(i, message) for i, (stream, message) in later if stream == stream_id and message]

        # The SDK does not send an event that is stored during the replay.
        while not any(isinstance(message, JSONRPCResponse) for _, message in missed()):
            await anyio.sleep(0.01)
        for i, message in missed():
            await send_callback(EventMessage(message, str(i)))
        return stream_id


is_json = sys.argv[1] == "json"
app = server.streamable_http_app(
    json_response=is_json, event_store=None if is_json else Store(), retry_interval=100
)
listener = socket.create_server(("127.0.0.1", 0))
print(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
