import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { parse } from 'yaml';
import { callsIn, checkout, codeSpans, deadLinks, marked, readDocuments } from '../support/documents.ts';
import { findCall, type ListedCommand, listCommands } from '../support/program-commands.ts';
import { TourShell } from '../support/tour.ts';

const documents = readDocuments();
const page = (path: string) => documents.get(path) ?? '';
/** The only block of a page that has the mark. */
function block(path: string, mark: string): string {
  const found = marked(page(path), mark);
  expect(found, `${path} has one block marked ${mark}`).toHaveLength(1);
  return found[0]!;
}

describe('README', () => {
  let shell: TourShell;
  beforeAll(async () => {
    shell = await TourShell.openInstalled(inject('launcher'));
  });
  afterAll(() => shell.close());

  it('has a tour that works as described', () => shell.expectTour(), 180_000);

  it('this checkout has the program where its tour looks for it, and nothing else that would hide yours', async () => {
    const here = await TourShell.open(checkout);
    expect(marked(page('README.md'), 'tour')[0]).toContain('export PATH="$PWD/bin:$PATH"');
    expect(await readdir(join(checkout, 'bin'))).toEqual(['tidemill']);
    const said = await here.sh('PATH="$PWD/bin:$PATH" tidemill task --help', 60_000);
    await here.close();
    expect(said).toContain('Usage: tidemill task');
  }, 60_000);

  it('has at most 1,300 words', () => {
    expect(page('README.md').split(/\s+/).length).toBeLessThanOrEqual(1_300);
  });

  it('a command agent gets what docs/agents.md shows', async () => {
    const stdout = await shell.sh(
      `export PATH="$PWD/bin:$PATH"
       mkdir "$HOME/shown" && cd "$HOME/shown" && git init -q -b main
       printf '#!/bin/sh\ncat > input.json\necho "{\\"tidemill\\":\\"result\\",\\"outcome\\":\\"pr_ready\\"}"\n' > agent
       chmod +x agent && mkdir .tidemill
       echo '{ untested: true, pipeline: quick, agents: { default: { type: command, command: [./agent] } } }' > .tidemill/config.yaml
       git add -A && git commit -q -m first
       tidemill task add "Show" --accept "It is shown" > /dev/null && tidemill up --until-idle --plain > /dev/null
       cat input.json`,
      60_000,
    );
    const [received, shown] = [JSON.parse(stdout), JSON.parse(block('docs/agents.md', 'request'))];
    expect(Object.keys(received).sort()).toEqual(Object.keys(shown).sort());
    expect(Object.keys(received.task).sort()).toEqual(Object.keys(shown.task).sort());
    expect(Object.keys(received.task.acceptance[0])).toEqual(Object.keys(shown.task.acceptance[0]));
  }, 60_000);
});

