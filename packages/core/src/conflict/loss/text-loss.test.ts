import { describe, expect, test } from 'vitest';
import { type FileVersion, mergeLosses } from './file-loss.ts';

const version = (path: string, text: string | null): FileVersion | null =>
  text === null ? null : { path, id: text, mode: '100644', text };

interface Case {
  base: string;
  target: string;
  ours: string;
  result: string;
  /** Other files of the result, before and after. */
  others?: [path: string, before: string | null, after: string][];
}

/** The lost lines of the target as `line: text`, and the lines that are back as `-line: text`. */
function lost({ base, target, ours, result, others = [] }: Case): string[] {
  const file = {
    base: version('f', base),
    target: version('f', target),
    ours: version('f', ours),
    result: version('f', result),
  };
  const found = mergeLosses({
    files: [file],
    others: others.map(([path, before, after]) => ({ before, result: version(path, after)! })),
    ofTask: [{ base, ours }],
  });
  return found.flatMap(({ kind, lines }) =>
    lines.map(({ line, text }) => `${kind === 'deleted_lines' ? '-' : ''}${line}: ${text.trim()}`),
  );
}

const BASE = 'start\nalpha = 1\nbeta = 2\nend\n';

describe('a resolution that keeps what the target did loses nothing', () => {
  const both = { base: BASE, target: `${BASE}by main\n`, ours: `${BASE}by task\n` };
  const call = { base: 'foo(a)\n', target: 'foo(a, b)\n', ours: 'foo(x)\n' };
  const values = { base: 'limit = 30\n', target: 'limit = 45\n', ours: 'limit = 30 * scale\n' };
  const added = {
    base: 'function f() {\n  one();\n}\n',
    target: 'function f() {\n  one();\n  send(report, now);\n}\n',
    ours: 'function f() {\n  one();\n  two();\n}\n',
  };
  const cases: Record<string, Case> = {
    'both sides, the target first': { ...both, result: `${BASE}by main\nby task\n` },
    'both sides, the task first': { ...both, result: `${BASE}by task\nby main\n` },
    'only the target': { ...both, result: both.target },
    'two edits of one line': { ...call, result: 'foo(x, b)\n' },
    'a value and an operation': { ...values, result: 'limit = 45 * scale\n' },
    're-indented': {
      ...added,
      result: 'function f() {\n  if (x) {\n      one();\n    two();\n      send(report, now);\n  }\n}\n',
    },
    're-wrapped': { ...added, result: 'function f() {\n  one();\n  two();\n  send(\n    report,\n    now,\n  );\n}\n' },
    'joined to one line': {
      ...added,
      target: 'function f() {\n  one();\n  send(\n    report,\n    now,\n  );\n}\n',
      result: 'function f() {\n  one();\n  two();\n  send(report, now);\n}\n',
    },
    'moved in the file': { ...added, result: 'send(report, now);\nfunction f() {\n  one();\n  two();\n}\n' },
    'moved to another file': {
      ...added,
      result: 'function f() {\n  one();\n  two();\n}\n',
      others: [['g', 'old\n', 'old\nsend(report, now);\n']],
    },
    'moved to a new file': {
      ...added,
      result: 'function f() {\n  one();\n  two();\n}\n',
      others: [['g', null, '  send(report,\n    now);\n']],
    },
    'a line that both sides changed in the same way': {
      base: 'a\nb\nc\n',
      target: 'a\nB\nC\n',
      ours: 'a\nB\nc\nd\n',
      result: 'a\nB\nC\nd\n',
    },
    'the task has the same change and more': { ...call, ours: 'foo(a, b, c)\n', result: 'foo(a, b, c)\n' },
    'a deletion of the target': {
      base: 'one\ntwo lines\nthree\nfour\n',
      target: 'one\nthree\nfour\n',
      ours: 'one\ntwo lines\nthree!\nfour\n',
      result: 'one\nthree!\nfour\n',
    },
    'a deletion within a line': { base: 'foo(a, b)\n', target: 'foo(a)\n', ours: 'foo(x, b)\n', result: 'foo(x)\n' },
    'an expression that became shorter': {
      base: 'return a + b;\n',
      target: 'return a;\n',
      ours: 'return a + b + c;\n',
      result: 'return a + c;\n',
    },
    'with the task’s new name for something': {
      base: 'load(1);\nload(2);\n',
      target: 'load(1);\nload(2);\nload(3);\n',
      ours: 'fetchRow(1);\nfetchRow(2);\n',
      result: 'fetchRow(1);\nfetchRow(2);\nfetchRow(3);\n',
    },
    'the last item of a list without its comma': {
      base: '{\n  "a": 1\n}\n',
      target: '{\n  "a": 1,\n  "b": 2\n}\n',
      ours: '{\n  "a": 1,\n  "c": 3\n}\n',
      result: '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n',
    },
    'arguments in another order': {
      base: 'foo(a, b)\n',
      target: 'foo(b, a)\n',
      ours: 'foo(a, b, c)\n',
      result: 'foo(b, a, c)\n',
    },
    'a line that the task moved, with the target’s value': {
      base: 'x\nlimit = 30\ny\nz\n',
      target: 'x\nlimit = 45\ny\nz\n',
      ours: 'x\ny\nz\nlimit = 30\n',
      result: 'x\ny\nz\nlimit = 45\n',
    },
    'into lines that the task had wrapped, with other quotes': {
      base: "  echo(\n    'some text',\n    color='red')\n",
      target: "  echo(\n    'some text',\n    color='red', isLoud=True)\n",
      ours: '  echo(\n    "another text",\n    color="red",\n  )\n',
      result: '  echo(\n    "another text",\n    color="red",\n    isLoud=True,\n  )\n',
    },
    'a paragraph that was wrapped again': {
      base: 'The tide comes in\nand goes out again.\n',
      target: 'The tide comes in slowly\nand goes out again.\n',
      ours: 'The tide comes in\nand goes out again, twice a day.\n',
      result: 'The tide comes\nin slowly and goes out\nagain, twice a day.\n',
    },
    'Windows line ends': { ...both, result: `${BASE}by task\nby main\n`.replaceAll('\n', '\r\n') },
    'braces and blank lines that come and go': {
      base: 'a {\n  one\n}\n',
      target: 'a {\n  one\n}\n\nb {\n  two words\n}\n',
      ours: 'a {\n  one\n}\nc {\n  three words\n}\n',
      result: 'a {\n  one\n}\nb { two words }\nc { three words }\n',
    },
  };
  test.each(Object.entries(cases))('in the case: %s', (_, each) => {
    expect(lost(each)).toEqual([]);
  });
});

