import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { AUTONOMY_PRESETS, type JobMode } from '@tidemill/contract';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { assetDir } from '../assets.ts';
import { createPrompts } from './prompts.ts';

const builtinDir = path.join(assetDir('prompts'), 'agents');
let root: string;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'tidemill-prompts-'));
  await mkdir(path.join(root, '.tidemill', 'agents'), { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

it('the prompt of every job but a trial says what the agent may decide, also with the project’s own template', async () => {
  const sections = new Proxy({}, { get: () => '', ownKeys: () => [] });
  const context = { hilConfig: AUTONOMY_PRESETS.confirm_all, files: [], answers: [], lessons: [], sections };
  const prompts = createPrompts({ root, builtinDir });
  const told = async (mode: JobMode) => (await prompts.renderJob({ mode, input: 'x' }, context)).prompt;
  for (const mode of ['ideate', 'specify', 'judge', 'analyse', 'propose', 'reflect', 'prevent'] as const)
    expect((await told(mode)).match(/## What you may decide/g)).toHaveLength(1);
  expect(await told('trial')).not.toContain('## What you may decide');
  await writeFile(path.join(root, '.tidemill', 'agents', 'ideate.md'), 'Talk about {input}.\n');
  expect(await told('ideate')).toMatch(/Talk about[\s\S]*## What you may decide[\s\S]*\*\*a person decides/);
});

it('the prompt of a job keeps to the budget of a task: lists lose lines, quoted texts their end, never their fence', async () => {
  const long = (count: number, text: string) => Array.from({ length: count }, (_, at) => `${text} ${at}`);
  const artifacts = long(100, 'Artifact').map((name) => `${name}:\n\n\`\`\`markdown\n${'x'.repeat(5_000)}\n\`\`\``);
  const sections: Record<string, string> = {
    ideaRef: 'I1',
    ideaTitle: 'Tides',
    phaseSection: '',
    conversationSection: '## Conversation\n\nada:\n\n```text\nWho reads it?\n```\n',
    signalsSection: `## What is settled so far\n\n${long(50, '- decision').join('\n')}\n`,
    correctionsSection: '',
    artifactsSection: `## Artifacts\n\n${artifacts.join('\n\n')}\n`,
    researchSection: '',
    profileSection: '',
  };
  const context = {
    hilConfig: AUTONOMY_PRESETS.full,
    files: long(400, 'src/file'),
    answers: [],
    lessons: [],
    sections,
  };
  const prompts = createPrompts({ root, builtinDir });
  const { prompt, promptTokens, dropped } = await prompts.renderJob({ mode: 'ideate', input: '' }, context);
  expect(promptTokens).toBeLessThanOrEqual(60_000);
  expect(prompt).toContain('Who reads it?');
  expect(prompt).toContain('- decision 49');
  expect(prompt).toContain('Artifact 99');
  expect(prompt).not.toContain('Artifact 0:');
  expect(dropped).toContainEqual(expect.stringMatching(/^Artifacts: the first \d+ of \d+ left out$/));

  const spec = { ideaSection: '', knowledgeSection: '', revisionSection: '' };
  const asked = await prompts.renderJob(
    { mode: 'specify', input: `${'word '.repeat(200_000)}` },
    { ...context, files: [], sections: spec },
  );
  expect(asked.promptTokens).toBeLessThanOrEqual(60_000);
  expect(asked.prompt.slice(asked.prompt.indexOf('[cut here'))).toMatch(/^\[cut here: [\d,]+ more characters\]\n```\n/);
  expect(asked.prompt.slice(-20_000)).toContain('## What you may decide');
});

it('jobs that decide what is built are told lessons as data, and of the tools that find more', async () => {
  const sections = new Proxy({}, { get: () => '', ownKeys: () => [] });
  const known = { lessonId: 'l', kind: 'pattern', why: '', confidence: 0.8, stage: 'validated' } as const;
  const lessons = [{ ref: 'L7', text: 'Parts are named by harbour', ...known }];
  const context = { hilConfig: AUTONOMY_PRESETS.confirm_all, files: [], answers: [], lessons, sections };
  const prompts = createPrompts({ root, builtinDir });
  for (const mode of ['ideate', 'specify', 'initialize', 'analyse', 'propose'] as const) {
    const { prompt } = await prompts.renderJob({ mode, input: 'x' }, context);
    expect(prompt, mode).toContain('```\n- L7: Parts are named by harbour\n```');
    expect(prompt, mode).toMatch(/`knowledge`[\s\S]*`query_traces`/);
  }
  expect((await prompts.renderJob({ mode: 'judge', input: 'x' }, context)).prompt).not.toContain('L7');
});
