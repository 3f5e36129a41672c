// MCP server of the official Node.js SDK.
//
// usage: SSE_MCP_NODE_MODULES=DIRECTORY node server.mjs MODE
//
// The modes and tools are those of `python/server.py`.

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { load } from './sdk.mjs';

const { Server } = await load('server/index.js');
const { StreamableHTTPServerTransport } = await load('server/streamableHttp.js');
const { CallToolRequestSchema, ListToolsRequestSchema } = await load('types.js');

let proceed;
const mayProceed = new Promise((resolve) => (proceed = resolve));

const tools = {
  async count({ steps, close }, { _meta, sendNotification, closeSSEStream }) {
    const progressToken = _meta?.progressToken;
    for (let progress = 1; progress <= steps; progress++) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: steps };
        await sendNotification({ method: 'notifications/progress', params });
      }
      if (close && progress === 1) {
        await mayProceed;
        closeSSEStream();
      }
    }
    return `${steps} steps`;
  },
  async proceed() {
    proceed();
    return 'ok';
  },
  async notify() {
    await server.sendToolListChanged();
    return 'ok';
  },
};

const info = { name: 'test', version: '1' };
const server = new Server(info, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: Object.keys(tools).map((name) => ({ name, inputSchema: { type: 'object' } })),
}));
server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => ({
  content: [{ type: 'text', text: await tools[params.name](params.arguments, extra) }],
}));

// The events of one session. An id is the number of its event, from 1.
const events = [];
const eventStore = {
  async storeEvent(stream, message) {
    return String(events.push({ stream, message }));
  },
  async replayEventsAfter(lastEventId, { send }) {
    const { stream } = events[lastEventId - 1];
    for (const [index, event] of events.entries()) {
      if (index >= lastEventId && event.stream === stream) await send(String(index + 1), event.message);
    }
    return stream;
  },
};

const isJson = process.argv[2] === 'json';
const transport = new StreamableHTTPServerTransport({
  sessionIdGenerator: randomUUID,
  enableJsonResponse: isJson,
  eventStore: isJson ? undefined : eventStore,
  retryInterval: 100,
});
await server.connect(transport);
const listener = createServer((request, response) => transport.handleRequest(request, response));
listener.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
