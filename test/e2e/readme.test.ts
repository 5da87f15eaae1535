import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';

const run = promisify(execFile);
const checkout = resolve(import.meta.dirname, '../..');

/** The README's blocks that follow a mark, in order. */
function blocks(text: string, mark: RegExp): string[] {
  return [...text.matchAll(mark)].map((match) => match[1]!);
}

describe('README', () => {
  let home: string;
  let readme: string;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'tidemill-readme-'));
    readme = await readFile(join(checkout, 'README.md'), 'utf8');
  });
  afterAll(() => rm(home, { recursive: true, force: true }));

  it('its tour does what it says', async () => {
    const tour = blocks(readme, /<!-- tour -->\n```sh\n([\s\S]*?)```/g);
    expect(tour.length).toBeGreaterThan(3);
    const identity = { GIT_AUTHOR_NAME: 'A', GIT_AUTHOR_EMAIL: 'a@example.org', GIT_COMMITTER_NAME: 'A' };
    const env = { PATH: process.env.PATH, HOME: home, ...identity, GIT_COMMITTER_EMAIL: 'a@example.org' };
    const { stdout } = await run('sh', ['-euc', tour.join('\n')], { cwd: checkout, env, timeout: 150_000 });
    expect(stdout).toContain('hello ann');
    expect(stdout).toContain('hello bob');
    expect(stdout).toContain('Whom shall I greet?');
    expect(stdout).toContain('hello carla');
    expect(stdout.match(/Evidence: [0-9a-f]{64}/g)?.length).toBeGreaterThanOrEqual(2);
  }, 180_000);

  it('the pipeline it shows is a sound one', async () => {
    const { checkPipeline } = await import('@tidemill/core');
    const { Pipeline } = await import('@tidemill/contract');
    const [text] = blocks(readme, /```yaml\n(name: docs[\s\S]*?)```/g);
    expect(checkPipeline(Pipeline.parse(parse(text!)), ['integrity', 'test'])).toEqual([]);
  });

  it('the settings it shows are valid', async () => {
    const { Config } = await import('@tidemill/contract');
    const [text] = blocks(readme, /```yaml\n(target: main {3,}[\s\S]*?)```/g);
    expect(Config.safeParse(parse(text!)).error).toBeUndefined();
    const [agents] = blocks(readme, /```yaml\n(agents:\n {2}default: \{ type: claude[\s\S]*?)```/g);
    expect(Config.safeParse(parse(agents!)).error).toBeUndefined();
    const [channels] = blocks(readme, /```yaml\n(channels:[\s\S]*?)```/g);
    const any = { agents: { default: { type: 'command', command: ['true'] } } };
    expect(Config.safeParse({ ...any, ...parse(channels!) }).error).toBeUndefined();
  });

  it('the template it shows is sound', async () => {
    const { parseTemplate } = await import('../../packages/daemon/src/prompts/template.ts');
    const [text] = blocks(readme, /```markdown\n(---\nmodel[\s\S]*?)```/g);
    const { head } = parseTemplate(text!, 'README.md', 'review');
    expect(head).toMatchObject({ model: 'opus', turns: 40, timeout: 900_000, prompt_tokens: 30_000 });
  });

  it('the guards it shows are sound', async () => {
    const { parseGuards } = await import('../../packages/daemon/src/guards/parse.ts');
    const [text] = blocks(readme, /```yaml\n(- name: generated[\s\S]*?)```/g);
    expect(parseGuards('README.md', text!, false)).toHaveLength(3);
  });
});
