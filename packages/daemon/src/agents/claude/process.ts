import { EventEmitter, once } from 'node:events';
import { PassThrough } from 'node:stream';
import { type Child, type ChildEnd, type ChildSpec, startChild } from '../../process/child.ts';
import type { SpawnedProcess, SpawnOptions } from './sdk-types.ts';

const LAST_WORDS = 2000;

/** Options outside the SDK: where the process runs and what it may access. */
export type ClaudeChild = Omit<ChildSpec, 'command' | 'env' | 'stdin' | 'onOutput'>;

/**
 * Claude Code's process. The SDK requests it, and it is started like every other child, in the sandbox and marked, so
 * that it and its descendants end with the daemon.
 */
export class ClaudeProcess extends EventEmitter implements SpawnedProcess {
  readonly stdin = new PassThrough();
  readonly stdout = new PassThrough();
  readonly end: Promise<ChildEnd>;
  killed = false;
  exitCode: number | null = null;
  lastWords = '';
  readonly #child: Child;

  constructor(spec: ClaudeChild, wanted: SpawnOptions) {
    super();
    // The SDK's pipes break when it stops. Only the exit code matters.
    this.stdin.on('error', () => undefined);
    this.stdout.on('error', () => undefined);
    this.on('error', () => undefined);
    const env = Object.entries(wanted.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    this.#child = startChild({
      ...spec,
      command: [wanted.command, ...wanted.args],
      env: Object.fromEntries(env),
      stdin: (input) => void this.stdin.pipe(input),
      onOutput: (chunk, from) => (from === 'stdout' ? this.#pass(chunk) : this.#note(chunk)),
    });
    this.end = this.#child.end.then((end) => this.#leave(end));
  }

  kill(): boolean {
    this.killed = true;
    void this.stop();
    return true;
  }

  /** Resolves when nothing of it is left. */
  async stop(): Promise<void> {
    this.stdout.resume(); // an unread pipe would block the child
    await this.#child.stop();
  }

  async #pass(chunk: Buffer): Promise<void> {
    if (this.stdout.destroyed || this.stdout.write(chunk)) return;
    await Promise.race([once(this.stdout, 'drain'), once(this.stdout, 'close')]).catch(() => undefined);
  }

  #note(chunk: Buffer): void {
    this.lastWords = (this.lastWords + chunk.toString('utf8')).slice(-LAST_WORDS);
  }

  #leave(end: ChildEnd): ChildEnd {
    this.stdout.end();
    if (end.kind === 'unstartable') {
      this.emit('error', new Error(end.message));
      return end;
    }
    const [code, signal] = end.kind === 'exited' ? [end.exitCode, end.signal] : [null, 'SIGTERM' as const];
    this.exitCode = code ?? 143;
    this.emit('exit', code, signal);
    return end;
  }
}
