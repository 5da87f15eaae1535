import { z } from 'zod';
import { ciCommands, scriptsIn } from './ci.ts';
import type { Folder } from './folder.ts';
import { checkScripts } from './scripts.ts';
import { gate, type ProposedGate, type ProposedStep, type Tool } from './tool.ts';

const PackageJson = z.object({
  packageManager: z.string().optional(),
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
  optionalDependencies: z.record(z.string(), z.unknown()).default({}),
  workspaces: z.union([z.array(z.string()), z.object({ packages: z.array(z.string()).default([]) })]).optional(),
});
type PackageJson = z.infer<typeof PackageJson>;

interface Manager {
  name: string;
  locks: string[];
  /** More files that show its use and decide what it installs. */
  settings: string[];
  install(
    isLocked: boolean,
    folder: Folder,
    manifest: PackageJson,
  ): Promise<Omit<ProposedStep, 'files' | 'makes'> & { makes?: string[] }>;
  /** The test command that it has without a script. */
  ownTest?: string;
  run(script: string): string;
}

const RUN: Manager['run'] = (script) => script;
const MANAGERS: Manager[] = [
  {
    name: 'bun',
    locks: ['bun.lock', 'bun.lockb'],
    settings: ['bunfig.toml'],
    install: async (isLocked) => ({ run: `bun install${isLocked ? ' --frozen-lockfile' : ' --no-save'}` }),
    ownTest: 'bun test',
    run: (script) => `bun run ${script}`,
  },
  {
    name: 'pnpm',
    locks: ['pnpm-lock.yaml'],
    settings: ['pnpm-workspace.yaml', '.pnpmfile.cjs'],
    install: async (isLocked) => ({ run: `pnpm install ${isLocked ? '--frozen-lockfile' : '--no-lockfile'}` }),
    run: RUN,
  },
  { name: 'yarn', locks: ['yarn.lock'], settings: ['.yarnrc', '.yarnrc.yml'], install: yarnInstall, run: RUN },
  {
    name: 'npm',
    locks: ['package-lock.json', 'npm-shrinkwrap.json'],
    settings: [],
    install: async (isLocked) => ({
      run: `npm ${isLocked ? 'ci' : 'install --no-package-lock'} --no-audit --no-fund`,
    }),
    run: RUN,
  },
];

/** A lock file decides, then the field `packageManager`; the default is npm. */
export const nodeTools: Tool[] = MANAGERS.map((manager) => ({
  name: manager.name,
  language: 'node',
  shownBy: ['package.json'],
  ownIn: manager.locks,
  async propose(folder) {
    const parsed = PackageJson.safeParse(await folder.json('package.json'));
    if (!parsed.success || managerOf(folder, parsed.data) !== manager) return null;
    const prepare = await stepsOf(manager, folder, parsed.data);
    const gates = await gatesOf(manager, folder, parsed.data);
    return gates.length > 0 || prepare.length > 0 ? { prepare, gates } : null;
  },
}));

function managerOf(folder: Folder, { packageManager = '' }: PackageJson): Manager {
  const named = MANAGERS.find(({ name }) => packageManager.startsWith(`${name}@`));
  const locked = MANAGERS.find(({ locks }) => folder.present(...locks).length > 0);
  return locked ?? named ?? MANAGERS.at(-1)!;
}

async function stepsOf(manager: Manager, folder: Folder, manifest: PackageJson): Promise<ProposedStep[]> {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const members = await workspacesOf(folder, manifest);
  const needs = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies });
  if (needs.length === 0 && members.length === 0) return [];
  const locks = folder.present(...manager.locks);
  const files = [
    ...locks,
    'package.json',
    ...members.map((member) => `${member}/package.json`),
    ...folder.present('.npmrc', ...manager.settings, '.nvmrc', '.node-version'),
    ...(folder.has('patches') ? ['patches/**'] : []),
  ];
  return [{ makes: ['node_modules'], ...(await manager.install(locks.length > 0, folder, manifest)), files }];
}

/** Globs of the folders that the install at the root covers. */
async function workspacesOf(folder: Folder, { workspaces }: PackageJson): Promise<string[]> {
  const listed = Array.isArray(workspaces) ? workspaces : (workspaces?.packages ?? []);
  const ofPnpm = [...(await folder.text('pnpm-workspace.yaml')).matchAll(/^\s*-\s*['"]?([^'"#\n]+?)['"]?\s*$/gm)];
  return [...listed, ...ofPnpm.map(([, glob]) => glob!)]
    .filter((glob) => !glob.startsWith('!'))
    .map((glob) => glob.replace(/^\.\//, '').replace(/\/+$/, ''))
    .filter((glob) => glob !== '.' && /^[\w@*./-]+$/.test(glob) && /[/*]|^[\w-]+$/.test(glob));
}

async function gatesOf(manager: Manager, folder: Folder, { scripts }: PackageJson): Promise<ProposedGate[]> {
  const inCi = scriptsIn(await ciCommands(folder));
  const gates = checkScripts(scripts, inCi).map(({ name, script }) => {
    const run = manager.run(script);
    const own = script === 'test' ? `${manager.name} test` : `${manager.name} run ${script}`;
    return gate(name, run !== script ? run : own, name.startsWith('test') ? '10m' : '5m');
  });
  const hasTest = gates.some(({ name }) => name.startsWith('test'));
  if (!hasTest && manager.ownTest && (await hasTestFiles(folder))) gates.push(gate('test', manager.ownTest, '10m'));
  return gates;
}

async function hasTestFiles(folder: Folder): Promise<boolean> {
  for (const place of ['.', 'test', 'tests', 'src'])
    if ((await folder.names(place)).some((name) => /[._](test|spec)\.[cm]?[jt]sx?$/.test(name))) return true;
  return false;
}

async function yarnInstall(isLocked: boolean, folder: Folder, { packageManager = '' }: PackageJson) {
  const isModern =
    /^yarn@[2-9]/.test(packageManager) ||
    folder.has('.yarnrc.yml') ||
    (await folder.text('yarn.lock')).includes('__metadata:');
  if (!isModern) return { run: `yarn install --non-interactive ${isLocked ? '--frozen-lockfile' : '--pure-lockfile'}` };
  const settings = await folder.text('.yarnrc.yml');
  const hasModules = /^nodeLinker:\s*["']?(node-modules|pnpm)/m.test(settings);
  // A cache that is committed comes with the checkout.
  const cache =
    /^cacheFolder:\s*["']?([^"'\n]+)/m.exec(settings)?.[1]?.replace(/^\.\//, '').replace(/\/+$/, '') ?? '.yarn/cache';
  const isCommitted = await folder.tracks(cache);
  return {
    run: `yarn install${isLocked ? ' --immutable' : ''}`,
    makes: hasModules ? ['node_modules'] : isCommitted ? [] : [cache],
    // Without node_modules the packages are used where Yarn keeps them, so that has to be in the worktree.
    ...(isCommitted || hasModules ? {} : { env: { YARN_ENABLE_GLOBAL_CACHE: 'false', YARN_CACHE_FOLDER: cache } }),
  };
}
