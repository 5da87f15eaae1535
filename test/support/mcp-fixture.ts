import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  completable,
  createRequestStateCodec,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

/**
 * What the conformance suite expects of a server: tools, resources and prompts under its own names. They run behind the
 * daemon's real address, checks and transport.
 */
export function conformanceServer(): McpServer {
  const server = new McpServer(
    { name: 'conformance', version: '1' },
    {
      // As in the real server: what is listed does not change.
      capabilities: { tools: fixed, resources: fixed, prompts: fixed, completions: {}, logging: {} },
      requestState: { verify: states.verify },
    },
  );
  addContents(server);
  addQuestions(server);
  addResources(server);
  addPrompts(server);
  return server;
}

const fixed = { listChanged: false };
const states = createRequestStateCodec({ key: 'k'.repeat(32) });

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==';
const SOUND = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';
const text = (words: string) => ({ type: 'text' as const, text: words });
const image = { type: 'image' as const, data: PIXEL, mimeType: 'image/png' };
const embedded = (uri: string, mimeType: string, words: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType, text: words },
});

function addContents(server: McpServer): void {
  const returns = (name: string, content: CallToolResult['content']) =>
    server.registerTool(name, { description: name }, async () => ({ content }));
  returns('test_simple_text', [text('This is a simple text response for testing.')]);
  returns('test_image_content', [image]);
  returns('test_audio_content', [{ type: 'audio', data: SOUND, mimeType: 'audio/wav' }]);
  returns('test_embedded_resource', [
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
  ]);
  returns('test_multiple_content_types', [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ]);
  server.registerTool('test_error_handling', { description: 'Fails' }, async () => {
    throw new Error('This tool intentionally returns an error for testing');
  });
  server.registerTool('test_tool_with_progress', { description: 'Reports progress' }, async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta ?? {};
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined)
        await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      await delay(50);
    }
    return { content: [text('done')] };
  });
  server.registerTool('test_logging_tool', { description: 'Logs once' }, async ({ mcpReq }) => {
    await mcpReq.log('info', 'for whoever asked for it');
    return { content: [text('done')] };
  });
  server.registerTool('test_tool_with_logging', { description: 'Logs' }, async ({ mcpReq }) => {
    for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      await mcpReq.log('info', words);
      await delay(50);
    }
    return { content: [text('done')] };
  });
}

const asks = (message: string, name: string, type: 'string' | 'boolean' = 'string') =>
  inputRequired.elicit({
    mode: 'form',
    message,
    requestedSchema: z.object({ [name]: type === 'string' ? z.string() : z.boolean() }),
  });
const asksModel = (words: string, maxTokens: number) =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: text(words) }], maxTokens });
const given = ({ mcpReq }: ServerContext, key: string) => acceptedContent(mcpReq.inputResponses, key);

