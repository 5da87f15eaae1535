// A real VS Code for the extension's tests: code-server, at one version, installed once outside the lock file.
// Nothing here can fail the run. Without it, the tests that need it are skipped and say so.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const VERSION = '4.139.1';

/**
 * Not used by the tests: agents of other vendors, other systems, and the packages that would have to be compiled (their
 * absence is only logged). So no compiler and no Debian package is needed.
 */
const LEFT_OUT = [
  '@devcontainers/cli',
  '@github/copilot-sdk',
  '@microsoft/mxc-sdk',
  '@vscode/copilot-api',
  '@vscode/sandbox-runtime',
  '@vscode/sqlite3',
  '@vscode/tree-sitter-wasm',
  '@vscode/windows-process-tree',
  '@vscode/windows-registry',
  'kerberos',
  'ssh2',
];
/** The first two are large, the others need something that is left out. */
const EXTENSIONS_LEFT_OUT = [
  'copilot',
  'mermaid-markdown-features',
  'microsoft-authentication',
  'ms-vscode.js-debug',
  'typescript-language-features',
];

const cache = join(dirname(fileURLToPath(import.meta.url)), '..', 'node_modules', '.cache', 'code-server');
const folder = join(cache, `${VERSION}-${process.platform}-${process.arch}`);

/** The program to run with Node 24; it exists only when the installation is complete. */
export const CODE_SERVER = join(folder, 'node_modules', 'code-server', 'out', 'node', 'entry.js');

function npmInstall(cwd, ...packages) {
  const quiet = ['--ignore-scripts', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error'];
  // Without a network, the tests must not wait for it.
  const brief = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000'];
  const options = { cwd, encoding: 'utf8', timeout: 600_000, stdio: ['ignore', 'ignore', 'pipe'] };
  const done = spawnSync('npm', ['install', ...quiet, ...brief, ...packages], options);
  if (done.status === 0) return;
  const lines = (done.stderr ?? '').split('\n').filter((line) => /^npm error(?! (code|syscall|errno)\b)/.test(line));
  throw new Error(lines[0] ?? done.error?.message ?? `npm ended with ${done.signal ?? `exit code ${done.status}`}`);
}

/** In a folder of its own, renamed at the end: half an installation is never used, and two at once do no harm. */
function install() {
  const draft = join(cache, `draft-${process.pid}`);
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  try {
    writeFileSync(join(draft, 'package.json'), '{ "private": true }\n');
    npmInstall(draft, `code-server@${VERSION}`);
    const editor = join(draft, 'node_modules', 'code-server', 'lib', 'vscode');
    const manifest = join(editor, 'package.json');
    const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
    for (const name of LEFT_OUT) delete dependencies[name];
    writeFileSync(manifest, JSON.stringify({ ...rest, dependencies }, null, 2));
    npmInstall(editor);
    for (const name of EXTENSIONS_LEFT_OUT) rmSync(join(editor, 'extensions', name), { recursive: true, force: true });
    publish(draft);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function publish(draft) {
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another installation was quicker.
    if (!existsSync(CODE_SERVER)) throw error;
  }
}

/** Other versions, and what an interrupted installation left behind. */
function removeOld() {
  for (const name of existsSync(cache) ? readdirSync(cache) : []) {
    const [, pid] = /^draft-(\d+)$/.exec(name) ?? [];
    const isOld = pid === undefined ? join(cache, name) !== folder : !isAlive(Number(pid));
    if (isOld) rmSync(join(cache, name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

export function ensureCodeServer(say) {
  if (existsSync(CODE_SERVER)) return;
  const without = 'the tests of the VS Code extension in a real editor will be skipped';
  if (process.platform === 'win32') {
    say(`code-server does not run on Windows: ${without}`);
    return;
  }
  say(`installing code-server ${VERSION} for the tests (about half a minute, once)`);
  try {
    removeOld();
    install();
  } catch (error) {
    say(`code-server could not be installed (${error.message}): ${without}`);
  }
}