describe('the blocks of the documents', () => {
  it('show a valid pipeline', async () => {
    const { checkPipeline } = await import('@tidemill/core');
    const { Pipeline } = await import('@tidemill/contract');
    const pipeline = Pipeline.parse(parse(block('docs/pipelines.md', 'pipeline')));
    expect(checkPipeline(pipeline, ['integrity', 'test'])).toEqual([]);
  });

  it('show valid settings', async () => {
    const { Config } = await import('@tidemill/contract');
    const any = { agents: { default: { type: 'command', command: ['true'] } } };
    const blocks = [
      block('docs/settings.md', 'config'),
      block('docs/settings.md', 'channels'),
      block('docs/settings.md', 'housekeeping'),
      block('docs/settings.md', 'loop'),
      block('docs/settings.md', 'scans'),
      block('docs/settings.md', 'specs'),
      block('docs/agents.md', 'agents'),
      ...['ideas', 'research', 'research command'].map((name) => block('docs/ideas.md', name)),
    ];
    for (const text of blocks) expect(Config.safeParse({ ...any, ...parse(text) }).error, text).toBeUndefined();
    // They say that they show the defaults.
    expect(parse(blocks[2]!).housekeeping).toEqual(Config.parse(any).housekeeping);
    expect(parse(blocks[3]!).loop).toEqual(Config.parse(any).loop);
  });

  it('show every key of the settings', async () => {
    const { Config } = await import('@tidemill/contract');
    const spans = codeSpans(page('docs/settings.md')).join(' ');
    const blocks = ['config', 'channels', 'housekeeping'].map((name) => parse(block('docs/settings.md', name)));
    const shown = Object.assign({}, ...blocks) as object;
    for (const key of Object.keys(Config.shape)) expect(key in shown || spans.includes(key), key).toBe(true);
  });

  it('show valid prices, tasks and templates', async () => {
    const { ImportedTask } = await import('@tidemill/contract');
    const { loadPrices } = await import('../../packages/daemon/src/agents/prices.ts');
    const { PLACEHOLDERS, parseTemplate } = await import('../../packages/daemon/src/prompts/template.ts');
    const { head } = parseTemplate(block('docs/agents.md', 'template'), 'docs/agents.md', 'review', PLACEHOLDERS);
    expect(head).toMatchObject({ model: 'opus', turns: 40, timeout: 900_000, prompt_tokens: 30_000 });
    const tasks: unknown[] = parse(block('docs/commands.md', 'tasks'));
    for (const task of tasks) expect(ImportedTask.safeParse(task).error).toBeUndefined();
    const root = await mkdtemp(join(tmpdir(), 'tidemill-prices-'));
    await mkdir(join(root, '.tidemill'));
    await writeFile(join(root, '.tidemill', 'prices.yaml'), block('docs/agents.md', 'prices'));
    expect(loadPrices(root).isOwn('my-model')).toBe(true);
    await rm(root, { recursive: true });
  });

  it('show valid guards', async () => {
    const { parseGuards } = await import('../../packages/daemon/src/guards/parse.ts');
    expect(parseGuards('docs/guards.md', block('docs/guards.md', 'guards'), false)).toHaveLength(3);
  });

  it('show messages that an agent may print', async () => {
    const { createProtocolReader } = await import('../../packages/daemon/src/agents/protocol.ts');
    const heard: string[] = [];
    const note = (kind: string) => () => void heard.push(kind);
    const [usage, progress, question, output] = ['usage', 'progress', 'question', 'output'].map(note);
    const result = (given: object) => void heard.push('envelope' in given ? 'result' : 'invalid');
    const reader = createProtocolReader({
      usage: usage!,
      progress: progress!,
      question: question!,
      output: output!,
      result,
    });
    reader.push(block('docs/agents.md', 'messages'));
    reader.end();
    expect(heard).toEqual(['progress', 'usage', 'question', 'result']);
  });
});

describe('docs/commands.md', () => {
  const commands = listCommands();
  const text = page('docs/commands.md');
  const rows = text.split('\n').filter((line) => line.startsWith('| `tidemill '));
  const namedIn = (part: string): ListedCommand[] => {
    const spans = codeSpans(part).map((span) => `${span.replace(/^tidemill /, '')} `);
    return commands.filter(({ path }) => spans.some((span) => span.startsWith(`${path} `)));
  };
  const USUAL = ['--json', '--help'];

  it('names every command of the program', () => {
    const named = namedIn(rows.join('\n')).map(({ path }) => path);
    expect(commands.map(({ path }) => path).filter((path) => !named.includes(path))).toEqual([]);
  });

  it.each(rows.map((row) => [row.split('|')[1]!.trim(), row]))('has exactly the options of %s', (_, row) => {
    const known = [...new Set(namedIn(row).flatMap(({ options }) => options))];
    const shown = [...new Set(codeSpans(row).flatMap((span) => span.match(/--[a-z][a-z-]*/g) ?? []))];
    const plain = (options: string[]) => options.filter((option) => !USUAL.includes(option)).sort();
    expect(plain(shown)).toEqual(plain(known));
  });
});

describe('the documents', () => {
  it.each([...documents])('%s has no dead link', (path, text) => {
    expect(deadLinks(path, text)).toEqual([]);
  });

  it.each([...documents])('%s calls the program correctly', (_, text) => {
    expect(callsIn(text).flatMap((call) => findCall(call) ?? [])).toEqual([]);
  });
});
