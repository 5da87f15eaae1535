import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { GitError, gitArgs, gitEnv } from './program.ts';

/**
 * Resolves names to object ids with one long-running git process: a new process takes milliseconds, and the pipeline
 * needs several per task. It always sees current refs and objects, ends with this process (its input closes), and does
 * not keep the event loop alive while idle.
 */
export interface Resolver {
  /** null where the name does not exist. */
  resolve(names: string[]): Promise<(string | null)[]>;
  /** Settles when the process has gone. */
  close(): Promise<void>;
}

interface Question {
  name: string;
  answer: (oid: string | null) => void;
  fail: (error: Error) => void;
}

export function openResolver(gitDir: string): Resolver {
  let child: ChildProcessWithoutNullStreams | null = null;
  let waiting: Question[] = [];

  function start(): ChildProcessWithoutNullStreams {
    const started = spawn('git', gitArgs(['cat-file', '--batch-check=%(objectname)']), {
      cwd: gitDir,
      env: gitEnv({ GIT_DIR: gitDir }),
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    let rest = '';
    let complaint = '';
    started.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) settle(line);
    });
    started.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      complaint = (complaint + chunk).slice(-4096);
    });
    const end = (text: string) => {
      if (child !== started) return;
      child = null;
      const unanswered = waiting;
      waiting = [];
      for (const question of unanswered) question.fail(new GitError(['cat-file'], null, complaint || text));
    };
    started.stdin.on('error', (error) => end(error.message));
    started.once('error', (error) => end(error.message));
    started.once('close', (code) => end(`it ended with ${code}`));
    return started;
  }

  function settle(line: string): void {
    waiting.shift()?.answer(/^[0-9a-f]{40,64}$/.test(line) ? line : null);
    if (waiting.length === 0 && child) hold(child, false);
  }

  function ask(names: string[]): Promise<(string | null)[]> {
    child ??= start();
    hold(child, true);
    const answers = names.map(
      (name) => new Promise<string | null>((answer, fail) => waiting.push({ name, answer, fail })),
    );
    child.stdin.write(names.map((name) => `${name}\n`).join(''));
    return Promise.all(answers);
  }

  return {
    async resolve(names) {
      // A line break would be two requests and shift all later responses. No object has such a name.
      const asked = names.filter((name) => !/[\n\r\0]/.test(name));
      // A second attempt handles a resolver that was killed from outside.
      const answers = await ask(asked).catch(() => ask(asked));
      const byName = new Map(asked.map((name, i) => [name, answers[i]!]));
      return names.map((name) => byName.get(name) ?? null);
    },
    async close() {
      const ended = child;
      child = null;
      if (!ended || ended.exitCode !== null || ended.signalCode !== null) return;
      hold(ended, true);
      const gone = once(ended, 'exit');
      ended.stdin.end();
      await gone;
    },
  };
}

function hold(child: ChildProcessWithoutNullStreams, on: boolean): void {
  const handles = [child, child.stdin, child.stdout, child.stderr] as unknown as { ref?(): void; unref?(): void }[];
  for (const handle of handles) on ? handle.ref?.() : handle.unref?.();
}
