import { Random } from '../sim/random.ts';

type Files = Record<string, string>;

/** A conflict and how somebody resolved it. Null in `result` is a file that is missing there. */
export interface MergeCase {
  name: string;
  isGood: boolean;
  base: Files;
  target: Files;
  ours: Files;
  result: Files;
  /** Files that are executable in the target, and in the result. */
  executable?: { target: string[]; result: string[] };
}

/** The place where both sides changed something. */
interface Place {
  base: string[];
  target: string[];
  ours: string[];
  good: Record<string, Resolution>;
  bad: Record<string, Resolution>;
}

/** The lines instead of the place; lines for the end of the file; another file. */
type Resolution = string[] | { lines: string[]; atEnd?: string[]; elsewhere?: string[]; around?: [string, string] };

const WORDS =
  'anchor basin canal delta estuary fjord gate harbor inlet jetty keel lagoon mole north oar pier quay reef sail tide'.split(
    ' ',
  );

class Writer {
  readonly random: Random;
  #count = 0;
  constructor(seed: number) {
    this.random = new Random(seed);
  }
  word = () => this.random.pick(WORDS);
  /** A name that is not used twice. */
  name = () => `${this.word()}${this.word()[0]!.toUpperCase()}${++this.#count}`;
  number = () => 100 + this.random.int(900);
  call = () => `  ${this.name()}(${this.word()}, ${this.number()});`;
  lines = (count: number) =>
    Array.from({ length: count }, () => this.random.pick([this.call(), '', '  }', '  return null;']));
}

const indented = (lines: string[]) => lines.map((line) => `      ${line.trim()}`);
const wrapped = (lines: string[]) =>
  lines.flatMap((line) => line.replace(/\((.*), (.*)\);/, '(\n    $1,\n    $2,\n  );').split('\n'));

function bothAdd(w: Writer): Place {
  const kept = w.call();
  const target = [w.call(), w.call(), '  return null;', w.call()].slice(w.random.int(2));
  const ours = [w.call(), '  return null;', w.call()].slice(w.random.int(3));
  const without = (lines: string[]) => lines.filter((_, i) => i !== lines.length - 1);
  return {
    base: [kept],
    target: [kept, ...target],
    ours: [kept, ...ours],
    good: {
      'target first': [kept, ...target, ...ours],
      'task first': [kept, ...ours, ...target],
      're-indented': ['  if (ready) {', ...indented([kept, ...target, ...ours]), '  }'],
      're-wrapped': [kept, ...wrapped(target), ...ours],
      'moved in the file': { lines: [kept, ...ours], atEnd: target },
      'moved to another file': { lines: [kept, ...ours], elsewhere: target },
      'moved and re-wrapped': { lines: [kept, ...ours], atEnd: wrapped(target) },
      'only the target': [kept, ...target],
    },
    bad: {
      'only the task': [kept, ...ours],
      'only the base': [kept],
      'a line dropped': [kept, ...without(target), ...ours],
      'as comments': [kept, ...target.map((line) => `  // ${line.trim()}`), ...ours],
      'in a block comment': [kept, '  /*', ...target, '  */', ...ours],
      'with another value': [kept, ...target.map((line) => line.replace(/\d+\);/, '7);')), ...ours],
    },
  };
}

function sameLine(w: Writer): Place {
  const [of, by, one, more, other] = [w.name(), w.name(), w.word(), w.name(), w.name()];
  const text = (call: string, args: string[]) => `  const ${of} = ${call}(${args.join(', ')});`;
  const both = text(other, [one, more]);
  return {
    base: [text(by, [one])],
    target: [text(by, [one, more])],
    ours: [text(other, [one])],
    good: { combined: [both], 'combined and wrapped': wrapped([both]), 'only the target': [text(by, [one, more])] },
    bad: { 'only the task': [text(other, [one])], 'only the base': [text(by, [one])] },
  };
}

