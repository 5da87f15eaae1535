import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';

export interface ProposedGate {
  name: string;
  run: string;
  timeout: string;
  network: boolean;
}

export interface Detected {
  /** For the person: "npm", "pytest" … */
  tools: string[];
  gates: ProposedGate[];
}

const PackageJson = z.object({
  packageManager: z.string().optional(),
  scripts: z.record(z.string(), z.string()).default({}),
  dependencies: z.record(z.string(), z.unknown()).default({}),
  devDependencies: z.record(z.string(), z.unknown()).default({}),
});

type Detector = (root: string) => Promise<Detected | null>;
const detectors: Detector[] = [detectNode, detectPython, detectCargo, detectGo];

/** What proves a change in this repository, judged by the files that languages leave at the root. */
export async function detectGates(root: string): Promise<Detected> {
  const tools: string[] = [];
  const gates: ProposedGate[] = [];
  for (const detect of detectors) {
    const found = await detect(root);
    if (!found) continue;
    tools.push(...found.tools);
    for (const gate of found.gates) gates.push({ ...gate, name: freeName(gate.name, found.tools[0] ?? '', gates) });
  }
  // A Makefile usually wraps the language's own command; it is proposed only where there is no such command.
  if (gates.length === 0) {
    const made = await detectMake(root);
    if (made) return made;
  }
  return { tools, gates };
}

const freeName = (name: string, tool: string, taken: ProposedGate[]) =>
  taken.some((gate) => gate.name === name) ? `${name}-${tool}` : name;

const gate = (name: string, run: string, timeout = '2m', network = false): ProposedGate => ({
  name,
  run,
  timeout,
  network,
});

async function text(root: string, name: string): Promise<string | null> {
  return existsSync(join(root, name)) ? await readFile(join(root, name), 'utf8') : null;
}

async function detectNode(root: string): Promise<Detected | null> {
  const source = await text(root, 'package.json');
  if (source === null) return null;
  const parsed = PackageJson.safeParse(jsonOrNull(source));
  if (!parsed.success) return null;
  const { scripts, dependencies, devDependencies, packageManager } = parsed.data;
  const isPnpm = packageManager?.startsWith('pnpm@') || existsSync(join(root, 'pnpm-lock.yaml'));
  const tool = isPnpm ? 'pnpm' : 'npm';
  const gates: ProposedGate[] = [];
  // A fresh worktree has no node_modules, so what the scripts need is installed first.
  if (Object.keys({ ...dependencies, ...devDependencies }).length > 0) {
    const isLocked = existsSync(join(root, isPnpm ? 'pnpm-lock.yaml' : 'package-lock.json'));
    const install = isPnpm ? 'pnpm install --prefer-offline' : `npm ${isLocked ? 'ci' : 'install'} --prefer-offline`;
    gates.push(gate('install', install, '10m', true));
  }
  for (const name of ['typecheck', 'lint', 'test']) {
    const script = scripts[name];
    if (script && !script.includes('no test specified'))
      gates.push(gate(name, name === 'test' ? `${tool} test` : `${tool} run ${name}`));
  }
  return gates.some((proposed) => proposed.name !== 'install') ? { tools: [tool], gates } : null;
}

async function detectPython(root: string): Promise<Detected | null> {
  const project = (await text(root, 'pyproject.toml')) ?? '';
  const hasTests = ['pytest.ini', 'conftest.py', 'tests', 'tox.ini'].some((name) => existsSync(join(root, name)));
  const isPython =
    project !== '' ||
    ['setup.py', 'setup.cfg', 'pytest.ini', 'requirements.txt'].some((name) => existsSync(join(root, name)));
  if (!isPython || !(hasTests || project.includes('pytest'))) return null;
  const gates = [gate('test', 'python3 -m pytest -q')];
  if (project.includes('[tool.ruff')) gates.unshift(gate('lint', 'ruff check .'));
  return { tools: ['pytest'], gates };
}

async function detectCargo(root: string): Promise<Detected | null> {
  const manifest = await text(root, 'Cargo.toml');
  if (manifest === null) return null;
  const needsNetwork = /^\[(workspace\.)?(dev-|build-)?dependencies/m.test(manifest);
  return { tools: ['cargo'], gates: [gate('test', 'cargo test', '10m', needsNetwork)] };
}

async function detectGo(root: string): Promise<Detected | null> {
  const module = await text(root, 'go.mod');
  if (module === null) return null;
  const needsNetwork = /^require\b/m.test(module);
  return {
    tools: ['go'],
    gates: [gate('vet', 'go vet ./...', '5m', needsNetwork), gate('test', 'go test ./...', '10m', needsNetwork)],
  };
}

async function detectMake(root: string): Promise<Detected | null> {
  const makefile = (await text(root, 'Makefile')) ?? (await text(root, 'makefile'));
  if (makefile === null) return null;
  const gates = ['lint', 'test'].flatMap((target) =>
    new RegExp(`^${target}\\s*:(?!=)`, 'm').test(makefile) ? [gate(target, `make ${target}`, '5m')] : [],
  );
  return gates.length > 0 ? { tools: ['make'], gates } : null;
}

function jsonOrNull(source: string): unknown {
  try {
    return JSON.parse(source);
  } catch {
    return null;
  }
}
