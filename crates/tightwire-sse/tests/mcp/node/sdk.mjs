// Loads modules of the SDK. They are elsewhere than this script, where an import by name would look for them.

import path from 'node:path';
import { pathToFileURL } from 'node:url';

const sdk = path.resolve(process.env.SSE_MCP_NODE_MODULES, '@modelcontextprotocol/sdk/dist/esm');

export const load = (module) => import(pathToFileURL(path.join(sdk, module)));
