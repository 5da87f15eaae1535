#!/usr/bin/env node
// Starts Tidemill on Node 24, whatever Node the machine has: plain JavaScript that Node 20 understands.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const NEEDED = 24;
// Node resolves links before it loads a module, so in a checkout this is packages/daemon, also through node_modules/.bin.
const here = dirname(fileURLToPath(import.meta.url));

/**
 * The sources in a checkout. Installed, the bundle: Node strips no types inside node_modules. `tidemill guard` runs before
 * every tool of a person's session and is a program of its own, because it must be quick.
 */
function program() {
  const name = process.argv.length === 3 && process.argv[2] === 'guard' ? 'guard' : 'main';
  const source = join(here, '..', 'src', `${name}.ts`);
  const isInstalled = here.split(sep).includes('node_modules');
  return !isInstalled && existsSync(source) ? source : join(here, '..', 'dist', `${name}.js`);
}

/** The package that has a Node for this platform, and the version we name. Not a dependency: a Node 24 is there mostly. */
function nodePackage() {
  const prefix = process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
  const name = `${prefix}-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const { nodePackages } = JSON.parse(readFileSync(join(here, '..', 'package.json'), 'utf8'));
  return { name, version: nodePackages?.[name] };
}

/** A Node that npm installed, as seen from a folder. */
function nodeFrom(folder, name) {
  try {
    const manifest = createRequire(join(folder, 'any.js')).resolve(`${name}/package.json`);
    const binary = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    return existsSync(binary) ? binary : null;
  } catch (error) {
    if (error.code === 'MODULE_NOT_FOUND') return null;
    throw error;
  }
}

/** Gets Node 24 with npm, once. Installed in another folder and moved: two may start at once, and one may be killed. */
function fetchNode(folder, { name, version }) {
  console.error(
    `tidemill: needs Node ${NEEDED}, and this is ${process.version}: getting Node ${version} with npm, once`,
  );
  mkdirSync(dirname(folder), { recursive: true });
  const aside = mkdtempSync(`${folder}-`);
  const args = ['install', '--prefix', aside, '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
  const done = spawnSync('npm', [...args, `${name}@${version}`], {
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  if (done.status === 0 && !existsSync(folder)) renameSync(aside, folder);
  else rmSync(aside, { recursive: true, force: true });
  return nodeFrom(folder, name);
}

/** The Node to run on: one beside us, one that an earlier start has got, or a new one. */
function findNode() {
  const wanted = nodePackage();
  const fetched = join(homedir(), '.cache', 'tidemill', `node-${wanted.version}`);
  const found = nodeFrom(here, wanted.name) ?? nodeFrom(fetched, wanted.name);
  return found ?? (wanted.version === undefined ? null : fetchNode(fetched, wanted));
}

function runWith(node) {
  const watch = pathToFileURL(join(here, 'die-with-launcher.mjs')).href;
  const args = ['--import', watch, fileURLToPath(import.meta.url), ...process.argv.slice(2)];
  const child = spawn(node, args, { stdio: ['inherit', 'inherit', 'inherit', 'ipc'] });
  // A terminal sends Ctrl-C to both of us: passed on, it would arrive twice, and twice means "at once".
  const fromTerminal = process.stdin.isTTY ? ['SIGINT', 'SIGQUIT'] : [];
  const signals = ['SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'];
  const forward = (signal) => fromTerminal.includes(signal) || child.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  child.on('error', (error) => {
    console.error(`tidemill: ${node} could not be started: ${error.message}`);
    process.exit(126);
  });
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code);
    // Ends as the program ended, so that a shell or a supervisor sees the signal and not a made-up code.
    for (const name of signals) process.off(name, forward);
    process.kill(process.pid, signal);
  });
}

function refuse() {
  console.error(
    `tidemill: needs Node ${NEEDED} or newer; this is ${process.version}, and npm has got none ` +
      `for ${process.platform}-${process.arch}.\n` +
      `Run it with a newer Node, or look at npm's messages above: can its registry be reached?`,
  );
  process.exit(1);
}

if (!existsSync(program())) {
  console.error(`tidemill: ${program()} is missing; this installation is incomplete, install it again`);
  process.exit(1);
} else if (Number(process.versions.node.split('.')[0]) >= NEEDED) {
  // Compiled code is kept beside the program, where only its owner writes; this halves the time to start. Where that folder
  // cannot be written Node goes on without. Here and not in the program, or its first file would be compiled every time.
  module.enableCompileCache(join(here, '..', 'node_modules', '.cache', 'tidemill'));
  // What asks "am I the program?" by argv must see the program, not its launcher.
  process.argv[1] = program();
  await import(pathToFileURL(program()).href);
} else {
  const node = findNode();
  if (node) runWith(node);
  else refuse();
}
