import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sandboxStatus } from '../../packages/daemon/src/process/sandbox.ts';
import { AgentBench, AT_ONCE_MS, type Behaviour, type Kind, MOST_MS } from './agent-bench.ts';

const status = await sandboxStatus();
if (!status.available) console.log(`skipped: agents in a sandbox, since ${status.why}`);

export const RESULT = '{"tidemill":"result","outcome":"pr_ready","summary":"done"}';
export const printed = (text: string): Behaviour => ({ shell: `cat <<'END'\n${text}\nEND\n`, steps: [{ say: text }] });
export const run = (shell: string): Behaviour => ({ shell, steps: [{ run: shell }] });

type Variant = [Kind, 'auto' | 'off'];
export const VARIANTS: Variant[] = [
  ['command', 'off'],
  ['command', 'auto'],
  ['scripted', 'auto'],
];

/** A bench for each test, which leaves no process behind. */
function useBench(sandbox: 'auto' | 'off'): () => AgentBench {
  let bench: AgentBench;
  beforeEach(async () => {
    bench = await AgentBench.open(sandbox);
  });
  afterEach(async () => {
    expect(await bench.leftOver()).toEqual([]);
    await bench.close();
  });
  return () => bench;
}

const possible = (variants: Variant[]) => variants.filter(([, sandbox]) => sandbox === 'off' || status.available);

/** What every agent does. */
export function describeAgents(variants: Variant[]): void {
  describe.each(possible(variants))('the %s agent, sandbox %s', (kind, sandbox) => {
    const bench = useBench(sandbox);

    it('hands back its result, and what it wrote is in the worktree', async () => {
      const behaviour = {
        shell: `echo made > made.txt; echo working; echo '${RESULT}'`,
        steps: [
          { write: { path: 'made.txt', content: 'made\n' } },
          { say: 'working' },
          { result: { summary: 'done' } },
        ],
      };
      const trial = await bench().start(kind, behaviour);
      expect(await trial.end).toEqual({ kind: 'result', envelope: { outcome: 'pr_ready', summary: 'done' } });
      expect(trial.output()).toBe('working\n');
      expect(await bench().read('made.txt')).toBe('made\n');
    });

    it('counts the last of several results, and passes on usage and progress', async () => {
      const trial = await bench().start(kind, {
        shell: [
          `echo '${RESULT}'`,
          `echo '{"tidemill":"usage","inputTokens":5,"outputTokens":2,"costUsd":0.5}'`,
          `echo '{"tidemill":"usage","inputTokens":"many"}'`,
          `echo '{"tidemill":"progress","percent":40,"text":"half"}'`,
          `printf '%s' '{"tidemill":"result","outcome":"needs_info","summary":"","question":"Which?"}'`,
        ].join('\n'),
        steps: [
          { result: {} },
          { spend: { inputTokens: 5, outputTokens: 2, costUsd: 0.5 } },
          { say: '{"tidemill":"usage","inputTokens":"many"}' },
          { progress: { percent: 40, text: 'half' } },
          { run: `printf '%s' '{"tidemill":"result","outcome":"needs_info","summary":"","openQuestions":["Which?"]}'` },
        ],
      });
      const end = await trial.end;
      const open_questions = [{ text: 'Which?', type: 'blocking' }];
      expect(end).toMatchObject({ kind: 'result', envelope: { outcome: 'needs_info', open_questions } });
      // What cannot be read is a request of unknown price.
      expect(trial.seen.usage).toEqual([
        { inputTokens: 5, outputTokens: 2, costUsd: 0.5, requests: 1 },
        { inputTokens: 0, outputTokens: 0, costUsd: null, requests: 1 },
      ]);
      expect(trial.seen.progress).toEqual([{ percent: 40, text: 'half' }]);
      expect(trial.output()).toContain('"many"');
    });

    it('asks while it works, with one question or several, and hears of one that is none', async () => {
      const tabs = { text: 'Tabs?', type: 'clarifying', default: 'No', options: ['No', 'Yes'] };
      const line = (message: object) => JSON.stringify({ tidemill: 'question', ...message });
      const trial = await bench().start(kind, {
        shell: [line(tabs), line({ questions: ['Which?'] }), line({ text: '' }), RESULT]
          .map((message) => `echo '${message}'`)
          .join('\n'),
        steps: [
          { ask: { questions: [tabs, 'Which?'], goOn: true } },
          { say: line({ text: '' }) },
          { result: { summary: 'done' } },
        ],
      });
      expect(await trial.end).toMatchObject({ kind: 'result', envelope: { outcome: 'pr_ready' } });
      expect(bench().asked).toMatchObject([
        { text: 'Tabs?', type: 'clarifying', default: 'No', options: [{ label: 'No' }, { label: 'Yes' }] },
        { text: 'Which?', type: 'blocking' },
      ]);
      expect(trial.output()).toContain('there is no question in it');
    });

    it('fails without a result, also when it exits with 0 and prints garbage', async () => {
      const garbage = printed('{"tidemill":\nnot json {"tidemill":"result"}\n[]\nnull\n{"tidemill":"verdict"}');
      const trial = await bench().start(kind, garbage);
      expect(await trial.end).toMatchObject({ kind: 'failed', failure: 'no_result', exitCode: 0 });
      expect(trial.output()).toContain('not json');
    });

    it.each([
      ['{"tidemill":"result","outcome":"splendid"}', 'outcome'],
      ['{"tidemill":"result","outcome":"pr_ready","summary":7}', 'summary'],
      ['{"tidemill":"result","outcome":', 'not valid JSON'],
    ])('says what is wrong with the result %s', async (line, says) => {
      const end = await (await bench().start(kind, printed(line))).end;
      expect(end).toMatchObject({ kind: 'failed', failure: 'invalid_result' });
      expect(end).toHaveProperty('message', expect.stringContaining(says));
    });

    it('has crashed when it exits with another code, even after a result', async () => {
      const words = await bench().start(kind, {
        shell: 'echo oh no >&2; exit 3',
        steps: [{ run: 'echo oh no >&2' }, { crash: { exitCode: 3 } }],
      });
      const end = await words.end;
      expect(end).toMatchObject({ kind: 'failed', failure: 'crash', exitCode: 3 });
      expect(end).toHaveProperty('message', expect.stringMatching(/code 3[\s\S]*oh no/));

      const late = await bench().start(kind, {
        shell: `echo '${RESULT}'; kill -9 $$`,
        steps: [{ result: {} }, { crash: { signal: 'SIGKILL' } }],
      });
      const lateEnd = await late.end;
      expect(lateEnd).toMatchObject({ kind: 'failed', failure: 'crash' });
      expect(lateEnd).toHaveProperty('message', expect.stringContaining('after it printed a result'));
    });

    it('puts characters together that arrive in pieces', async () => {
      const trial = await bench().start(kind, run(`printf 'a\\342'; sleep 0.2; printf '\\202\\254z\\n'`));
      await trial.end;
      expect(trial.output()).toBe('a€z\n');
    });

    it('is stopped at once when it listens, and its children with it', async () => {
      const trial = await bench().start(kind, {
        shell: 'sleep 1000 & echo hanging; wait',
        steps: [{ run: 'sleep 1000 >/dev/null 2>&1 &' }, { hang: {} }],
      });
      await trial.says('hanging');
      const startedAt = performance.now();
      await trial.session.stop();
      expect(performance.now() - startedAt).toBeLessThan(AT_ONCE_MS);
      expect(await trial.end).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
    });

    it('fails with a timeout when it runs out of time', async () => {
      const trial = await bench().start(kind, { shell: 'sleep 1000', steps: [{ hang: {} }] }, { timeoutMs: 700 });
      const end = await trial.end;
      expect(end).toMatchObject({ kind: 'failed', failure: 'timeout' });
      expect(end).toHaveProperty('message', expect.stringContaining('0.7 s'));
    });

    it('leaves no descendant behind that left its process group', async () => {
      const orphan = 'setsid sleep 1000 >/dev/null 2>&1 &';
      const trial = await bench().start(kind, {
        shell: `${orphan} echo '${RESULT}'`,
        steps: [{ run: orphan }, { result: {} }],
      });
      expect(await trial.end).toMatchObject({ kind: 'result' });
    });

    it('cannot be started in a folder that is gone', async () => {
      const trial = await bench().start(kind, printed(RESULT), { cwd: path.join(bench().base, 'gone') });
      const end = await trial.end;
      expect(end).toMatchObject({ kind: 'failed', failure: 'spawn' });
      expect(end).toHaveProperty('message', expect.stringContaining('gone does not exist'));
    });
  });
}