function values(w: Writer): Place {
  const keys = [w.name(), w.name(), w.name(), w.name()];
  const set = (...of: (number | string)[]) => keys.map((key, i) => `${key} = ${of[i]}`);
  const [a, b, c] = [w.number(), w.number() + 1000, w.number() + 2000];
  return {
    base: set(1, 2, 3, 4),
    target: set(a, b, 3, 4),
    ours: set(1, 2, c, 4),
    good: {
      combined: set(a, b, c, 4),
      'in another order': set(a, b, c, 4).reverse(),
      're-indented': set(a, b, c, 4).map((line) => `    ${line}`),
    },
    bad: {
      'only the task': set(1, 2, c, 4),
      'one value reverted': set(a, 2, c, 4),
      'the value in a comment': set(1, b, `${c} # was ${a}`, 4),
      'both values': [...set(a, b, c, 4), `${keys[0]} = 1`],
    },
  };
}

function deletion(w: Writer): Place {
  const [first, second, third, added] = [w.call(), w.call(), w.call(), w.call()];
  return {
    base: [first, second, third],
    target: [first],
    ours: [first, second, third, added],
    good: { 'the deletion kept': [first, added], 'only the target': [first] },
    bad: { 'lines are back': [first, second, third, added], 'one line is back': [first, third, added] },
  };
}

function guarded(w: Writer): Place {
  const [old, now, check, value] = [w.name(), w.name(), w.name(), w.number()];
  const body = (name: string, inside: string[], end: number) => [
    `function ${name}(${old}) {`,
    ...inside,
    `  return ${end};`,
    '}',
  ];
  const guard = [`  if (!${check}) {`, `    throw new Error('${check} is missing');`, '  }'];
  const renamed = (lines: string[]) => lines.map((line) => line.replaceAll(old, now));
  return {
    base: body('run', [`  use(${old});`], 1),
    target: body('run', [...guard, `  use(${old});`, `  log(${old});`], value),
    ours: renamed(body('run', [`  use(${old});`], 1)),
    good: {
      'with the new name': renamed(body('run', [...guard, `  use(${old});`, `  log(${old});`], value)),
      're-indented': indented(renamed(body('run', [...guard, `  use(${old});`, `  log(${old});`], value))),
    },
    bad: {
      'only the task': renamed(body('run', [`  use(${old});`], 1)),
      'without the guard': renamed(body('run', [`  use(${old});`, `  log(${old});`], value)),
      'the old result': renamed(body('run', [...guard, `  use(${old});`, `  log(${old});`], 1)),
      'an empty guard': renamed(body('run', [guard[0]!, guard[2]!, `  use(${old});`, `  log(${old});`], value)),
    },
  };
}

function prose(w: Writer): Place {
  const [a, b, c, d] = [w.name(), w.name(), w.name(), w.name()];
  return {
    base: [`The ${a} opens when the water rises,`, `and the ${b} closes at night.`],
    target: [`The ${a} opens slowly when the ${c} rises,`, `and the ${b} closes at night.`],
    ours: [`The ${a} opens when the water rises,`, `and the ${b} closes at night, except for ${d}.`],
    good: {
      combined: [`The ${a} opens slowly when the ${c} rises,`, `and the ${b} closes at night, except for ${d}.`],
      'wrapped again': [
        `The ${a} opens`,
        `slowly when the ${c}`,
        `rises, and the ${b} closes`,
        `at night, except for ${d}.`,
      ],
    },
    bad: {
      'only the task': [`The ${a} opens when the water rises,`, `and the ${b} closes at night, except for ${d}.`],
      'one word lost': [`The ${a} opens when the ${c} rises,`, `and the ${b} closes at night, except for ${d}.`],
    },
  };
}

function list(w: Writer): Place {
  const item = (key: string, end = ',') => `  "${key}": { "size": ${key.length} }${end}`;
  const [a, b, c, d] = [w.name(), w.name(), w.name(), w.name()];
  return {
    base: ['{', item(a, ''), '}'],
    target: ['{', item(a), item(b), item(c, ''), '}'],
    ours: ['{', item(a), item(d, ''), '}'],
    good: {
      'target first': ['{', item(a), item(b), item(c), item(d, ''), '}'],
      'task first': ['{', item(a), item(d), item(b), item(c, ''), '}'],
      'target last first': ['{', item(a), item(c), item(d), item(b, ''), '}'],
    },
    bad: {
      'only the task': ['{', item(a), item(d, ''), '}'],
      'one item lost': ['{', item(a), item(d), item(c, ''), '}'],
    },
  };
}

