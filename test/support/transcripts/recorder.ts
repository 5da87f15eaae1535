import { spawn } from 'node:child_process';
import { appendFileSync, globSync, readFileSync, renameSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { type Entry, settingsIn } from './transcript.ts';

// Stands between an adapter and a vendor's program, and writes down everything that goes through:
// `recorder.ts LOG PROGRAM …` starts the program with the other arguments.

const [log = '', program = '', ...args] = process.argv.slice(2);
const LOOK_MS = 50;

const note = (entry: Entry) => appendFileSync(log, `${JSON.stringify(entry)}\n`);

/** Complete lines only. A rest without an end is a line too when the stream is over. */
function lines(take: (line: string) => void) {
  let rest = '';
  return {
    push(chunk: Buffer | string) {
      const all = `${rest}${chunk}`.split('\n');
      rest = all.pop() ?? '';
      for (const line of all) take(line);
    },
    end() {
      if (rest !== '') take(rest);
      rest = '';
    },
  };
}

/** What the program leaves: files in the worktree, and the names of Claude Code's sessions. */
const sessions = process.env.CLAUDE_CONFIG_DIR;
function filesNow(): Map<string, string> {
  const found = globSync('**/*', { cwd: process.cwd(), withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
  const named = sessions === undefined ? [] : globSync('projects/**/*.jsonl', { cwd: sessions });
  return new Map([
    ...found.map((file): [string, string] => [file, readFileSync(file, 'utf8')]),
    ...named.map((file): [string, string] => [path.join(sessions ?? '', file), '']),
  ]);
}

const codexHome = process.env.CODEX_HOME ?? '';
const offsets = new Map<string, number>();
/** Codex tells the cost of a request in these files only. */
function readSessions(take: (file: string, line: string) => void): void {
  if (codexHome === '') return;
  for (const file of globSync('sessions/**/*.jsonl', { cwd: codexHome }).toSorted()) {
    const content = readFileSync(path.join(codexHome, file), 'utf8');
    const whole = content.slice(offsets.get(file) ?? 0, content.lastIndexOf('\n') + 1);
    offsets.set(file, (offsets.get(file) ?? 0) + whole.length);
    for (const line of whole.split('\n').filter(Boolean)) take(file, line);
  }
}

/** Takes the place of the socket that Codex's hooks ask, and passes everything on to it. */
function watchHooks(): () => void {
  if (codexHome === '') return () => undefined;
  const hooks = readFileSync(path.join(codexHome, 'hooks.json'), 'utf8');
  const socket = /\/[^' "]*tidemill-guard-[^/]+\/s\b/.exec(hooks)?.[0] ?? '';
  renameSync(socket, `${socket}-real`);
  const server = createServer({ allowHalfOpen: true }, async (asking) => {
    const question = await text(asking);
    const real = connect({ path: `${socket}-real`, allowHalfOpen: true });
    real.end(question);
    const answer = await text(real);
    note({ hook: JSON.parse(question), answer: JSON.parse(answer) });
    asking.end(answer);
  }).listen(socket);
  return () => {
    server.close();
    renameSync(`${socket}-real`, socket);
  };
}

const before = filesNow();
readSessions(() => undefined);
const unwatch = watchHooks();
note({ start: args });
if (codexHome !== '') note({ settings: settingsIn(readFileSync(path.join(codexHome, 'config.toml'), 'utf8')) });
const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
// The program gets the same signal, and this ends after it.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
const look = () => readSessions((session, line) => note({ session, line }));
const looking = setInterval(look, LOOK_MS);

const incoming = lines((line) => note({ in: line }));
process.stdin.on('data', (chunk) => {
  incoming.push(chunk);
  child.stdin.write(chunk);
});
process.stdin.on('end', () => {
  incoming.end();
  note({ in: null });
  child.stdin.end();
});
child.stdin.on('error', () => undefined); // it has ended
const outgoing = lines((line) => note({ out: line }));
child.stdout.on('data', (chunk: Buffer) => {
  look();
  outgoing.push(chunk);
  process.stdout.write(chunk);
});
const complaints = lines((line) => note({ err: line }));
child.stderr.on('data', (chunk: Buffer) => {
  complaints.push(chunk);
  process.stderr.write(chunk);
});
child.on('close', (exit, signal) => {
  clearInterval(looking);
  look();
  outgoing.end();
  complaints.end();
  for (const [file, content] of filesNow()) if (before.get(file) !== content) note({ file, text: content });
  note({ exit, signal });
  unwatch();
  process.exit(exit ?? 1);
});
