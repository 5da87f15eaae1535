// Builds the page (packages/web) when its sources changed since the last build; otherwise it takes a few milliseconds.
// Built-ins of Node 20 only: ensure.mjs runs it on the machine's own Node.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const web = join(root, 'packages', 'web');
const stampFile = join(web, 'dist', '.built-from');
/** Everything that the build reads; the lock file represents external packages. */
const SOURCES = [
  'packages/web',
  'packages/contract/src',
  'package-lock.json',
  'tsconfig.json',
  'scripts/ensure-page.mjs',
];

function sourceHash() {
  const hash = createHash('sha256');
  const add = (path) =>
    hash
      .update(`${path}\0`)
      .update(readFileSync(join(root, path)))
      .update('\0');
  const walk = (path) => {
    const entries = readdirSync(join(root, path), { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (entry.isDirectory() && !['dist', 'node_modules'].includes(entry.name)) walk(`${path}/${entry.name}`);
      else if (entry.isFile()) add(`${path}/${entry.name}`);
    }
  };
  for (const source of SOURCES) source.includes('.') ? add(source) : walk(source);
  return hash.digest('hex');
}

function build() {
  const own = join(root, 'node_modules', '.bin', 'node');
  const node = existsSync(own) ? own : process.execPath;
  const vite = join(root, 'node_modules', 'vite', 'bin', 'vite.js');
  // A test runner's own NODE_ENV would make it a development build, larger and slower.
  const env = { ...process.env, NODE_ENV: 'production' };
  return spawnSync(node, [vite, 'build', '--logLevel', 'warn'], { cwd: web, env, encoding: 'utf8', timeout: 300_000 });
}

/** False when it could not be built: the daemon then works without it and says so on its page. */
export function ensurePage(say) {
  const hash = sourceHash();
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return true;
  say('building the page (a few seconds)');
  const done = build();
  if (done.status === 0) writeFileSync(stampFile, hash);
  else say(`the page could not be built:\n${done.error?.message ?? `${done.stdout}${done.stderr}`.trim()}`);
  return done.status === 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = ensurePage((text) => console.error(`tidemill: ${text}`)) ? 0 : 1;
}
