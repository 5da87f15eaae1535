import type { ImportedTask } from '@tidemill/contract';

/**
 * The tasks of the demo. The sample's scenario refers to them by title.
 *
 *   level ─┬─▶ tell-level ─┐        table file: feet and last-line declare the same scope and never run together
 *   format ┴─▶ tell-next ──┤        commands file: tell-level and tell-next declare none, run together and collide
 *   level ───▶ mill ───────┼─▶ grind
 *   feet, last-line ───────┘
 */
export const demoTasks: ImportedTask[] = [
  {
    key: 'level',
    title: 'Tell the water level at any time',
    body: 'Between two turns the water follows half a wave.',
    accept: ['At a turn the level is that of the turn', 'Outside the table there is no level'],
    files: ['lib/level.mjs', 'test/level.test.mjs'],
    priority: 1,
  },
  {
    key: 'feet',
    title: 'Read tables with heights in feet',
    body: 'Older tables write 16.1ft. The program calculates in metres.',
    accept: ['A height that ends in ft is converted', 'A height without a unit stays as it is'],
    files: ['lib/table.mjs', 'test/feet.test.mjs'],
  },
  {
    key: 'last-line',
    title: 'The last line of the table is lost without a newline',
    body: 'A file whose last line has no newline loses its last turn.',
    kind: 'bug',
    accept: ['The last line counts with and without a newline', 'Empty lines are no turns'],
    files: ['lib/table.mjs', 'test/line-ends.test.mjs'],
  },
  {
    key: 'format',
    title: 'Show times and heights as people read them',
    kind: 'chore',
    pipeline: 'quick',
    accept: ['list shows 03:52  4.90 m  high water'],
    files: ['lib/format.mjs', 'lib/commands.mjs', 'test/format.test.mjs'],
    priority: 1,
  },
  {
    key: 'tell-level',
    title: 'A command that tells the level',
    accept: ['almanac level 07:00 tells the height', 'Outside the table it says so'],
    after: ['level', 'format'],
    priority: 1,
  },
  {
    key: 'tell-next',
    title: 'A command that tells the next turn',
    accept: ['almanac next 07:00 tells turn, wait and how far the water goes'],
    after: ['level', 'format'],
    priority: 1,
  },
  {
    key: 'mill',
    title: 'Find out when the mill can turn',
    body: 'The pond is filled at each high water. The wheel turns while the sea lies 1.5 m or more below it.',
    accept: ['A window that is open when the table ends is closed there', 'A tide that hardly falls gives no window'],
    files: ['lib/mill.mjs', 'test/mill.test.mjs'],
    after: ['level'],
  },
  {
    key: 'grind',
    title: 'A command that says when to grind',
    accept: ['almanac mill tells every window of the day', 'The README shows every command'],
    after: ['feet', 'last-line', 'tell-level', 'tell-next', 'mill'],
  },
];
