import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { QUIET_CONFIG, TemporaryRepository } from '../../../../test/e2e/cli-repository.ts';
import { until } from '../../../../test/support/until.ts';
import { Daemon } from './daemon.ts';
import { setupWarnings } from './setup-warnings.ts';

let repository: TemporaryRepository;
let root: string;
const homes: string[] = [];
const daemons: Daemon[] = [];
beforeEach(() => {
  repository = new TemporaryRepository({ '.tidemill/config.yaml': QUIET_CONFIG });
  root = repository.root;
});
afterEach(async () => {
  await Promise.all(daemons.splice(0).map((daemon) => daemon.stop({ now: true })));
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, maxRetries: 5 });
  repository.remove();
});

const newHome = () => {
  const home = mkdtempSync(join(tmpdir(), 'tidemill-setup-'));
  homes.push(home);
  return home;
};
const start = async (home = newHome()) => {
  const daemon = await Daemon.start({ env: { TIDEMILL_HOME: home }, port: 0 });
  daemons.push(daemon);
  return daemon;
};
const stranger = { path: '/nowhere', id: 'none', store: null };

describe('a .tidemill that git ignores', () => {
  test.each(['.*\n', '.tidemill/\n', '.tidemill/*\n', '*.yaml\n'])(
    'is reported for %j, and no longer once the advice is followed',
    async (pattern) => {
      repository.git('rm', '-q', '--cached', '.tidemill/config.yaml');
      repository.write({ '.gitignore': pattern });
      const [warning] = await setupWarnings(root, stranger);
      expect(warning).toContain(`git ignores .tidemill/config.yaml (.gitignore:1: ${pattern.trim()})`);
      expect(warning).toContain('!/.tidemill/ and !/.tidemill/**');
      expect(warning).toContain('git add -f .tidemill');
      repository.write({ '.gitignore': `${pattern}!/.tidemill/\n!/.tidemill/**\n` });
      expect(await setupWarnings(root, stranger)).toEqual([]);
      repository.write({ '.gitignore': pattern });
      repository.git('add', '-f', '.tidemill');
      expect(await setupWarnings(root, stranger)).toEqual([]);
    },
  );
});

test('a template with an unknown placeholder is reported with file, line and the nearest name', async () => {
  repository.write({
    '.tidemill/agents/implement.md': '# Do\n\n{taskTitel}\n',
    '.tidemill/agents/review.md': 'Review {taskTitle}.\n',
    '.tidemill/agents/plann.md': 'Plan.\n',
    '.tidemill/agents/_questions.md': 'Never {ask}.\n',
    '.tidemill/agents/notes.txt': '{anything}',
  });
  expect(await setupWarnings(root, stranger)).toEqual([
    expect.stringMatching(
      /implement\.md:3: there is no placeholder \{taskTitel\}; did you mean \{taskTitle\}\?; until then the built-in/,
    ),
    '.tidemill/agents/plann.md is used by no mode; did you mean plan.md?',
  ]);
});

test('a guards file with a mistake is reported with its line and what it stops', async () => {
  repository.write({
    '.tidemill/guards/mine.yaml': '- name: mine\n  when: { comand: foo }\n  verdict: deny\n  reason: x\n',
  });
  expect(await setupWarnings(root, stranger)).toEqual([
    expect.stringMatching(
      /^\.tidemill\/guards\/mine\.yaml:2: unknown key "comand".*\. Until then no tool runs in your own Claude Code sessions/,
    ),
  ]);
});

test('up and doctor say that there is no security gate', async () => {
  repository.write({ '.tidemill/config.yaml': QUIET_CONFIG.replace(/.*kind: secrets.*\n/, '') });
  const daemon = await start();
  const sentence = expect.stringContaining('no security gate is configured, so a key in a change can land');
  expect((await daemon.attach(root)).warnings).toEqual([sentence]);
  const found = async () => (await daemon.api.doctor({})).findings.filter(({ check }) => check === 'setup');
  expect(await found()).toMatchObject([{ level: 'warning', text: sentence }]);
  repository.write({ '.tidemill/config.yaml': QUIET_CONFIG });
  expect(await found()).toMatchObject([{ level: 'ok' }]);
});

test('up and doctor report setup warnings, also after a change while the daemon runs', async () => {
  repository.write({ '.tidemill/agents/implement.md': '{taskTitel}\n', '.gitignore': '.*\n' });
  repository.git('rm', '-q', '--cached', '.tidemill/config.yaml');
  const daemon = await start();
  const { warnings, project } = await daemon.attach(root);
  expect(warnings).toEqual([expect.stringContaining('git ignores'), expect.stringContaining('{taskTitel}')]);
  const found = async () => (await daemon.api.doctor({})).findings.filter(({ check }) => check === 'setup');
  expect(await found()).toMatchObject([
    { level: 'warning', text: expect.stringContaining('git ignores') },
    { level: 'warning', text: expect.stringContaining('{taskTitel}') },
  ]);
  repository.write({ '.tidemill/agents/implement.md': '{taskTitle}\n', '.gitignore': '' });
  expect(await found()).toMatchObject([{ level: 'ok' }]);
  repository.write({ '.tidemill/agents/implement.md': '{tsakTitle}\n' });
  const live = async () => (await daemon.api.config({ project: project.id })).warnings.join();
  await until(async () => (await live()).includes('{tsakTitle}'));
});