describe('a resolution that drops something of the target is reported', () => {
  const config = {
    base: 'name = old\nlimit = 30\nmode = slow\n',
    target: 'name = old\nlimit = 45\nmode = slow\n',
    ours: 'name = new\nlimit = 30\nmode = fast\n',
  };
  const block = {
    base: 'f() {\n  one();\n}\n',
    target: 'f() {\n  one();\n  check(user);\n  audit(user);\n  return null;\n}\n',
    ours: 'f() {\n  one();\n  two();\n}\n',
  };
  const cases: Record<string, Case & { losses: string[] }> = {
    'the whole hunk is dropped': {
      ...block,
      result: block.ours,
      losses: ['3: check(user);', '4: audit(user);', '5: return null;'],
    },
    'one of several lines is dropped': {
      ...block,
      result: 'f() {\n  one();\n  check(user);\n  two();\n  return null;\n}\n',
      losses: ['4: audit(user);'],
    },
    'a value is the base’s again': {
      ...config,
      result: config.ours,
      losses: ['2: limit = 45', '-2: limit = 30'],
    },
    'an operator is the base’s again': {
      base: 'if (a == b) {\n',
      target: 'if (a === b) {\n',
      ours: 'if (a == c) {\n',
      result: 'if (a == c) {\n',
      losses: ['1: if (a === b) {'],
    },
    'an argument is dropped': {
      base: 'foo(a)\n',
      target: 'foo(a, b)\n',
      ours: 'foo(x)\n',
      result: 'foo(x)\n',
      losses: ['1: foo(a, b)'],
    },
    'a deleted line is back': {
      base: 'one\nold call()\nthree\n',
      target: 'one\nthree\n',
      ours: 'one\nold call()\nthree!\n',
      result: 'one\nold call()\nthree!\n',
      losses: ['-2: old call()'],
    },
    'a deleted line is there in the task’s version': {
      base: 'one\nold call(1)\nthree\n',
      target: 'one\nthree\n',
      ours: 'one\nold call(2)\nthree\n',
      result: 'one\nold call(2)\nthree\n',
      losses: ['-2: old call(1)'],
    },
    'a removed argument is back': {
      base: 'foo(a, b)\n',
      target: 'foo(a)\n',
      ours: 'foo(x, b)\n',
      result: 'foo(x, b)\n',
      losses: ['1: foo(a)'],
    },
    'the old and the new value': {
      ...config,
      result: 'name = new\nlimit = 45\nlimit = 30\nmode = fast\n',
      losses: ['-2: limit = 30'],
    },
    'kept as a comment only': {
      ...block,
      result: 'f() {\n  one();\n  // check(user);\n  # audit(user);\n  two();\n  return null;\n}\n',
      losses: ['3: check(user);', '4: audit(user);'],
    },
    'kept in a block comment only': {
      ...block,
      result: 'f() {\n  one();\n  two();\n  /*\n  check(user);\n  audit(user);\n  */\n  return null;\n}\n',
      losses: ['3: check(user);', '4: audit(user);'],
    },
    'the new value in a comment only': {
      ...config,
      result: 'name = new\nlimit = 30 // main has 45\nmode = fast\n',
      losses: ['2: limit = 45'],
    },
    'a common line of the target’s, which the task has elsewhere': {
      base: 'a() {\n  x(1);\n}\nb() {\n  y(1);\n}\n',
      target: 'a() {\n  x(1);\n  return null;\n}\nb() {\n  y(1);\n}\n',
      ours: 'a() {\n  x(2);\n}\nb() {\n  y(1);\n  return null;\n}\n',
      result: 'a() {\n  x(2);\n}\nb() {\n  y(1);\n  return null;\n}\n',
      losses: ['3: return null;'],
    },
    'one of two equal lines': {
      base: 'go();\n',
      target: 'go();\ngo();\n',
      ours: 'go();\nstop();\n',
      result: 'go();\nstop();\n',
      losses: ['2: go();'],
    },
    'a hunk that would merge cleanly': {
      base: 'one\n\n\ntwo\n\n\nthree\n',
      target: 'one\n\n\ntwo\n\n\nthree main\n',
      ours: 'one task\n\n\ntwo\n\n\nthree\n',
      result: 'one task\n\n\ntwo\n\n\nthree\n',
      losses: ['7: three main', '-7: three'],
    },
    'one moved line for two of the target’s': {
      base: 'a\n',
      target: 'a\npush(item);\npush(item);\n',
      ours: 'a\nb\n',
      result: 'push(item);\na\nb\n',
      losses: ['3: push(item);'],
    },
    'the task’s own lines that only look alike': {
      base: 'start\n',
      target: 'start\nitems.push(a);\n',
      ours: 'start\nitems.push(b);\ntrack(a);\n',
      result: 'start\nitems.push(b);\ntrack(a);\n',
      losses: ['2: items.push(a);'],
    },
  };
  test.each(Object.entries(cases))('in the case: %s', (_, { losses, ...each }) => {
    expect(lost(each)).toEqual(losses);
  });
});