/** The same, where a test waits for seconds or reads hundreds of megabytes. */
export function describePatientAgents(variants: Variant[]): void {
  describe.each(possible(variants))('the %s agent, with time, sandbox %s', (kind, sandbox) => {
    const bench = useBench(sandbox);

    it('is killed after five seconds when it does not listen', async () => {
      const trial = await bench().start(kind, {
        shell: `trap 'echo ignoring SIGTERM' TERM; echo hanging; while :; do sleep 0.2; done`,
        steps: [{ hang: { stubborn: true } }],
      });
      await trial.says('hanging');
      const startedAt = performance.now();
      await trial.session.stop();
      const took = performance.now() - startedAt;
      expect(took).toBeGreaterThan(4500);
      expect(took).toBeLessThan(MOST_MS);
      expect(trial.output()).toContain('ignoring SIGTERM');
      expect(await trial.end).toMatchObject({ kind: 'failed', message: 'stopped' });
    });

    it('may print a line of 200 MB without costing us memory', async () => {
      const before = process.memoryUsage().rss;
      const big = `printf '{"x":"'; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo '${RESULT}'`;
      const trial = await bench().start(kind, run(big));
      expect(await trial.end).toMatchObject({ kind: 'result' });
      expect(trial.seen.outputLength).toBeLessThan(10_000_000);
      expect(trial.seen.longestChunk).toBeLessThan(2_000_000);
      expect(process.memoryUsage().rss - before).toBeLessThan(150_000_000);
    });
  });
}
