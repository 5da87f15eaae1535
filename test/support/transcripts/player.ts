import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import {
  CUT,
  cut,
  type Entry,
  fill,
  mapTexts,
  type Part,
  readTranscript,
  STOP_FILE,
  settingsIn,
} from './transcript.ts';

// Stands in for a vendor's program: says what the real one said when it was recorded, and expects to hear what the real
// one heard. `player.ts FOLDER …`: FOLDER/part.json says which transcript it is, the rest are the program's arguments.

const [folder = '', ...args] = process.argv.slice(2);
const { transcript, places } = JSON.parse(readFileSync(path.join(folder, 'part.json'), 'utf8')) as Part;
const starts = path.join(folder, 'starts');
appendFileSync(starts, '.');
/** A run may start the program more than once, one after the other. */
const index = readFileSync(starts, 'utf8').length - 1;
const WAIT_MS = 20_000;

function leave(why: string): never {
  process.stderr.write(`transcript player: ${why}\nIf this is meant to be so, \`npm run record\` records it.\n`);
  process.exit(99);
}

const { entries } = readTranscript(transcript);
const begins = entries.flatMap((entry, at) => ('start' in entry ? [at] : []));
if (begins[index] === undefined) leave(`the program was started ${begins.length} times, and now once more`);
const part = entries.slice(begins[index] + 1, begins[index + 1]);

/** Ids that the adapter made: as recorded, and as they are now. */
const ids = new Map<string, string>();
const said = new Set<string>();
const ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;

/** `met` gets the ids of a pair that is the same so far. */
function isSame(recorded: unknown, now: unknown, met: Map<string, string>): boolean {
  if (typeof recorded === 'string' && typeof now === 'string') return isSameText(recorded, now, met);
  if (typeof recorded !== 'object' || recorded === null || typeof now !== 'object' || now === null)
    return recorded === now;
  const [then, current] = [recorded as Record<string, unknown>, now as Record<string, unknown>];
  const names = new Set([...Object.keys(then), ...Object.keys(current)]);
  return [...names].every((name) => isSame(then[name], current[name], met));
}

function isSameText(recorded: string, now: string, met: Map<string, string>): boolean {
  if (recorded.endsWith(CUT)) return now.startsWith(fill(recorded.slice(0, -CUT.length), places));
  if (!ID.test(recorded) || said.has(recorded)) return fill(recorded, places) === now;
  const known = ids.get(recorded);
  if (known === undefined && ID.test(now)) met.set(recorded, now);
  return known === now || met.get(recorded) === now;
}

const parsed = (line: string): unknown => {
  if (!line.startsWith('{')) return line;
  try {
    return JSON.parse(line);
  } catch {
    return line; // a text is compared as it is
  }
};

if (!isSame((entries[begins[index]] as { start: string[] }).start, args.map(cut), new Map()))
  leave(`it was started as ${JSON.stringify(args).slice(0, 4000)}`);

/** What the adapter still has to write, and who waits for it. */
const expected = part.filter((entry): entry is { in: unknown } => 'in' in entry);
let wake = () => undefined as undefined;

function hear(line: string | null): void {
  const now = line === null ? null : parsed(line);
  const at = expected.findIndex((entry) => {
    const met = new Map<string, string>();
    const isIt = isSame(entry.in, now, met);
    if (isIt) for (const [recorded, current] of met) ids.set(recorded, current);
    return isIt;
  });
  if (at >= 0) expected.splice(at, 1);
  // The end of the input is no answer: a program that is stopped hears it too.
  else if (line !== null) leave(`the adapter wrote ${line.slice(0, 2000)}, and not ${JSON.stringify(expected[0])}`);
  if (line === null && at < 0) process.exit(0);
  wake();
}
createInterface({ input: process.stdin })
  .on('line', hear)
  .on('close', () => hear(null));

async function written(entry: { in: unknown }): Promise<void> {
  const late = setTimeout(() => leave(`the adapter did not write ${JSON.stringify(entry.in)}`), WAIT_MS);
  while (expected.includes(entry)) {
    await new Promise<void>((resolve) => {
      wake = () => void resolve();
    });
  }
  clearTimeout(late);
}

const filled = (value: unknown): unknown =>
  mapTexts(value, (text) => {
    said.add(text);
    return ids.get(text) ?? fill(text, places);
  });

const lineOf = (value: unknown) => `${typeof value === 'string' ? value : JSON.stringify(value)}\n`;

/** As Codex does: the command from its settings, with the question on standard input. */
function askHook({ hook, answer }: { hook: unknown; answer: unknown }): void {
  const settings = JSON.parse(readFileSync(path.join(process.env.CODEX_HOME ?? '', 'hooks.json'), 'utf8'));
  const question = filled(hook) as { hook_event_name: string };
  const { command } = settings.hooks[question.hook_event_name][0].hooks[0];
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
    input: JSON.stringify(question),
    encoding: 'utf8',
  });
  const { exitCode, ...words } = answer as { exitCode: number; stdout: string; stderr: string };
  if (status !== exitCode || stdout !== fill(words.stdout, places) || !stderr.startsWith(fill(words.stderr, places)))
    leave(`the hook answered ${JSON.stringify({ status, stdout, stderr })}, and not ${JSON.stringify(answer)}`);
}

function write(file: string, text: string, how: typeof writeFileSync | typeof appendFileSync): void {
  mkdirSync(path.dirname(file), { recursive: true });
  how(file, text);
}

function readSettings(recorded: string[]): void {
  const now = settingsIn(readFileSync(path.join(process.env.CODEX_HOME ?? '', 'config.toml'), 'utf8'));
  if (!isSame(recorded, now, new Map())) leave(`its settings are ${JSON.stringify(now)}`);
}

async function play(entry: Entry): Promise<void> {
  if ('in' in entry) await written(entry);
  else if ('out' in entry) process.stdout.write(lineOf(filled(entry.out)));
  else if ('err' in entry) process.stderr.write(lineOf(filled(entry.err)));
  else if ('settings' in entry) readSettings(entry.settings);
  else if ('hook' in entry) askHook(entry);
  else if ('file' in entry) write(fill(entry.file, places), fill(entry.text, places), writeFileSync);
  else if ('session' in entry)
    write(path.join(process.env.CODEX_HOME ?? '', entry.session), lineOf(filled(entry.line)), appendFileSync);
  else if ('stop' in entry) writeFileSync(path.join(folder, STOP_FILE), '');
  else if ('exit' in entry && entry.exit !== null) process.exit(entry.exit);
}

// One that was ended by a signal waits for it.
setInterval(() => undefined, 60_000);
for (const entry of part) await play(entry);
