import { Writable } from 'node:stream';
import { reportFailure } from '../../packages/daemon/src/cli/failure.ts';
import { createProgram } from '../../packages/daemon/src/cli/program.ts';
import type { Terminal } from '../../packages/daemon/src/cli/terminal.ts';
import { PROGRAM_VERSION } from '../../packages/daemon/src/version.ts';

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** These last, read standard input, or look for programs with the environment of their own process. */
const OWN_PROCESS = new Set(['up', 'demo', 'init', 'agents', 'mcp', 'guard', 'guards', 'hooks']);

export const needsProcess = (args: string[]) => OWN_PROCESS.has(args[0] ?? '');

class Written extends Writable {
  text = '';
  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    done();
  }
}

/**
 * Runs a command as the program does, but in this process: the start of a process costs more than most commands.
 * Standard output is no terminal.
 */
export async function runCommand(args: string[], env: NodeJS.ProcessEnv, cwd: string): Promise<Finished> {
  const [out, err] = [new Written(), new Written()];
  const terminal: Terminal = {
    out: out as unknown as NodeJS.WriteStream,
    err: err as unknown as NodeJS.WriteStream,
    isLive: false,
    width: 80,
    paint: (_, text) => text,
    line: (text = '') => void out.write(`${text}\n`),
    json: (value) => void out.write(`${JSON.stringify(value)}\n`),
  };
  let code = 0;
  const setExitCode = (given: number) => {
    code = given;
  };
  try {
    const program = await createProgram({ env, cwd, terminal, setExitCode }, PROGRAM_VERSION, args[0]);
    await program.parseAsync(['node', 'tidemill', ...args]);
  } catch (error) {
    code = reportFailure(error, terminal, args.includes('--json'));
  }
  return { code, stdout: out.text, stderr: err.text };
}
