// Calls every resource of the official Node SDK against a server with the default scenario and chat completions, and
// against one without.
//
// usage: PERPLEXITY_NODE_MODULES=DIRECTORY node drive.mjs URL URL
//
// Ends with a line "N passed, N failed", and with a status other than 0 where something failed.

import assert from 'node:assert/strict';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// The modules are elsewhere than this script, where an import by name would look for them.
const entry = path.join(process.env.PERPLEXITY_NODE_MODULES, '@perplexity-ai/perplexity_ai/dist/index.js');
const { default: Perplexity } = await import(pathToFileURL(path.resolve(entry)));

const [baseURL, withoutChat] = process.argv.slice(2);
const messages = [{ role: 'user', content: 'Hello there' }];
const said = 'You said: Hello there';
const client = new Perplexity({ apiKey: 'test-key', baseURL, maxRetries: 2 });
const once = client.withOptions({ maxRetries: 0 });

const asked = (name, options = {}) => ({ headers: { 'x-mock-case': name }, ...options });
const chat = (members = {}, options = {}, using = client) =>
  using.chat.completions.create({ model: 'sonar', messages, ...members }, options);

async function collect(stream) {
  const items = [];
  for await (const item of await stream) items.push(item);
  return items;
}

const checks = {
  async 'chat create'() {
    const completion = await chat();
    assert.equal(completion.choices[0].message.content, said);
    assert.equal(completion.usage.total_tokens, completion.usage.prompt_tokens + completion.usage.completion_tokens);
    assert.deepEqual(completion.citations, completion.search_results.map((result) => result.url));
  },

  async 'chat stream'() {
    const chunks = await collect(chat({ stream: true }));
    assert.equal(chunks.map((chunk) => chunk.choices[0].delta.content).join(''), said);
    assert.equal(chunks.at(-1).choices[0].finish_reason, 'stop');
    assert.ok(chunks.at(-1).usage.cost.total_cost > 0);
    const kinds = (await collect(chat({ stream: true, stream_mode: 'concise' }))).map((chunk) => chunk.object);
    assert.equal(kinds[0], 'chat.reasoning');
    assert.equal(kinds.at(-1), 'chat.completion.done');
  },

  async 'async chat'() {
    const jobs = client.async.chat.completions;
    const job = await jobs.create({ request: { model: 'sonar', messages }, idempotency_key: 'node-1' });
    assert.equal(job.status, 'CREATED');
    assert.ok((await jobs.list()).requests.some((one) => one.id === job.id));
    assert.equal((await jobs.get(job.id)).status, 'IN_PROGRESS');
    const done = await jobs.get(job.id, { local_mode: true });
    assert.equal(done.status, 'COMPLETED');
    assert.equal(done.response.choices[0].message.content, said);
  },

  async search() {
    const found = await client.search.create({ query: ['a', 'b'], max_results: 2 });
    assert.equal(found.results.length, 4);
  },

  async 'responses create'() {
    const response = await client.responses.create({ model: 'openai/gpt-5', input: 'Hello there' });
    assert.equal(response.status, 'completed');
    assert.equal(response.output_text, said);
    assert.equal((await client.responses.retrieve(response.id)).output_text, said);
    const files = await client.responses.files.list(response.id);
    const content = await client.responses.files.content(files.data[0].id, { response_id: response.id });
    assert.equal(await content.text(), said);
  },

  async 'responses stream'() {
    const request = { model: 'openai/gpt-5', input: 'Hello there', stream: true };
    const events = await collect(client.responses.create(request));
    assert.deepEqual(events.map((event) => event.sequence_number), events.map((_, index) => index));
    assert.equal(events[0].type, 'response.created');
    assert.equal(events.at(-1).type, 'response.completed');
    const deltas = events.filter((event) => event.type === 'response.output_text.delta');
    assert.equal(deltas.map((event) => event.delta).join(''), said);
  },

  async 'responses tools'() {
    const tool = { type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } };
    const request = { model: 'perplexity/sonar', input: 'x', tools: [tool] };
    const response = await client.responses.create({ ...request, tool_choice: 'required' });
    assert.equal(response.status, 'requires_action');
    const { type, call_id, name, arguments: given } = response.output[0];
    const input = [{ type, call_id, name, arguments: given }, { type: 'function_call_output', call_id, output: '22' }];
    assert.equal((await client.responses.create({ ...request, input })).status, 'completed');
  },

  async 'responses incomplete'() {
    const request = { model: 'perplexity/sonar', input: 'one two three', max_output_tokens: 4 };
    const response = await client.responses.create(request);
    assert.equal(response.status, 'incomplete');
    assert.equal(response.output_text, 'You said: one two');
    const events = await collect(client.responses.create({ ...request, stream: true }));
    assert.equal(events.at(-1).type, 'response.incomplete');
  },

  async 'responses errors'() {
    const request = { model: 'perplexity/sonar', input: 'x' };
    const refused = client.responses.create({ ...request, search_mode: 'academic' });
    await assert.rejects(refused, (error) => error.status === 400 && error.error.error.param === 'search_mode');
    await assert.rejects(client.responses.retrieve('resp_none'), Perplexity.NotFoundError);
    await assert.rejects(once.responses.create(request, asked('429')), Perplexity.RateLimitError);
    await assert.rejects(once.responses.create({ ...request, stream: true }, asked('502')), Perplexity.InternalServerError);
    const without = new Perplexity({ apiKey: 'test-key', baseURL: withoutChat });
    const retired = (error) => error.status === 403 && error.error.error.type === 'chat_completions_not_available';
    await assert.rejects(chat({}, {}, without), retired);
  },

  async 'responses background'() {
    const run = await client.responses.create({ model: 'openai/gpt-5', input: 'x', background: true });
    assert.equal(run.status, 'queued');
    assert.equal((await client.responses.cancel(run.id)).status, 'cancelling');
    assert.equal((await client.responses.retrieve(run.id)).status, 'cancelled');
    await assert.rejects(client.responses.cancel(run.id), Perplexity.BadRequestError);
  },

  async embeddings() {
    const plain = await client.embeddings.create({ model: 'pplx-embed-v1-0.6b', input: 'a', dimensions: 128 });
    assert.equal(Buffer.from(plain.data[0].embedding, 'base64').length, 128);
    const contextualized = await client.contextualizedEmbeddings.create({
      model: 'pplx-embed-context-v1-0.6b',
      input: [['a', 'b'], ['c']],
    });
    assert.deepEqual(contextualized.data.map((document) => document.data.length), [2, 1]);
  },

  async 'browser sessions'() {
    const session = await client.browser.sessions.create();
    assert.equal(session.status, 'running');
    await client.browser.sessions.delete(session.session_id);
    await assert.rejects(client.browser.sessions.delete(session.session_id), Perplexity.NotFoundError);
  },

  async 'refusals of the api'() {
    await assert.rejects(chat({ model: 'x' }), (error) => error.status === 400 && error.error.error.code === 400);
    await assert.rejects(client.post('/chat/completions', { body: {} }), Perplexity.UnprocessableEntityError);
    await assert.rejects(client.get('/nothing'), Perplexity.NotFoundError);
    const keyless = { headers: { authorization: null } };
    await assert.rejects(client.get('/v1/models', keyless), Perplexity.AuthenticationError);
  },

  async 'error bodies'() {
    for (const [name, kind] of [
      ['400', Perplexity.BadRequestError],
      ['400-flat', Perplexity.BadRequestError],
      ['400-string', Perplexity.BadRequestError],
      ['401', Perplexity.AuthenticationError],
      ['403', Perplexity.PermissionDeniedError],
      ['404', Perplexity.NotFoundError],
      ['409', Perplexity.ConflictError],
      ['418', Perplexity.APIError],
      ['422', Perplexity.UnprocessableEntityError],
      ['429', Perplexity.RateLimitError],
      ['500', Perplexity.InternalServerError],
      ['500-empty', Perplexity.InternalServerError],
      ['502', Perplexity.InternalServerError],
    ]) {
      await assert.rejects(chat({}, asked(name)), kind, name);
    }
  },

  async retries() {
    for (const name of ['rate-limited', 'overloaded', 'should-retry', 'reset-once']) {
      const { data, response } = await chat({}, asked(name)).withResponse();
      assert.equal(data.choices[0].message.content, said, name);
      assert.match(response.headers.get('x-request-id'), /^req-/);
    }
  },

  async 'faults of the connection'() {
    for (const name of ['reset-before-head', 'close-before-head']) {
      await assert.rejects(chat({}, asked(name), once), Perplexity.APIConnectionError, name);
    }
    const hurried = asked('stalled-head', { timeout: 200 });
    await assert.rejects(chat({}, hurried, once), Perplexity.APIConnectionTimeoutError);
    for (const name of ['reset-mid-body', 'close-mid-body', 'length-too-long', 'length-too-short', 'bad-json']) {
      await assert.rejects(chat({}, asked(name), once), undefined, name);
    }
    for (const name of ['slow-head', 'slow-body', 'redirect']) {
      assert.equal((await chat({}, asked(name), once)).choices[0].message.content, said, name);
    }
  },

  async 'peculiar streams'() {
    for (const [name, expected] of [
      ['stream-ids', 2],
      ['stream-id-only', 3],
      ['stream-comment', 2],
      ['stream-no-done', 3],
      ['stream-after-done', 3],
      ['stream-named', 2],
      ['stream-no-role', 2],
      ['stream-crlf', 1],
      ['stream-error-data', 2],
    ]) {
      assert.equal((await collect(chat({ stream: true }, asked(name)))).length, expected, name);
    }
    for (const name of ['stream-error', 'stream-bad-json', 'stream-ping', 'stream-reset']) {
      await assert.rejects(collect(chat({ stream: true }, asked(name))), undefined, name);
    }
  },

  async 'many at once'() {
    const numbers = Array.from({ length: 20 }, (_, index) => String(index));
    const answers = await Promise.all(numbers.map((content) => chat({ messages: [{ role: 'user', content }] })));
    const texts = answers.map((answer) => answer.choices[0].message.content);
    assert.deepEqual(texts, numbers.map((number) => `You said: ${number}`));
  },
};

let failed = 0;
for (const [name, run] of Object.entries(checks)) {
  try {
    await run();
  } catch (error) {
    failed += 1;
    console.log(`FAILED ${name}\n${error.stack}`);
  }
}
console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
