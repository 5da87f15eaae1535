import path from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { AgentRequest } from '../../ports.ts';
import { type Child, type ChildHost, startChild } from '../../process/child.ts';
import { sandboxStatus } from '../../process/sandbox.ts';
import { programFolder } from '../../process/tools.ts';
import { fromRoot } from '../command.ts';
import { homeFolders, readyHome } from './home.ts';
import type { Preset } from './preset.ts';
import type { Wire } from './wire.ts';

const LAST_WORDS = 2000;

export interface AcpProgram {
  command: string[];
  preset: Preset | null;
  env: Record<string, string>;
  writable: string[];
  host: ChildHost;
}

interface Launch {
  wire: Wire;
  readOnlyWorktree: boolean;
  graceMs: number;
  signal: AbortSignal;
}

export interface Launched {
  child: Child;
  /** The end of its error output. */
  lastWords(): string;
}

/** Starts the program with its standard input and output on the wire. */
export async function launch(program: AcpProgram, request: AgentRequest, { wire, ...how }: Launch): Promise<Launched> {
  const { host, preset } = program;
  const command = await fromRoot(program.command, host.root);
  const home = homeFolders(preset, program.env);
  if (host.sandbox === 'auto' && (await sandboxStatus()).available) await readyHome(home);
  // Programs installed in the repository come after the person's PATH.
  const search = [program.env.PATH ?? process.env.PATH ?? '', path.join(host.root, 'node_modules', '.bin')];
  const files = command.slice(1).filter(path.isAbsolute);
  const decoder = new StringDecoder('utf8');
  let words = '';
  const child = startChild({
    host,
    runId: request.runId,
    command,
    cwd: request.cwd,
    env: { ...preset?.env, ...program.env, PATH: search.filter(Boolean).join(path.delimiter) },
    stdin: wire.connect,
    network: true,
    readable: (await Promise.all(files.map((file) => programFolder(file, host.dataDir)))).flat(),
    writable: [...home, ...program.writable],
    timeoutMs: request.timeoutMs,
    control: request.control,
    ...how,
    onOutput(chunk, from) {
      if (from === 'stdout') wire.hear(chunk);
      else words = (words + decoder.write(chunk)).slice(-LAST_WORDS);
    },
  });
  return { child, lastWords: () => words.trim().split('\n').slice(-8).join('\n') };
}
