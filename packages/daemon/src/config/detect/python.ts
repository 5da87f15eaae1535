import type { Folder } from './folder.ts';
import { testRequirements } from './python-requirements.ts';
import { gate, type ProposedGate, type ProposedStep, type Tool } from './tool.ts';

/** An environment with absolute paths cannot be moved, so each worktree creates its own from the package manager's cache. */
const VENV = '.venv';
/** uv and virtualenv, which poetry uses, put a `.gitignore` into it. */
const SELF_IGNORED: string[] = [];
const SETTINGS = ['pyproject.toml', 'setup.py', 'setup.cfg', '.python-version'];

export const pythonTools: Tool[] = [
  {
    name: 'uv',
    language: 'python',
    shownBy: ['uv.lock'],
    ownIn: ['uv.lock'],
    async propose(folder) {
      const files = folder.present('uv.lock', 'uv.toml', ...SETTINGS);
      const run = 'uv sync --frozen --all-groups --all-extras';
      // The cache may be on another disk, where files cannot be linked.
      const prepare = [{ run, files, env: { UV_LINK_MODE: 'copy' }, makes: SELF_IGNORED }];
      return { prepare, gates: await lockedGates(folder, 'uv.lock', 'uv run --no-sync ') };
    },
  },
  {
    name: 'poetry',
    language: 'python',
    shownBy: ['poetry.lock'],
    ownIn: ['poetry.lock'],
    async propose(folder) {
      const files = folder.present('poetry.lock', 'poetry.toml', ...SETTINGS);
      const env = { POETRY_VIRTUALENVS_IN_PROJECT: 'true' };
      const prepare = [{ run: 'poetry install --no-interaction', files, env, makes: SELF_IGNORED }];
      return {
        prepare,
        gates: (await lockedGates(folder, 'poetry.lock', 'poetry run ')).map((each) => ({ ...each, env })),
      };
    },
  },
  {
    name: 'pip',
    language: 'python',
    shownBy: ['requirements.txt', 'pyproject.toml', 'setup.py', 'setup.cfg', 'pytest.ini', 'tox.ini'],
    ownIn: ['requirements.txt'],
    async propose(folder) {
      const gates = await gatesOf(folder, '');
      if (gates.length === 0) return null;
      const prepare = await pipSteps(folder, gates);
      const inVenv = prepare.length > 0 ? await gatesOf(folder, `${VENV}/bin/`) : gates;
      return { prepare, gates: inVenv };
    },
  },
];

async function pipSteps(folder: Folder, gates: ProposedGate[]): Promise<ProposedStep[]> {
  const lists = folder.present('requirements.txt', ...REQUIREMENTS);
  const project = await folder.text('pyproject.toml');
  const isPackage = /^\[(project|build-system)\]/m.test(project) || folder.has('setup.py');
  if (lists.length === 0 && !isPackage) return [];
  const listed = (await Promise.all(lists.map((name) => folder.text(name)))).join('\n');
  const { extra, groups, text } = await testRequirements(folder);
  const tools = gates.map(({ run }) => (run.includes('ruff') ? 'ruff' : 'pytest'));
  const missing = tools.filter((tool) => !listed.includes(tool) && !text.includes(tool));
  const hooks = await folder.text('.pre-commit-config.yaml');
  // Another version of the linter has other rules.
  const ruff = /ruff-pre-commit["']?\s*\n\s*rev:\s*["']?v?(\d[\d.]*)/.exec(hooks)?.[1];
  const what = [
    ...lists.map((name) => `-r ${name}`),
    ...(isPackage ? [extra ? `-e ".[${extra}]"` : '-e .'] : []),
    ...groups.map((requirement) =>
      /^[\w.-]+$/.test(requirement) ? requirement : `'${requirement.replaceAll("'", '"')}'`,
    ),
    ...[...new Set(missing)].map((tool) => (tool === 'ruff' && ruff ? `ruff==${ruff}` : tool)),
  ];
  return [
    {
      run: `python3 -m venv ${VENV} && ${VENV}/bin/pip install --quiet ${what.join(' ')}`,
      files: [...lists, ...folder.present(...SETTINGS)],
      makes: [VENV],
    },
  ];
}

const REQUIREMENTS = [
  'requirements-dev.txt',
  'requirements-test.txt',
  'requirements_dev.txt',
  'dev-requirements.txt',
  'test-requirements.txt',
  'requirements/dev.txt',
  'requirements/test.txt',
];

/** Only the tools that the lock installs: a linter that a hook of git brings would be missing. */
async function lockedGates(folder: Folder, lock: string, before: string): Promise<ProposedGate[]> {
  const locked = await folder.text(lock);
  const isLocked = (tool: string) => new RegExp(`^name = "${tool}"`, 'm').test(locked);
  return (await gatesOf(folder, before)).filter(({ run }) => isLocked(run.includes('ruff ') ? 'ruff' : 'pytest'));
}

/** Tests and linter, each with the given command prefix. */
async function gatesOf(folder: Folder, before: string): Promise<ProposedGate[]> {
  const project = await folder.text('pyproject.toml');
  const hasTests = ['pytest.ini', 'conftest.py', 'tests', 'test', 'tox.ini'].some((name) => folder.has(name));
  const settings = (await folder.text('ruff.toml')) + (await folder.text('.ruff.toml'));
  const isLinted = project.includes('[tool.ruff') || settings !== '';
  // A linter that repairs would accept every change, and change it.
  const only = /^fix\s*=\s*true/m.test(project + settings) ? ' --no-fix' : '';
  const python = before === '' ? 'python3' : `${before}python`;
  return [
    ...(isLinted ? [gate('lint', `${before}ruff check${only} .`)] : []),
    ...(hasTests || project.includes('pytest') ? [gate('test', `${python} -m pytest -q`, '5m')] : []),
  ];
}
