import { SPEC_PHASES, SpecDraft } from '@tidemill/contract';
import { renderSpec, renderTasks } from '@tidemill/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { featureTasks } from './feature-list.ts';
import { readSpecFiles } from './spec-file.ts';

const read = (spec: string, tasks: string) =>
  readSpecFiles({ name: 'spec.md', text: spec }, { name: 'tasks.md', text: tasks });

const line = fc.stringMatching(/^[A-Za-z"'`:#*|{}[\]-][A-Za-z0-9 "'`:#*|{}[\]-]{0,30}$/).map((text) => text.trim());
const lines = fc.array(line, { maxLength: 3 });
const text = fc
  .array(
    fc.oneof(
      line,
      fc.constantFrom(
        '',
        '## Files',
        '\\## Risks',
        '## Out-of-scope',
        '## Open points',
        '## Why',
        '```',
        '  indented',
        '- **R1**: x',
        'schön',
      ),
    ),
    {
      maxLength: 6,
    },
  )
  .map((all) => all.join('\n').trim());
const some = (given: fc.Arbitrary<string>) => given.filter((value) => value.trim() !== '');
const draft = fc.record({
  title: some(line),
  summary: text,
  requirements: fc.array(fc.record({ kind: fc.constantFrom('functional', 'non_functional'), text: some(text) }), {
    minLength: 1,
    maxLength: 3,
  }),
  scope: fc.record({ in: lines, out: lines }),
  architecture: text,
  files: fc.array(
    fc.record({
      change: fc.constantFrom('create', 'modify'),
      purpose: line,
      owner: fc.constantFrom('', 'T1', 'web team'),
    }),
    { maxLength: 2 },
  ),
  tasks: fc.array(
    fc.record({
      title: some(line),
      phase: fc.constantFrom(...SPEC_PHASES),
      detail: text,
      accept: fc.array(some(text), { maxLength: 2 }),
      validate: line,
      template: text,
      estimateMinutes: fc.option(fc.integer({ min: 1, max: 90 })),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  dependencies: lines,
  risks: lines,
});

test('a specification is read back as it was written, whatever its texts contain', () => {
  fc.assert(
    fc.property(draft, (drawn) => {
      const whole = SpecDraft.parse({
        ...drawn,
        requirements: drawn.requirements.map((each, at) => ({ id: `R${at + 1}`, ...each })),
        files: drawn.files.map((each, at) => ({ path: `src/${at}.ts`, ...each })),
        tasks: drawn.tasks.map((each, at) => ({
          id: `T${at + 1}`,
          ...each,
          files: ['a b.ts', '"x"'],
          dependsOn: at > 0 ? ['T1'] : [],
          requirements: ['R1'],
        })),
      });
      expect(read(renderSpec(whole), renderTasks(whole))).toEqual(whole);
    }),
    { numRuns: 300 },
  );
});

const SPEC = '# Export\n\nAs CSV.\n\n## Requirements\n\n- R1: it prints rows\n';
const TASKS = 'My tasks\n\n```yaml\nid: T1\ntitle: Print\nphase: api\nrequirements: [R1]\n```\n';

test('a short specification written by hand is enough', () => {
  expect(read(SPEC, TASKS)).toMatchObject({
    title: 'Export',
    summary: 'As CSV.',
    requirements: [{ id: 'R1', kind: 'functional', text: 'it prints rows' }],
    tasks: [{ id: 'T1', action: 'update', estimateMinutes: null }],
  });
});

test.each([
  ['no title', 'Export', TASKS, 'spec.md:1: a specification begins with its title'],
  ['no requirements', '# Export', TASKS, 'spec.md:1: there are no requirements'],
  ['a loose line', SPEC.replace('R1: it', 'it'), TASKS, 'spec.md:7: a requirement is a line such as'],
  ['a loose file', `${SPEC}\n## Files\n\n- src/a.ts\n`, TASKS, 'spec.md:11: a file is a line such as'],
  ['no tasks', SPEC, 'nothing', 'tasks.md:1: there are no tasks'],
  ['a strange phase', SPEC, TASKS.replace('api', 'later'), 'tasks.md:6: phase must be one of database'],
  ['text before the title', `Draft\n${SPEC}`, TASKS, 'spec.md:1: a specification begins with its title'],
  [
    'a heading in other words',
    `${SPEC}\n## Non-goals\n`,
    TASKS,
    '9: unknown heading "Non-goals"; did you mean "## Out of scope"?',
  ],
  [
    'a heading in a list',
    `${SPEC}\n## Notes\n`,
    TASKS,
    'spec.md:9: unknown heading "Notes"; the headings are Requirements',
  ],
  ['a sentence in a list', `${SPEC}\nSoon\n`, TASKS, 'spec.md:9: begin this line with "- "'],
  [
    'an unknown key',
    SPEC,
    TASKS.replace('title: Print', 'title: Print\ndepends_on: [T0]'),
    'tasks.md:6: unknown key "depends_on"; did you mean "dependsOn"?',
  ],
  [
    'a key of another tool',
    SPEC,
    TASKS.replace('title', 'acceptance_criteria: [x]\ntitle'),
    'tasks.md:5: unknown key "acceptance_criteria"; did you mean "accept"?',
  ],
  [
    'a key without meaning',
    SPEC,
    TASKS.replace('title', 'colour: red\ntitle'),
    'tasks.md:5: unknown key "colour"; the keys here are id, title',
  ],
  [
    'a task in another block',
    SPEC,
    `${TASKS}\n\`\`\`\nid: T2\n\`\`\`\n`,
    'tasks.md:10: a task is a block that begins with ```yaml',
  ],
  ['an open block', SPEC, TASKS.replace(/```\n$/, ''), 'tasks.md:3: the block is not closed'],
])('a specification with %s is refused with the line', (_, spec, tasks, message) => {
  expect(() => read(spec, tasks)).toThrow(message);
});

test('a feature list becomes tasks; finished features do not', () => {
  const list = {
    features: [
      { id: 'F1', name: 'Log in', status: 'completed', tested: true },
      {
        id: 'F2',
        name: 'Log out',
        description: 'Ends it',
        steps: ['Click', 'See'],
        dependencies: ['F1'],
        priority: 'high',
      },
      { id: 3, description: 'Remember me', dependencies: ['F2'], passes: false },
    ],
  };
  expect(featureTasks('feature-list.json', JSON.stringify(list))).toEqual({
    finished: 1,
    tasks: [
      { key: 'F2', title: 'Log out', body: 'Ends it', accept: ['Click', 'See'], after: [], priority: 1 },
      { key: '3', title: 'Remember me', body: 'Remember me', accept: [], after: ['F2'], priority: 2 },
    ],
  });
  expect(() => featureTasks('x.json', '{')).toThrow('x.json is not JSON');
  expect(() => featureTasks('x.json', '{"a":1}')).toThrow('x.json is not a list of features');
});

test.each([
  ['no name', [{ name: 'A' }, { id: 'F2', name: ' ' }], 'x.json: feature 2 ("F2"): it has no name'],
  ['an unknown key', [{ name: 'A', dependson: [] }], 'feature 1: unknown key "dependson"; did you mean "depends_on"?'],
  ['a wrong type', [{ name: 7 }], 'feature 1, name: Invalid input'],
  [
    'an id twice',
    [
      { id: 1, name: 'A' },
      { id: '1', name: 'B' },
    ],
    'feature 2 ("1"): another feature has the same id',
  ],
  [
    'a missing dependency',
    [{ name: 'A', dependencies: ['F9'] }],
    'feature 1: it depends on "F9", which is not in the list',
  ],
  ['an unknown status', [{ name: 'A', status: 'complet' }], 'unknown status "complet"; did you mean "complete"?'],
  ['an unknown priority', [{ name: 'A', priority: 'soon' }], 'unknown priority "soon"; use 0 to 4, or critical, high'],
])('a feature list with %s is refused with the position', (_, list, message) => {
  expect(() => featureTasks('x.json', JSON.stringify(list))).toThrow(message);
});
