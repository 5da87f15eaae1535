import type { Folder } from './folder.ts';
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
      return { prepare, gates: await gatesOf(folder, 'uv run --no-sync ') };
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
      return { prepare, gates: (await gatesOf(folder, 'poetry run ')).map((each) => ({ ...each, env })) };
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

/** The project's extra with the test dependencies, if it has a usual name. */
const EXTRAS = ['dev', 'test', 'tests', 'testing'];

async function pipSteps(folder: Folder, gates: ProposedGate[]): Promise<ProposedStep[]> {
  const lists = folder.present('requirements.txt', ...REQUIREMENTS);
  const project = await folder.text('pyproject.toml');
  const isPackage = /^\[(project|build-system)\]/m.test(project) || folder.has('setup.py');
  if (lists.length === 0 && !isPackage) return [];
  const listed = (await Promise.all(lists.map((name) => folder.text(name)))).join('\n');
  const optional = /^\[project\.optional-dependencies\]\n([\s\S]*?)(?=^\[|(?![\s\S]))/m.exec(project)?.[1] ?? '';
  const extra = EXTRAS.find((name) => new RegExp(`^${name}\\s*=`, 'm').test(optional));
  const tools = gates.map(({ run }) => (run.includes('ruff') ? 'ruff' : 'pytest'));
  const missing = tools.filter((tool) => !listed.includes(tool) && !optional.includes(tool));
  const what = [
    ...lists.map((name) => `-r ${name}`),
    ...(isPackage ? [extra ? `-e ".[${extra}]"` : '-e .'] : []),
    ...new Set(missing),
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

/** Tests and linter, each with the given command prefix. */
async function gatesOf(folder: Folder, before: string): Promise<ProposedGate[]> {
  const project = await folder.text('pyproject.toml');
  const hasTests = ['pytest.ini', 'conftest.py', 'tests', 'test', 'tox.ini'].some((name) => folder.has(name));
  const isLinted = project.includes('[tool.ruff') || folder.has('ruff.toml');
  const python = before === '' ? 'python3' : before.endsWith('/') ? `${before}python` : `${before}python`;
  return [
    ...(isLinted ? [gate('lint', `${before}ruff check .`)] : []),
    ...(hasTests || project.includes('pytest') ? [gate('test', `${python} -m pytest -q`, '5m')] : []),
  ];
}