const PLACES = [bothAdd, sameLine, values, deletion, guarded, prose, list];

function inFile(number: number, w: Writer, isGood: boolean): MergeCase {
  const make = w.random.pick(PLACES);
  const place = make(w);
  const [before, after] = [w.lines(3 + w.random.int(30)), w.lines(3 + w.random.int(30))];
  const [name, resolution] = w.random.pick(Object.entries(isGood ? place.good : place.bad));
  const { lines, atEnd = [], elsewhere } = Array.isArray(resolution) ? { lines: resolution } : { ...resolution };
  const text = (middle: string[], end: string[] = []) => `${[...before, ...middle, ...after, ...end].join('\n')}\n`;
  const [path, other] = [`case-${number}/work.txt`, `case-${number}/other.txt`];
  const rest = { [other]: 'other\n' };
  return {
    name: `${make.name}: ${name}`,
    isGood,
    base: { [path]: text(place.base), ...rest },
    target: { [path]: text(place.target), ...rest },
    ours: { [path]: text(place.ours), ...rest },
    result: { [path]: text(lines, atEnd), ...(elsewhere ? { [other]: `other\n${elsewhere.join('\n')}\n` } : rest) },
  };
}

/** A conflict in one file, and another file of the target’s that would merge cleanly. */
function besides(number: number, w: Writer, isGood: boolean): MergeCase {
  const at = (name: string) => `case-${number}/${name}`;
  const conflict = inFile(number, w, true);
  const lines = `${w.call()}\n${w.call()}\n${w.call()}\n`;
  const changed = `${lines}${w.call()}\n`;
  type Kind = [base: Files, target: Files, good: Files, bad: Files, executable?: MergeCase['executable']];
  const kinds: Record<string, Kind> = {
    'a new file': [{}, { [at('new.ts')]: lines }, { [at('deep/moved.ts')]: lines }, {}],
    'a deleted file': [{ [at('old.ts')]: lines }, {}, {}, { [at('old.ts')]: lines }],
    'a clean change': [
      { [at('a.ts')]: lines },
      { [at('a.ts')]: changed },
      { [at('a.ts')]: changed },
      { [at('a.ts')]: lines },
    ],
    'a renamed file': [
      { [at('a.ts')]: lines },
      { [at('b.ts')]: lines },
      { [at('b.ts')]: lines },
      { [at('a.ts')]: lines },
    ],
    'a binary file': [
      { [at('p.bin')]: `${lines}\0` },
      { [at('p.bin')]: `${changed}\0` },
      { [at('p.bin')]: `${changed}\0` },
      { [at('p.bin')]: `${lines}\0` },
    ],
    'an executable file': [
      { [at('run')]: lines },
      { [at('run')]: lines },
      { [at('run')]: lines },
      { [at('run')]: lines },
      { target: [at('run')], result: isGood ? [at('run')] : [] },
    ],
  };
  const [name, [base, target, good, bad, executable]] = w.random.pick(Object.entries(kinds));
  return {
    name: `${name} beside ${conflict.name}`,
    isGood,
    base: { ...conflict.base, ...base },
    target: { ...conflict.target, ...target },
    ours: { ...conflict.ours, ...base },
    result: { ...conflict.result, ...(isGood ? good : bad) },
    executable,
  };
}

/** Conflicts of many kinds; every second one is resolved badly. */
export function mergeCases(count: number, seed: number): MergeCase[] {
  const writer = new Writer(seed);
  return Array.from({ length: count }, (_, i) =>
    (writer.random.chance(0.25) ? besides : inFile)(i, writer, i % 2 === 0),
  );
}
