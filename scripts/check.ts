import { spawn } from 'node:child_process';
import { basename, join } from 'node:path';

/** A check of `npm test` that is not a vitest test: a program that must exit 0. Each counts as one test. */
export interface Check {
  name: string;
  command: string[];
  /** Printed even if it passed, because it may contain warnings. */
  alwaysShow?: boolean;
}

export interface CheckResult {
  check: Check;
  passed: boolean;
  output: string;
  tookMs: number;
}

const bin = (root: string, ...path: string[]) => join(root, 'node_modules', ...path);

export function repositoryChecks(root: string): Check[] {
  // What was checked is kept, so that a second check looks only at what has changed since.
  const kept = (project: string) => bin(root, '.cache', 'tidemill', `${basename(project)}.tsbuildinfo`);
  const tsc = (project: string) =>
    [process.execPath, bin(root, 'typescript', 'bin', 'tsc'), '-p', project].concat(
      ...['--incremental', '--tsBuildInfoFile', kept(join(root, project))],
    );
  return [
    { name: 'types: everything', command: tsc('.') },
    { name: 'types: core, without Node', command: tsc('packages/core') },
    { name: 'types: contract, without Node', command: tsc('packages/contract') },
    { name: 'types: the page', command: tsc('packages/web') },
    { name: 'types: the VS Code extension', command: tsc('packages/vscode') },
    {
      name: 'lint and format',
      command: [process.execPath, bin(root, '@biomejs', 'biome', 'bin', 'biome'), 'check', '--error-on-warnings', '.'],
    },
    { name: 'repository rules', command: [process.execPath, 'scripts/check-repo.ts'], alwaysShow: true },
    { name: 'pages about operations', command: [process.execPath, 'scripts/operation-docs.ts'] },
    { name: 'unused code', command: [process.execPath, bin(root, 'knip', 'bin', 'knip.js'), '--no-progress'] },
  ];
}

const CHECK_LIMIT_MS = 300_000;

/** A check that does not end is tried once more: knip hangs in about one of twenty runs on a busy machine. */
async function runCheck(check: Check, cwd: string): Promise<CheckResult> {
  const first = await tryCheck(check, cwd);
  return first === 'hangs' ? asResult(check, await tryCheck(check, cwd)) : first;
}

function asResult(check: Check, result: CheckResult | 'hangs'): CheckResult {
  if (result !== 'hangs') return result;
  const output = `did not end within ${CHECK_LIMIT_MS / 1000} s, twice`;
  return { check, passed: false, output, tookMs: 2 * CHECK_LIMIT_MS };
}

function tryCheck(check: Check, cwd: string): Promise<CheckResult | 'hangs'> {
  const startedAt = Date.now();
  const [program, ...args] = check.command as [string, ...string[]];
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    const limit = setTimeout(() => {
      child.kill('SIGKILL');
      resolve('hangs');
    }, CHECK_LIMIT_MS);
    let output = '';
    const finish = (passed: boolean) => {
      clearTimeout(limit);
      resolve({ check, passed, output, tookMs: Date.now() - startedAt });
    };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        output += chunk;
      });
    }
    child.on('error', (error) => {
      output += `${program} could not be started: ${error.message}\n`;
      finish(false);
    });
    child.on('close', (code) => finish(code === 0));
  });
}

/** Runs all of them, `width` at a time, and reports each result when it is ready. */
export async function runChecks(
  checks: Check[],
  cwd: string,
  width: number,
  onResult: (result: CheckResult) => void,
): Promise<CheckResult[]> {
  const waiting = [...checks];
  const results: CheckResult[] = [];
  const lane = async () => {
    for (let check = waiting.shift(); check; check = waiting.shift()) {
      const result = await runCheck(check, cwd);
      results.push(result);
      onResult(result);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}