function addQuestions(server: McpServer): void {
  const tool = (name: string, call: (context: ServerContext) => Promise<CallToolResult | InputRequiredResult>) =>
    server.registerTool(`test_input_required_result_${name}`, { description: name }, call);
  tool('elicitation', async (context) => {
    const { name } = given(context, 'user_name') ?? {};
    if (typeof name === 'string') return { content: [text(`Hello, ${name}!`)] };
    return inputRequired({ inputRequests: { user_name: asks('What is your name?', 'name') } });
  });
  tool('sampling', async ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'capital_question');
    if (view.kind === 'sampling') return { content: [text(JSON.stringify(view.result.content))] };
    return inputRequired({ inputRequests: { capital_question: asksModel('What is the capital of France?', 100) } });
  });
  tool('list_roots', async ({ mcpReq }) => {
    const view = inputResponse(mcpReq.inputResponses, 'client_roots');
    if (view.kind === 'roots') return { content: [text(view.roots.map(({ uri }) => uri).join(', '))] };
    return inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } });
  });
  const confirmed = async (context: ServerContext) => {
    if (given(context, 'confirm') && context.mcpReq.requestState()) return { content: [text('state-ok')] };
    const requestState = await states.mint({ step: 1 }, context);
    return inputRequired({ inputRequests: { confirm: asks('Please confirm', 'ok', 'boolean') }, requestState });
  };
  tool('request_state', confirmed);
  tool('tampered_state', confirmed);
  tool('multiple_inputs', async (context) => {
    const { inputResponses = {} } = context.mcpReq;
    if (['user_name', 'greeting', 'client_roots'].every((key) => key in inputResponses))
      return { content: [text('all')] };
    return inputRequired({
      inputRequests: {
        user_name: asks('What is your name?', 'name'),
        greeting: asksModel('Generate a greeting', 50),
        client_roots: inputRequired.listRoots(),
      },
      requestState: await states.mint({ step: 1 }, context),
    });
  });
  tool('multi_round', async (context) => {
    if (given(context, 'step2')) return { content: [text('both steps are done')] };
    const [key, message, name] = given(context, 'step1')
      ? (['step2', 'Step 2: What is your favorite color?', 'color'] as const)
      : (['step1', 'Step 1: What is your name?', 'name'] as const);
    return inputRequired({
      inputRequests: { [key]: asks(message, name) },
      requestState: await states.mint({ asked: key }, context),
    });
  });
  const asking = {
    missing_capability: asksModel('Say something', 10),
    streaming_elicitation: asks('Your name?', 'name'),
  };
  for (const [name, asked] of Object.entries(asking))
    server.registerTool(`test_${name}`, { description: name }, async () => inputRequired({ inputRequests: { asked } }));
  tool('capabilities', async () => {
    const can = server.server.getClientCapabilities() ?? {};
    return inputRequired({
      inputRequests: {
        ...(can.sampling ? { words: asksModel('Say something', 10) } : {}),
        ...(can.elicitation ? { name: asks('What is your name?', 'name') } : {}),
      },
      requestState: await states.mint({ step: 1 }),
    });
  });
}

function addResources(server: McpServer): void {
  const plain = { mimeType: 'text/plain', description: 'A text' };
  server.registerResource('static-text', 'test://static-text', plain, async ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }],
  }));
  const binary = { mimeType: 'image/png', description: 'A picture' };
  server.registerResource('static-binary', 'test://static-binary', binary, async ({ href: uri }) => ({
    contents: [{ uri, mimeType: 'image/png', blob: PIXEL }],
  }));
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, { mimeType: 'application/json' }, async ({ href: uri }, { id }) => ({
    contents: [
      {
        uri,
        mimeType: 'application/json',
        text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
      },
    ],
  }));
}

function addPrompts(server: McpServer): void {
  const user = (...contents: GetPromptResult['messages'][number]['content'][]): GetPromptResult => ({
    messages: contents.map((content) => ({ role: 'user', content })),
  });
  server.registerPrompt('test_simple_prompt', { description: 'Simple' }, async () =>
    user(text('This is a simple prompt for testing.')),
  );
  const words = completable(z.string(), (value) => ['paris', 'park', 'party'].filter((each) => each.startsWith(value)));
  server.registerPrompt(
    'test_prompt_with_arguments',
    { description: 'With arguments', argsSchema: z.object({ arg1: words, arg2: z.string() }) },
    async ({ arg1, arg2 }) => user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'With a resource', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) =>
      user(
        embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
        text('Please process the embedded resource above.'),
      ),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'With an image' }, async () =>
    user(image, text('Please analyze the image above.')),
  );
  server.registerPrompt('test_input_required_result_prompt', { description: 'Asks first' }, async (context) => {
    const { context: about } = given(context, 'user_context') ?? {};
    if (typeof about === 'string') return user(text(`About ${about}`));
    return inputRequired({ inputRequests: { user_context: asks('What context should the prompt use?', 'context') } });
  });
}
