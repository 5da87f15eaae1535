import { cut, type Entry, type Places } from './transcript.ts';

// What a program said on this machine at this moment, in a form that is the same on every machine and every time.

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** As the vendors spell theirs: a word, and a random rest. */
const OWN_ID = /\b(ses|msg|prt|per|evt|call|toolu|req|resp|fc|ctc|rs|que)_[0-9A-Za-z]{14,}/g;
const TIME = /\d{4}-\d\d-\d\d[T ]\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?/g;
const ONCE = '2026-01-01T00:00:00.000Z';
/** Numbers that say when, or how long. */
const MOMENT =
  /(^|_)ms$|Ms$|duration|ttft|timestamp|^time$|^created|^updated|_time$|^(started|completed)_at$|^(start|end)$/i;

/** How many of a list are kept: some have hundreds of commands or models. */
const MOST = 12;

export function createPlain(places: Places): (entry: Entry) => Entry {
  const ids = new Map<string, number>();
  const numbered = (id: string) => {
    if (!ids.has(id)) ids.set(id, ids.size + 1);
    return ids.get(id)!;
  };
  // The longest first: one may lie in another.
  const named = Object.entries(places)
    .filter(([, place]) => place !== '')
    .toSorted(([, a], [, b]) => b.length - a.length);
  const plainText = (text: string): string => {
    const placed = named.reduce((all, [name, place]) => all.replaceAll(place, `{${name}}`), text);
    return placed
      .replaceAll(UUID, (id) => `00000000-0000-4000-8000-${String(numbered(id)).padStart(12, '0')}`)
      .replaceAll(OWN_ID, (id, kind: string) => `${kind}_${String(numbered(id)).padStart(16, '0')}`)
      .replaceAll(TIME, ONCE)
      .replaceAll(/sessions\/\d{4}\/\d\d\/\d\d/g, 'sessions/2026/01/01')
      .replaceAll(/\d+\.sock\b/g, '1.sock');
  };
  const plain = (value: unknown, key = ''): unknown => {
    if (typeof value === 'number') return MOMENT.test(key) ? 1 : value;
    // Pieces of a tool's input, whose paths are cut anywhere. The whole follows.
    if (key === 'partial_json') return '';
    if (typeof value === 'string') return cut(plainText(value));
    if (Array.isArray(value)) return value.map((each) => plain(each, key));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [plainText(name), plain(each, name)]));
  };
  return (entry) => plain(shortened(withMessage(entry))) as Entry;
}

/** The program's own lists with fewer members. */
function shortened(entry: Entry): Entry {
  const short = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.slice(0, MOST).map(short);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, short(each)]));
  };
  return 'out' in entry ? { out: short(entry.out) } : entry;
}

/** A line of JSON as what it says. */
function withMessage(entry: Entry): Entry {
  if ('in' in entry) return { in: parsed(entry.in) };
  if ('out' in entry) return { out: parsed(entry.out) };
  if ('session' in entry) return { session: entry.session, line: parsed(entry.line) };
  return entry;
}

function parsed(line: unknown): unknown {
  if (typeof line !== 'string' || !line.startsWith('{')) return line;
  try {
    return JSON.parse(line);
  } catch {
    return line; // a text of the program's own
  }
}

/** What a message is made of: its fields, and the words that say which kind it is. */
const KINDS = /^(type|subtype|method|sessionUpdate|kind|stopReason|stop_reason|hook_event_name|tool_name|status)$/;

function shapeOf(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return KINDS.test(key) ? value : 'text';
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].toSorted();
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  const names = Object.keys(value).toSorted();
  return Object.fromEntries(names.map((name) => [name, shapeOf((value as Record<string, unknown>)[name], name)]));
}

/** News that come at any moment, or not at all. No adapter reads them. */
const NEWS = /"sessionUpdate":"(available_commands|session_info|config_option)_update"|"method":"_|"rate_limit_event"/;
const isNews = (shape: string) =>
  NEWS.test(shape) || (shape.includes('"sessionUpdate":"usage_update"') && !shape.includes('"cost"'));

/**
 * The kinds of messages in each direction, and the fields of each. Not their order: the programs do several things at
 * once. The expectations of the cases hold only if the order is right.
 */
export function shapesOf(entries: Entry[]): Record<string, string[]> {
  const shapes: Record<string, Set<string>> = {};
  for (const entry of entries) {
    // How much a program still says after it was stopped depends on the time that it gets before it is killed.
    if ('stop' in entry) break;
    const [direction = ''] = Object.keys(entry);
    const shape = JSON.stringify(shapeOf(entry));
    if ('err' in entry || isNews(shape)) continue;
    shapes[direction] ??= new Set();
    shapes[direction].add(shape);
  }
  return Object.fromEntries(Object.entries(shapes).map(([direction, kinds]) => [direction, [...kinds].toSorted()]));
}
