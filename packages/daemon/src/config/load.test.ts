import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSettings, rulesFrom } from './load.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'tm config ü '));
});
afterEach(() => rm(root, { recursive: true }));

async function put(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, name)), { recursive: true });
  await writeFile(join(root, name), text);
}
const config = (text: string) => put('.tidemill/config.yaml', text);
const agents = 'agents:\n  default: { type: command, command: [true] }\n';

describe('a valid config', () => {
  test('is filled with the defaults', async () => {
    await config(agents.replace('[true]', '["true"]'));
    const settings = await loadSettings(root);
    expect(settings.config).toMatchObject({ target: 'main', workers: 1, pipeline: 'feature', landing: 'squash' });
    expect(settings.warnings.join()).toContain('no gate tests a change, so no task starts');
    expect(rulesFrom(settings.config, settings.pipelines)).toMatchObject({
      gates: ['integrity'],
      defaultPipeline: 'feature',
      reviewPlans: false,
    });
  });

  test('unknown categories of the loop are dropped, with a warning that names the line', async () => {
    const text = agents.replace('[true]', '["true"]');
    await config(`${text}\nloop: { categories: [testing, poetry] }`);
    const settings = await loadSettings(root);
    expect(settings.config.loop.categories).toEqual(['testing']);
    expect(settings.warnings.join()).toContain('there is no category poetry, so only the others are used');
    await config(`${text}\nloop: { categories: [poetry], min: 5, max: 4 }`);
    await expect(loadSettings(root)).rejects.toThrow('is at least min');
    await config(`${text}\nloop: { enabled: true, categories: [poetry] }`);
    expect((await loadSettings(root)).config.loop).toMatchObject({ enabled: false });
  });

  test('more than ten workers are capped, with a warning that names the line', async () => {
    await config(`target: trunk\nworkers: 64\n${agents.replace('[true]', '["true"]')}`);
    const settings = await loadSettings(root);
    expect(settings.config.workers).toBe(10);
    expect(settings.warnings[0]).toMatch(/^\.tidemill\/config\.yaml:2: workers is 64; a project has at most 10/);
  });

  test.each([
    ['workers: 0', 'workers', 1, /:1: workers is 0; a project has at least 1/],
    ['workers: -3', 'workers', 1, /:1: workers is -3; a project has at least 1/],
    ['workers: 11', 'workers', 10, /:1: workers is 11; a project has at most 10/],
    ['workers: many', 'workers', 1, /:1: workers is "many"; it must be a whole number/],
    ['workers: 2.7', 'workers', 2, /:1: workers is 2.7; it must be a whole number/],
    ['workers: .inf', 'workers', 1, /:1: workers is null; it must be a whole number/],
    ['budget: { dailyUsd: -5 }', 'budget', { dailyUsd: 50, monthlyUsd: 500 }, /:1: budget.dailyUsd is -5; .* 50 USD/],
    ['budget: { monthlyUsd: 0 }', 'budget', { dailyUsd: 50, monthlyUsd: 500 }, /:1: budget.monthlyUsd is 0; .* 500/],
    ['budget: { dailyUsd: 1e12 }', 'budget', { dailyUsd: 50, monthlyUsd: 500 }, /:1: budget.dailyUsd is 1000000000000/],
    ['budget: { dailyUsd: lots }', 'budget', { dailyUsd: 50, monthlyUsd: 500 }, /:1: budget.dailyUsd is "lots"/],
    ['budget: { timeZone: Mars/Base }', 'budget', { dailyUsd: 50, monthlyUsd: 500 }, /no such time zone/],
  ])('%s is replaced by a safe value, with a warning', async (line, key, expected, warning) => {
    await config(`${line}\n${agents.replace('[true]', '["true"]')}`);
    const settings = await loadSettings(root);
    expect(settings.config[key as 'workers' | 'budget']).toEqual(expected);
    expect(settings.replaced).toHaveLength(1);
    expect(settings.warnings[0]).toMatch(warning);
    expect(rulesFrom(settings.config, settings.pipelines).budget.timeZone).not.toBe('Mars/Base');
  });

  test('valid values are used unchanged', async () => {
    const budget = 'budget: { dailyUsd: 12.5, monthlyUsd: 99, timeZone: America/New_York }';
    await config(`workers: 7\n${budget}\n${agents.replace('[true]', '["true"]')}`);
    const settings = await loadSettings(root);
    expect(settings.replaced).toEqual([]);
    expect(settings.config.workers).toBe(7);
    const expected = { dailyUsd: 12.5, monthlyUsd: 99, timeZone: 'America/New_York' };
    expect(rulesFrom(settings.config, settings.pipelines).budget).toEqual(expected);
  });

  test('a missing program is a warning', async () => {
    await config('agents:\n  default:\n    type: command\n    command: [./my-agent]\n');
    expect((await loadSettings(root)).warnings.join('\n')).toContain(
      'config.yaml:4: agents.default: ./my-agent does not exist',
    );
  });

  test('may have durations in its gates', async () => {
    await config(`${agents.replace('[true]', '["true"]')}gates:\n  - { name: test, run: "npm test", timeout: 2m }\n`);
    const { config: parsed, pipelines } = await loadSettings(root);
    expect(parsed.gates[0]).toMatchObject({ name: 'test', timeout: 120_000 });
    expect(rulesFrom(parsed, pipelines).gates).toEqual(['integrity', 'test']);
  });

  test('a gate that only warns is not required; kinds have their defaults', async () => {
    const kinds =
      '  - { name: audit, kind: audit }\n  - { name: docs, kind: docs }\n  - { name: lint, run: x, severity: warn }\n';
    await config(`${agents.replace('[true]', '["true"]')}gates:\n${kinds}  - { name: keys, kind: secrets }\n`);
    const { config: parsed, pipelines } = await loadSettings(root);
    expect(rulesFrom(parsed, pipelines).gates).toEqual(['integrity', 'audit', 'keys']);
    const [audit, docs] = parsed.gates;
    expect(audit).toMatchObject({
      run: 'npm audit --json',
      network: true,
      proves: expect.arrayContaining(['**/.npmrc']),
    });
    expect(docs).toMatchObject({ run: '' });
  });

  test.each([
    ['{ name: a, kind: docs, run: x }', /gates\[0\]\.run: a gate of kind docs runs no command/],
    ['{ name: a, kind: scan }', /gates\[0\]\.run: a gate needs a command/],
    ['{ name: a, kind: coverage, run: x }', /gates\[0\]\.report: a coverage gate needs the file/],
    ['{ name: a, run: x, threshold: 5 }', /gates\[0\]\.threshold: a gate of kind command has no `threshold`/],
    ['{ name: a, kind: scan, run: x, report: ../../x }', /gates\[0\]\.report: is a path below the checkout/],
    ['{ name: a, kind: audit, fixes: true }', /gates\[0\]\.fixes: a gate of kind audit changes no files/],
    ['{ name: a, kind: audit, failOn: medium }', /gates\[0\]\.failOn/],
    ['{ name: a, kind: magic, run: x }', /gates\[0\]\.kind/],
  ])('cannot have the gate %s', async (gate, expected) => {
    await config(`${agents.replace('[true]', '["true"]')}gates:\n  - ${gate}\n`);
    await expect(loadSettings(root)).rejects.toMatchObject({ message: expect.stringMatching(expected) });
  });

  test('a gate that may run in parallel has another hash; all others keep theirs, and so their evidence', async () => {
    const hashOf = async (more: string) => {
      const gate = `  - { name: test, run: "npm test"${more} }\n`;
      await config(`${agents.replace('[true]', '["true"]')}gates:\n${gate}`);
      const { config: parsed, pipelines } = await loadSettings(root);
      return rulesFrom(parsed, pipelines).gateConfigs?.test;
    };
    const before =
      '[{"name":"test","run":"npm test","level":"standard","network":false,"env":{},"pass":[],"needs":[],"fixes":false,"timeout":120000},[],[]]';
    expect(await hashOf('')).toBe(hash('sha256', before));
    expect(await hashOf(', parallel: false')).toBe(hash('sha256', before));
    expect(await hashOf(', parallel: true')).not.toBe(hash('sha256', before));
  });
});

