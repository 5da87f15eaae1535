import type { ReflectionView } from '@tidemill/contract';
import { expect, test } from 'vitest';
import { reflectionsLines } from './memory-view.ts';
import type { Terminal } from './terminal.ts';

const terminal = { width: 200, paint: (_colour: string, text: string) => text } as unknown as Terminal;
const reflection: ReflectionView = {
  id: 'reflection_1',
  projectId: 'project_1',
  about: { kind: 'task', id: 'task_1', number: 7, title: 'Read the\ntable' },
  why: 'a gate sent the agent back twice',
  files: [],
  traceIds: [],
  metrics: { tasks: 1, firstPass: 0, taught: 1, taughtFirstPass: 0, durationMs: 60_000, tokens: 1234 },
  status: 'done',
  result: {
    divergences: [{ what: 'Changed the parser too', kind: 'scope_creep' }],
    assumption: 'Every file ends with a newline.',
    evidence: 'gate test',
  },
  prevention: null,
  runId: null,
  lessonId: 'lesson_1',
  outcome: 'recorded as L3',
  createdAt: 0,
  endedAt: 1,
  lesson: 'L3',
};

test('a reflection shows what it is about, the assumption, the differences, what came of it, and figures', () => {
  expect(reflectionsLines([reflection], terminal)).toEqual([
    '#7  Read the table: a gate sent the agent back twice',
    '   Every file ends with a newline.',
    '   scope creep: Changed the parser too',
    '   recorded as L3',
    '   first try: 0 of 1; with lessons 0 of 1; 1 min, 1234 tokens',
  ]);
});

test('a reflection without a result shows how far it is', () => {
  const open = { ...reflection, about: { ...reflection.about, kind: 'spec' as const }, result: null, outcome: '' };
  expect(reflectionsLines([{ ...open, status: 'reflecting' }], terminal).slice(0, 2)).toEqual([
    'S7  Read the table: a gate sent the agent back twice',
    '   reflecting',
  ]);
});
