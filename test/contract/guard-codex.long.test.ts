import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  answer,
  exec,
  patch,
  type ResponsesRequest,
  type ResponsesServer,
  say,
  startResponsesServer,
  toolOutputs,
  turn,
} from '../support/model/responses.ts';
import { installVendor } from '../support/vendor.ts';
import {
  type Attempt,
  attempts,
  builtinGuards,
  commandLinesWith,
  expectDenied,
  GuardBed,
  type GuardedMode,
  LEAKS,
  modeIn,
  resultOf,
} from './guard-bed.ts';

const vendor = await installVendor('@openai/codex', '0.166.0', 'codex');
const missing = 'missing' in vendor ? vendor.missing : '';

/** About tools that Codex does not have. */
const NO_SUCH_TOOL = ['other-worktree', 'secrets-in-search'];

/** The key to the model, which must not be in any process's arguments. */
const KEY = `sk-${crypto.randomUUID()}`;
let shown: string[] = [];

let bed: GuardBed;
let model: ResponsesServer | undefined;
beforeEach(() => {
  bed = new GuardBed();
  shown = [];
});
afterEach(async () => {
  await model?.stop();
  await bed.close();
});

const textOf = ({ body }: ResponsesRequest) =>
  body.input
    .flatMap(({ content }) => (Array.isArray(content) ? (content as { text?: string }[]) : []))
    .map(({ text = '' }) => text)
    .join('\n');

const toolUse = ({ shell, write }: Attempt) =>
  turn(shell === undefined ? patch(`*** Add File: ${write!.file}`, `+${write!.content}`) : exec(shell));

describe('the real Codex', { timeout: 240_000 }, () => {
  it('is stopped by every built-in guard, gets the reason, and each denial is recorded', async (context) => {
    context.skip(missing !== '', missing);
    const all = attempts({ folder: bed.machine.folder, data: bed.machine.data }).filter(({ claude }) => !claude);
    const tried = new Set([...all.map(({ guard }) => guard), ...NO_SUCH_TOOL]);
    expect([...tried].toSorted()).toEqual(await builtinGuards());
    const during = (mode: GuardedMode) => all.filter((attempt) => attempt.mode === mode);
    const answers: Record<GuardedMode, string[]> = { plan: [], implement: [], review: [] };
    model = await startResponsesServer((request) => {
      const text = textOf(request);
      const mode = modeIn(text);
      if (mode === null) return turn(say('a title'));
      shown.push(...commandLinesWith(KEY));
      answers[mode] = toolOutputs(request);
      const next = during(mode)[answers[mode].length];
      if (next) return toolUse(next);
      if (mode === 'implement' && answers[mode].length === during(mode).length)
        return turn(patch('*** Add File: done.txt', '+done'));
      return turn(answer(resultOf(mode, text)));
    });
    const env = { OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: KEY };
    const program = 'program' in vendor ? vendor.program : '';
    await bed.lay({ agent: { type: 'codex', program, model: 'gpt-5.5', env } });
    const { task, events, told } = await bed.work();

    expect(task.stage, told).toBe('done');
    await bed.expectOnlyDone();
    for (const mode of ['implement', 'review'] as const)
      during(mode).forEach((attempt, index) => {
        const heard = answers[mode][index] ?? '';
        expect(heard, attempt.guard).not.toMatch(LEAKS);
        expectDenied(attempt, heard, events);
      });
    expect(shown).toEqual([]);
    expect(model.others).toEqual([]);
  });
});
