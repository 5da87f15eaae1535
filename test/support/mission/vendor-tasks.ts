import { type Assignment, type Move, result, run, write } from '../model/mind.ts';
import { testOf } from './vendor-project.ts';

/** One that fails its tests at first, one that the reviewer sends back at first. */
export const TWO_TASKS = [
  { title: 'Add the mean of a list', accept: ['mean([2, 4]) is 3'], pipeline: 'feature' },
  { title: 'Add the largest of a list', accept: ['largest([1, 3]) is 3', 'An empty list throws'], pipeline: 'feature' },
];

/** #1 is wrong until a gate fails, #2 until the reviewer rejects it; read-only modes answer immediately. */
export function twoTasksMind({ mode, task, prompt, results }: Assignment): Move {
  const inTurn = (...moves: Move[]) => moves[results.length] ?? result('pr_ready');
  if (mode === 'plan') return result('plan_complete', { plan: `1. Write it.\n2. Test it.` });
  if (mode === 'review') return verdict(task, prompt);
  if (task === 1 && prompt.includes('### A gate failed'))
    return inTurn(run(`sed -i 's|;$| / list.length;|' src/mean.mjs; node --test`));
  if (task === 1)
    return inTurn(
      write('src/mean.mjs', 'export const mean = (list) => list.reduce((sum, each) => sum + each, 0);\n'),
      write('test/mean.test.mjs', testOf('mean', 'equal(mean([2, 4]), 3)')),
    );
  if (mode === 'request_changes')
    return inTurn(
      run(
        "printf '%s\\n' 'export const largest = (list) => {' '  if (list.length === 0) throw new RangeError(\"empty\");'" +
          " '  return Math.max(...list);' '};' > src/largest.mjs",
      ),
    );
  return inTurn(
    write('src/largest.mjs', 'export const largest = (list) => Math.max(...list);\n'),
    write('test/largest.test.mjs', testOf('largest', 'equal(largest([1, 3]), 3)')),
  );
}

function verdict(task: number, prompt: string): Move {
  const isGood = task === 1 || prompt.includes('throw new RangeError');
  return isGood ? approved(prompt) : rejected(prompt, 'src/largest.mjs: an empty list gives -Infinity; it must throw.');
}

const criteriaIn = (prompt: string) => [...prompt.matchAll(/^- `([^`]+)`: /gm)].map(([, id]) => id);

const firstFileIn = (prompt: string) => /^- `([^`]+)`: \+/m.exec(prompt)?.[1];

/** Every criterion in the reviewer's prompt is met. */
export function approved(prompt: string): Move {
  const criteria = criteriaIn(prompt).map((id) => ({ id, met: true, evidence: `seen in ${firstFileIn(prompt)}` }));
  return result('approved', { review: { criteria, comments: [] } });
}

/** Only the first is. */
function rejected(prompt: string, comment: string): Move {
  const criteria = criteriaIn(prompt).map((id, index) => ({ id, met: index === 0, evidence: 'seen in the diff' }));
  return result('changes_requested', { review: { criteria, comments: [comment] } });
}