const bad: [name: string, text: string, expected: RegExp][] = [
  ['an unknown key', `tagret: main\n${agents}`, /config\.yaml:1: unknown key "tagret"; did you mean "target"\?/],
  ['an unknown key far from all', `qqqqqqqq: main\n${agents}`, /:1: unknown key "qqqqqqqq"; the keys here are target,/],
  ['a wrong type', `target: main\npush: three\n${agents}`, /:2: push: is one of never, target, branch/],
  ['no agents', 'target: main\n', /:1: agents is missing/],
  ['an empty file', '', /:1: agents is missing/],
  [
    'no default agent',
    'agents:\n  review: { type: command, command: [x] }\n',
    /:1: agents: agents needs an entry named default/,
  ],
  [
    'a key of an agent',
    'agents:\n  default:\n    type: command\n    comand: [x]\n',
    /:4: unknown key "comand" in agents\.default; did you mean "command"/,
  ],
  [
    'an agent of unknown type',
    'agents:\n  default:\n    type: magic\n',
    /:\d: agents\.default.*type must be one of scripted, command/,
  ],
  [
    'an unknown mode',
    'agents:\n  default: { type: command, command: [x] }\n  reveiw: { type: command, command: [x] }\n',
    /:3: unknown agent "reveiw"; did you mean "review"/,
  ],
  [
    'a scenario that is not there',
    'agents:\n  default:\n    type: scripted\n    script: nope.yaml\n',
    /:4: agents\.default: the scenario file nope\.yaml does not exist/,
  ],
  [
    'a bad landing',
    'landing: fast\nagents: { default: { type: command, command: [x] } }\n',
    /:1: landing must be one of squash, rebase, merge, pull_request, not "fast"/,
  ],
  [
    'a key of a gate',
    'agents: { default: { type: command, command: [x] } }\ngates:\n  - name: test\n    rum: npm test\n',
    /:4: unknown key "rum" in gates\[0\]; did you mean "run"/,
  ],
  [
    'a gate without a command',
    'agents: { default: { type: command, command: [x] } }\ngates:\n  - name: test\n',
    /:3: gates\[0\]\.run: a gate needs a command in `run`/,
  ],
  [
    'a gate that fixes files in parallel',
    `${agents}gates:\n  - { name: format, run: x, fixes: true, parallel: true }\n`,
    /:4: .*a gate that changes files \(`fixes: true`\) must run alone: remove `parallel`, or remove `fixes`/,
  ],
  [
    'a bad duration',
    'agents: { default: { type: command, command: [x] } }\ngates:\n  - name: test\n    run: x\n    timeout: soon\n',
    /:5: .*a duration is a number and ms, s, m or h/,
  ],
  [
    'two gates of one name',
    'agents: { default: { type: command, command: [x] } }\ngates:\n  - { name: a, run: x }\n  - { name: a, run: y }\n',
    /:4: duplicate gate name "a"/,
  ],
  [
    'the built-in gate',
    'agents: { default: { type: command, command: [x] } }\ngates:\n  - { name: integrity, run: x }\n',
    /:3: .*integrity is built in/,
  ],
  [
    'an unknown pipeline',
    'pipeline: featur\nagents: { default: { type: command, command: [x] } }\n',
    /:1: unknown pipeline "featur"; did you mean "feature"/,
  ],
  ['broken YAML', 'target: [main\nworkers: 1\n', /config\.yaml:2: /],
  ['the same key twice', 'target: a\ntarget: b\n', /config\.yaml:2: duplicate key "target"/],
  ['a list instead of a mapping', '- a\n- b\n', /:1: the file must be a mapping/],
];

