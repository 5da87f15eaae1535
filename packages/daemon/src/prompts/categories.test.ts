import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CATEGORIES } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assetDir } from '../assets.ts';
import { stackOf } from '../config/detect/stack.ts';
import { categoryFaults, loadCategories } from './categories.ts';

const values = { repository: 'the mill', target: 'main', recentCommits: '- c1', openTasks: '- #1', stack: 'Go' };
const builtinDir = assetDir('prompts/categories');
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'tidemill-categories-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const write = (file: string, text: string) => {
  mkdirSync(join(root, file, '..'), { recursive: true });
  writeFileSync(join(root, file), text);
};
const load = (builtin = builtinDir) => loadCategories({ root, builtinDir: builtin });
const one = async (slug: string, builtin = builtinDir) => (await load(builtin)).find((each) => each.slug === slug)!;

describe('the texts of the categories', () => {
  it('are there for all 21, each with its own name and text', async () => {
    const all = await load();
    expect(all.map(({ slug }) => slug)).toEqual([...CATEGORIES]);
    expect(all.filter(({ fault, isOff }) => fault !== null || isOff)).toEqual([]);
    expect(new Set(all.map(({ name }) => name))).toHaveLength(21);
    const texts = all.map((each) => each.fill(values));
    expect(new Set(texts)).toHaveLength(21);
    for (const text of texts) {
      expect(text).toContain('the mill');
      expect(text).toMatch(/Look for:[\s\S]+What counts:[\s\S]+Do not propose:/);
    }
    expect(await categoryFaults({ root, builtinDir })).toEqual([]);
  });

  it('are replaced, renamed, switched off and added by files of the project', async () => {
    write(
      '.tidemill/categories/security.md',
      '---\nname: Safety\n---\nGuard {repository}: {stack}, {recentCommits}, {openTasks}, {{x}}.',
    );
    write('.tidemill/categories/testing.md', '---\nenabled: false\n---\n');
    write('.tidemill/categories/code-quality.md', '---\nname: Craft\n---\n');
    write('.tidemill/categories/milling.md', '---\nname: Milling\n---\nFlour.');
    expect(await one('security')).toMatchObject({ name: 'Safety', isOff: false });
    expect((await one('security')).fill(values)).toBe('Guard the mill: Go, - c1, - #1, {x}.');
    expect(await one('testing')).toMatchObject({ name: 'Testing', isOff: true, fault: null });
    expect((await one('code-quality')).fill(values)).toContain('Look for:');
    expect(await one('milling')).toMatchObject({ name: 'Milling', fault: null });
    expect(await load()).toHaveLength(22);
  });

  it.each([
    [
      'an unknown placeholder',
      'security',
      '---\nname: S\n---\nline\nUse {repo}.',
      'security.md:5: there is no placeholder {repo}',
    ],
    ['a broken head', 'security', '---\nname: [\n---\nText.', 'security.md:'],
    ['an unknown key', 'security', '---\nnames: S\n---\nText.', 'names'],
    ['a name that no category can have', 'Big Ideas', '---\nname: B\n---\nText.', 'lower-case letters'],
    ['no text for a category of its own', 'milling', '---\nname: M\n---\n', 'has no text below its head'],
  ])('take only their category out of use when they have %s', async (_name, slug, text, fault) => {
    write(`.tidemill/categories/${slug}.md`, text);
    const broken = await one(slug);
    expect(broken.fault).toContain(fault);
    expect(broken.fill(values)).toBe('');
    const rest = (await load()).filter((each) => each.slug !== slug);
    expect(rest.every((each) => each.fault === null)).toBe(true);
    expect(await categoryFaults({ root, builtinDir })).toEqual([
      expect.stringContaining(`the loop does not use the category ${slug}`),
    ]);
  });

  it('that are missing take their category out of use', async () => {
    const empty = join(root, 'empty');
    mkdirSync(empty);
    const all = await load(empty);
    expect(all).toHaveLength(21);
    expect(all.every(({ fault }) => fault?.includes('is missing'))).toBe(true);
  });
});

describe('the stack of a repository', () => {
  it('is read from the files that declare it', async () => {
    write(
      'package.json',
      '{"name":"mill","dependencies":{"React":"1"},"devDependencies":{"vitest":"1","typescript":"5"}}',
    );
    write('server/go.mod', 'module mill\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.9.0\n)\n');
    write(
      'tools/pyproject.toml',
      '[project]\ndependencies = ["requests>=2", "flask[async]"]\n\n[tool.poetry.dependencies]\nnumpy = "1"\n',
    );
    write('core/Cargo.toml', '[dependencies]\ntokio = { version = "1" }\n');
    const { languages, frameworks, dependencies } = await stackOf(root);
    expect(languages).toEqual(expect.arrayContaining(['JavaScript', 'TypeScript', 'Go', 'Python', 'Rust']));
    expect(frameworks).toEqual(expect.arrayContaining(['React', 'Vitest', 'Gin', 'Flask', 'Tokio']));
    for (const name of ['react', 'github.com/gin-gonic/gin', 'requests', 'flask', 'numpy', 'tokio'])
      expect(dependencies.has(name), name).toBe(true);
    expect(dependencies.has('left-pad')).toBe(false);
  });

  it('is empty without any, and a broken manifest declares nothing', async () => {
    expect(await stackOf(root)).toEqual({ languages: [], frameworks: [], dependencies: new Set() });
    write('package.json', '{"dependencies":');
    expect(await stackOf(root)).toEqual({ languages: ['JavaScript'], frameworks: [], dependencies: new Set() });
  });
});
