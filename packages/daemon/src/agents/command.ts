import { stat } from 'node:fs/promises';
import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Agent, AgentEnd, AgentRequest, AgentSink } from '../ports.ts';
import { type ChildEnd, type ChildHost, type ChildSpec, startChild } from '../process/child.ts';
import { programFolder } from '../process/tools.ts';
import { createProtocolReader, PROTOCOL, type ProposedResult } from './protocol.ts';
import { beginSession } from './session.ts';

/** More than a run's log keeps. Output beyond it is read and dropped. */
const MOST_OUTPUT = 8 * 1024 * 1024;
const LAST_WORDS = 2000;

export interface CommandAgentOptions {
  label: string;
  command: string[];
  env: Record<string, string>;
  writable?: string[];
  host: ChildHost;
}

/** Any program that speaks protocol 1 (see protocol.ts): the brief on its standard input, messages among its output. */
export function createCommandAgent(options: CommandAgentOptions): Agent {
  return {
    label: options.label,
    start: (request, sink) => beginSession((stopped) => run(options, request, listen(sink, request.ask), stopped)),
  };
}

async function run(
  options: CommandAgentOptions,
  request: AgentRequest,
  listener: Listener,
  signal: AbortSignal,
): Promise<AgentEnd> {
  // The prompt's settings are passed on. The program decides whether it supports them.
  const { model, tools } = request;
  const command = await fromRoot(options.command, options.host.root);
  const readable = await Promise.all(
    command
      .slice(1)
      .filter(path.isAbsolute)
      .map((file) => programFolder(file, options.host.dataDir)),
  );
  const child = startChild({
    host: options.host,
    runId: request.runId,
    command,
    cwd: request.cwd,
    env: options.env,
    stdin: `${JSON.stringify({ protocol: PROTOCOL, ...request.brief, model, tools })}\n`,
    network: true,
    readable: readable.flat(),
    writable: options.writable,
    timeoutMs: request.timeoutMs,
    signal,
    control: request.control,
    onOutput: listener.hear,
  });
  const ended = await child.end;
  listener.finish();
  return judge(ended, listener, { program: command[0] ?? '', timeoutMs: request.timeoutMs });
}

/**
 * A relative program or script is taken from the person's checkout: the agent whose work is reviewed could have changed
 * the copy in the worktree.
 */
export async function fromRoot(command: string[], root: string): Promise<string[]> {
  return Promise.all(
    command.map(async (word, index) => {
      if (/^\.\.?\//.test(word)) return path.resolve(root, word);
      if (index === 0) return word.includes('/') ? path.resolve(root, word) : word;
      if (index > 1 || word.startsWith('-')) return word;
      const file = path.resolve(root, word);
      return (await stat(file).catch(() => null))?.isFile() ? file : word;
    }),
  );
}

interface Listener {
  hear: ChildSpec['onOutput'];
  finish(): void;
  result(): ProposedResult | null;
  lastWords(): string;
}

function listen(sink: AgentSink, ask: AgentRequest['ask']): Listener {
  let result: ProposedResult | null = null;
  let passed = 0;
  let lastWords = '';
  const output = (text: string) => {
    if (passed >= MOST_OUTPUT) return;
    passed += text.length;
    sink.output(text);
    if (passed >= MOST_OUTPUT) sink.output('\n[the output is too long; the rest is dropped]\n');
  };
  const reader = createProtocolReader({
    output,
    usage: (usage) => sink.usage(usage),
    progress: (report) => sink.progress(report),
    question: (questions) => void ask?.(questions).catch(() => undefined), // the callee logs the error
    result: (proposed) => {
      result = proposed;
    },
  });
  // A character may be split over two chunks.
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const hearErrors = (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
    if (text !== '') output(text);
  };
  return {
    hear(chunk, from) {
      const text = decoders[from].write(chunk);
      if (from === 'stdout') reader.push(text);
      else hearErrors(text);
    },
    finish() {
      reader.push(decoders.stdout.end());
      reader.end();
      hearErrors(decoders.stderr.end());
    },
    result: () => result,
    lastWords: () => lastWords.trim().split('\n').slice(-8).join('\n'),
  };
}

function judge(ended: ChildEnd, listener: Listener, about: { program: string; timeoutMs: number }): AgentEnd {
  const result = listener.result();
  const failed = (failure: Extract<AgentEnd, { kind: 'failed' }>['failure'], message: string): AgentEnd => ({
    kind: 'failed',
    failure,
    message,
    exitCode: ended.kind === 'exited' ? ended.exitCode : null,
  });
  switch (ended.kind) {
    case 'unstartable':
      return failed('spawn', ended.message);
    case 'stopped':
      return failed('crash', 'stopped');
    case 'over_limit':
      return failed('crash', `${about.program} ${ended.message}`);
    case 'timeout': {
      const late = result ? ' (it printed a result, but a result counts only after the program ends)' : '';
      return failed('timeout', `${about.program} did not end within ${about.timeoutMs / 1000} s${late}`);
    }
    case 'exited': {
      if (ended.exitCode !== 0) {
        const how = ended.signal ? `was killed by ${ended.signal}` : `exited with code ${ended.exitCode}`;
        const after = result ? ' after it printed a result, so the result does not count' : '';
        const words = listener.lastWords();
        return failed('crash', `${about.program} ${how}${after}${words ? `; last output:\n${words}` : ''}`);
      }
      if (!result) return failed('no_result', `${about.program} ended without printing a result line`);
      if ('invalid' in result) return failed('invalid_result', result.invalid);
      return { kind: 'result', envelope: result.envelope };
    }
  }
}