describe('an invalid config is refused with its line', () => {
  test.each(bad)('because of %s', async (_, text, expected) => {
    await config(text);
    await expect(loadSettings(root)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(expected),
    });
  });

  test('a missing config is refused with the command that creates it', async () => {
    await expect(loadSettings(root)).rejects.toMatchObject({
      code: 'bad_config',
      message: `there is no .tidemill/config.yaml in ${root}`,
      hint: expect.stringContaining('tidemill init'),
    });
  });
});

const sound = `name: tiny
start: build
stages:
  build:
    actor: agent
    mode: implement
    on: { pr_ready: prove, no_changes: blocked }
  prove:
    actor: system
    does: verify
    gates: [integrity]
    on: { approved: land, failed: build }
  land:
    actor: system
    does: merge
    on: { approved: done, failed: build, conflicts_detected: build }
`;

const badPipelines: [name: string, text: string, expected: RegExp][] = [
  ['an unknown gate', sound.replace('[integrity]', '[integrity, tset]'), /tiny\.yaml:11: unknown gate "tset"/],
  [
    'an unreachable stage',
    sound.replace('pr_ready: prove', 'pr_ready: land'),
    /tiny\.yaml:8: no transition leads to "prove"/,
  ],
  [
    'an outcome without a transition',
    sound.replace(', no_changes: blocked', ''),
    /tiny\.yaml:7: mode implement can end in no_changes/,
  ],
  [
    'a transition to nowhere',
    sound.replace('approved: land', 'approved: lnd'),
    /tiny\.yaml:12: approved leads to "lnd"/,
  ],
  [
    'an unknown actor',
    sound.replace('actor: agent', 'actor: robot'),
    /tiny\.yaml:4: stages\.build: actor must be one of agent, system, human/,
  ],
  [
    'a bad mode',
    sound.replace('mode: implement', 'mode: build'),
    /tiny\.yaml:6: stages\.build\.mode must be one of plan,/,
  ],
  [
    'a key of a stage',
    sound.replace('gates: [', 'gate: ['),
    /tiny\.yaml:11: unknown key "gate" in stages\.prove; did you mean "gates"/,
  ],
];

