"""MCP client of the official Python SDK.

usage: client.py URL

Uses the tool "count" of the example `sse_mcp_server`. Ends with a status other than 0 if a check fails.
"""

import sys

import anyio
from mcp import Client


async def main():
    progress = []

    async def on_progress(step, total, message):
        progress.append((step, total))

    # First tries the stateless protocol 2026-07-28, which the server does not support.
    async with Client(sys.argv[1]) as client:
        assert client.protocol_version == "2025-11-25", client.protocol_version
        await client.send_ping()
        tools = await client.list_tools()
        assert [tool.name for tool in tools.tools] == ["count"], tools
        result = await client.call_tool("count", {"steps": 3}, progress_callback=on_progress)
        assert result.content[0].text == "3 steps", result
        assert progress == [(1, 3), (2, 3), (3, 3)], progress
    # The end of the block has terminated the session.


anyio.run(main)
