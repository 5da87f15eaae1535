// An agent that writes the protocol's lines itself and follows its first argument, so that tests can make it
// misbehave: { hello, sessions, turns: [[step, …], …] }. The last turn repeats.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const script = JSON.parse(process.argv[2] ?? '{}');
const waiting = new Map();
let asked = 0;
let turn = 0;
let cwd = '';
let onCancel = () => undefined;

const print = (text) => void process.stdout.write(text);
const send = (message) => print(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const update = (sessionId, body) => send({ method: 'session/update', params: { sessionId, update: body } });
const ask = (method, params) =>
  new Promise((resolve) => {
    asked += 1;
    waiting.set(`q${asked}`, resolve);
    send({ id: `q${asked}`, method, params });
  });

const OPTIONS = [
  { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
  { optionId: 'always', name: 'Always', kind: 'allow_always' },
  { optionId: 'no', name: 'No', kind: 'reject_once' },
];

const steps = {
  say: (session, text) => update(session, { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } }),
  update,
  print: (_session, text) => print(text),
  pad: (session, megabytes) => steps.say(session, 'x'.repeat(megabytes * 1024 * 1024)),
  flood: (_session, megabytes) => print('x'.repeat(megabytes * 1024 * 1024)),
  complain: (_session, text) => void process.stderr.write(text),
  exit: (_session, code) => process.exit(code),
  kill: (_session, signal) => process.kill(process.pid, signal),
  write: (session, file) => {
    try {
      writeFileSync(file, 'written\n');
      steps.say(session, `wrote ${file}\n`);
    } catch (error) {
      steps.say(session, `${error.code}\n`);
    }
  },
  /** A child that outlives its turn. */
  start: (_session, command) => void spawn(command, { shell: true, detached: true, stdio: 'ignore' }).unref(),
  request: async (session, { method, params }) => {
    const answer = await ask(method, params);
    steps.say(session, `answer ${JSON.stringify(answer.result ?? answer.error)}\n`);
  },
  wait: () =>
    new Promise((resolve) => {
      onCancel = resolve;
    }),
  hang: () => new Promise(() => undefined),
  /** Prints the chosen option; a rejection may end the turn, as with some agents. */
  permit: async (session, { toolCall, options = OPTIONS, ends }) => {
    update(session, { sessionUpdate: 'tool_call', status: 'pending', title: 'a tool', ...toolCall });
    const params = { sessionId: session, toolCall: { toolCallId: toolCall.toolCallId }, options };
    const { outcome } = (await ask('session/request_permission', params)).result;
    const isAllowed = outcome.optionId === 'yes';
    const status = isAllowed ? 'completed' : 'failed';
    update(session, { sessionUpdate: 'tool_call_update', toolCallId: toolCall.toolCallId, status });
    steps.say(session, `chose ${outcome.optionId ?? outcome.outcome}\n`);
    return isAllowed || !ends ? undefined : { stopReason: ends };
  },
  echo: (session, _value, prompt) => steps.say(session, prompt),
};

async function play(session, prompt) {
  const mine = script.turns[Math.min(turn, script.turns.length - 1)];
  turn += 1;
  for (const step of mine) {
    const [[name, value]] = Object.entries(step);
    if (name === 'end') return { result: { stopReason: 'end_turn', ...value } };
    if (name === 'fail') return { error: value };
    const ended = await steps[name](session, value, prompt);
    if (ended) return { result: ended };
  }
  return { result: { stopReason: 'end_turn' } };
}

const answers = {
  initialize: () => ({ result: { protocolVersion: 1, agentCapabilities: {}, ...script.hello } }),
  'session/new': (params) => {
    cwd = params.cwd;
    process.chdir(cwd);
    if (script.tellsServers) script.turns[0].unshift({ say: `servers ${JSON.stringify(params.mcpServers)}\n` });
    return script.sessionError
      ? { error: script.sessionError }
      : { result: { sessionId: 'session-1', ...script.session } };
  },
  'session/load': (params) => {
    if (script.loadError) return { error: script.loadError };
    for (const body of script.past ?? []) update(params.sessionId, body);
    return { result: {} };
  },
  'session/set_mode': (params) => {
    script.turns[0].unshift({ say: `mode ${params.modeId}\n` });
    return { result: {} };
  },
  'session/set_config_option': (params) => {
    script.turns[0].unshift({ say: `${params.configId} is ${params.value}\n` });
    return { result: { configOptions: [] } };
  },
  'session/prompt': (params) => play(params.sessionId, params.prompt.map(({ text }) => text).join('\n')),
};

if (script.deafToSigterm) process.on('SIGTERM', () => undefined);

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params, ...answer } = JSON.parse(line);
  if (method === undefined) {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  } else if (method === 'session/cancel') onCancel();
  else if (id !== undefined) {
    const reply = (await answers[method]?.(params)) ?? { error: { code: -32601, message: `no ${method}` } };
    send({ id, ...reply });
  }
});
