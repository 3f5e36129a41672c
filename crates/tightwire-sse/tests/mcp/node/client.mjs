// MCP client of the official Node.js SDK.
//
// usage: SSE_MCP_NODE_MODULES=DIRECTORY node client.mjs URL
//
// Uses the tool "count" of the example `sse_mcp_server`. Ends with a status other than 0 if a check fails.

import assert from 'node:assert/strict';
import { load } from './sdk.mjs';

const { Client } = await load('client/index.js');
const { StreamableHTTPClientTransport } = await load('client/streamableHttp.js');

const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
const client = new Client({ name: 'test', version: '1' });
await client.connect(transport);
assert.equal(transport.protocolVersion, '2025-11-25');
await client.ping();
const { tools } = await client.listTools();
assert.deepEqual(tools.map(({ name }) => name), ['count']);

const progress = [];
const onprogress = (step) => progress.push(step);
const call = { name: 'count', arguments: { steps: 3 } };
const { content } = await client.callTool(call, undefined, { onprogress });
assert.deepEqual(content, [{ type: 'text', text: '3 steps' }]);
assert.deepEqual(progress, [1, 2, 3].map((step) => ({ progress: step, total: 3 })));

await transport.terminateSession();
assert.equal(transport.sessionId, undefined);
await client.close();
