import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  call,
  type MessagesRequest,
  type MessagesServer,
  say,
  startMessagesServer,
  structured,
  toolResults,
} from '../support/model/messages.ts';
import { CLAUDE_CODE, installVendor } from '../support/vendor.ts';
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

const vendor = await installVendor(...CLAUDE_CODE);
const missing = 'missing' in vendor ? vendor.missing : '';

/** Not among the tools that Claude Code is started with, so the guard need not be asked. */
const TAKEN_AWAY = ['other-worktree', 'reviewer'];

/** The key to the model, which must not be in any process's arguments. */
const KEY = `sk-${crypto.randomUUID()}`;
let shown: string[] = [];

let bed: GuardBed;
let model: MessagesServer | undefined;
beforeEach(() => {
  bed = new GuardBed('bin' in vendor ? { PATH: `${vendor.bin}${delimiter}${process.env.PATH}` } : {});
  shown = [];
});
afterEach(async () => {
  await model?.stop();
  await bed.close();
});

const textOf = ({ body }: MessagesRequest) =>
  body.messages
    .flatMap(({ content }) => (typeof content === 'string' ? [content] : content.map(({ text }) => text ?? '')))
    .join('\n');

function worktreeIn({ body }: MessagesRequest): string {
  const found = /\/[^\s"'\\<>`]*\/worktrees\/[^\s"'\\<>`/]+/.exec(JSON.stringify([body.system, body.messages]));
  return found?.[0] ?? '/nowhere';
}

function toolUse({ shell, write, claude }: Attempt, request: MessagesRequest) {
  const full = (file: string) => (file.startsWith('/') ? file : join(worktreeIn(request), file));
  if (shell !== undefined) return call('Bash', { command: shell, description: 'as told' });
  if (write) return call('Write', { file_path: full(write.file), content: write.content });
  const { name, input } = claude!;
  return call(name, typeof input.file_path === 'string' ? { ...input, file_path: full(input.file_path) } : input);
}

describe('the real Claude Code', { timeout: 240_000 }, () => {
  it('is stopped by every built-in guard, gets the reason, and each denial is recorded', async (context) => {
    context.skip(missing !== '', missing);
    const all = attempts({ folder: bed.machine.folder, data: bed.machine.data });
    expect([...new Set(all.map(({ guard }) => guard))].toSorted()).toEqual(await builtinGuards());
    const during = (mode: GuardedMode) => all.filter((attempt) => attempt.mode === mode);
    const answers: Record<GuardedMode, string[]> = { plan: [], implement: [], review: [] };
    model = await startMessagesServer((request) => {
      const text = textOf(request);
      const mode = modeIn(text);
      if (mode === null) return say('a title');
      shown.push(...commandLinesWith(KEY));
      answers[mode] = toolResults(request);
      const next = during(mode)[answers[mode].length];
      if (next) return toolUse(next, request);
      if (mode === 'implement' && answers[mode].length === during(mode).length)
        return call('Write', { file_path: join(worktreeIn(request), 'done.txt'), content: 'done\n' });
      return structured(resultOf(mode, text));
    });
    const env = { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: KEY, CLAUDE_CODE_MAX_RETRIES: '0' };
    await bed.lay({ agent: { type: 'claude', env } });
    const { task, events, told } = await bed.work();

    expect(task.stage, told).toBe('done');
    await bed.expectOnlyDone();
    for (const mode of ['implement', 'review'] as const)
      during(mode).forEach((attempt, index) => {
        const heard = answers[mode][index] ?? '';
        expect(heard, attempt.guard).not.toMatch(LEAKS);
        if (attempt.guard === 'secrets-in-search') expect(heard).toContain('notes.txt');
        else if (TAKEN_AWAY.includes(attempt.guard)) expect(heard).toContain('No such tool');
        else expectDenied(attempt, heard, events);
      });
    expect(shown).toEqual([]);
    expect(model.others).toEqual([]);
  });
});