describe('pipelines of the project', () => {
  test('a valid pipeline is added to the built-in ones', async () => {
    await config('pipeline: tiny\nagents: { default: { type: command, command: [x] } }\n');
    await put('.tidemill/pipelines/tiny.yaml', sound);
    expect(Object.keys((await loadSettings(root)).pipelines)).toEqual(['feature', 'bug', 'quick', 'tiny']);
  });

  test.each(badPipelines)('%s is refused with its line', async (_, text, expected) => {
    await config('agents: { default: { type: command, command: [x] } }\n');
    await put('.tidemill/pipelines/tiny.yaml', text);
    await expect(loadSettings(root)).rejects.toMatchObject({
      code: 'bad_config',
      message: expect.stringMatching(expected),
    });
  });
});

describe('commands that cannot work', () => {
  const gates = (...lines: string[]) => `gates:\n${lines.map((line) => `  - ${line}\n`).join('')}`;
  test.each([
    [
      'an unknown gate',
      gates('{ name: build, run: a }', '{ name: test, run: b, needs: [buidl] }'),
      5,
      'gate test needs the unknown gate "buidl"; did you mean "build"?',
    ],
    ['itself', gates('{ name: test, run: b, needs: [test] }'), 4, 'gate test needs itself'],
    ['a circle', gates('{ name: a, run: x, needs: [b] }', '{ name: b, run: x, needs: [a] }'), 4, 'a → b → a'],
    ['a step twice', 'prepare:\n  - { run: npm ci }\n  - { run: npm ci }\n', 5, 'duplicate step'],
    ['files elsewhere', 'prepare:\n  - { run: npm ci, files: [../package.json] }\n', 4, 'is outside the repository'],
    ['an include elsewhere', 'include: [/etc/passwd]\n', 3, 'is outside the repository'],
    [
      'a name that is none',
      'prepare:\n  - { run: npm ci, env: { "A B": x } }\n',
      4,
      'is not a valid environment variable name',
    ],
    ['a name that is taken', gates('{ name: a, run: x, pass: [TIDEMILL_RUN] }'), 4, 'is set by Tidemill'],
  ])('%s is reported with its line', async (_name, text, line, message) => {
    await config(`${agents.replace('[true]', '["true"]')}${text}`);
    await expect(loadSettings(root)).rejects.toThrow(`.tidemill/config.yaml:${line}: `);
    await expect(loadSettings(root)).rejects.toThrow(message);
  });

  test('a gate that only installs gets a hint about prepare', async () => {
    await config(`${agents.replace('[true]', '["true"]')}${gates('{ name: install, run: npm ci }')}`);
    expect((await loadSettings(root)).warnings.join()).toMatch(/config\.yaml:4: the gate install .* `prepare`/);
  });
});
