import type { ContextEntry, Criterion, EventBody, Project, Task, TaskEdit } from '@tidemill/contract';
import { findTask } from '../check-fence.ts';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { withdrawn } from '../question/answer.ts';
import { openQuestionsOf } from '../question/ask.ts';
import { whenAllAnswered } from '../question/effect.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { criteriaOf } from './criteria.ts';

/** Changes what is asked for. A running agent continues with the old text; the next run sees the change. */
export function editTask(slice: Slice, command: CommandOf<'task.edit'>): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task, project } = found;
  if (task.stage === 'done') return refuse('wrong_stage', `#${task.number} is done and landed`, 'add a new task');
  if (task.stage === 'cancelled')
    return refuse('wrong_stage', `#${task.number} is cancelled`, 'retry it first, so that it is open again');
  const { title = task.title, body = task.body, files = task.files, priority = task.priority } = command;
  const { validate = task.validate } = command;
  // A person approved the command. An agent that could change it would choose its own gate.
  if (validate !== task.validate && (command.by.kind === 'agent' || command.by.kind === 'engine'))
    return refuse(
      'forbidden',
      `only a person changes the validation of #${task.number}`,
      'ask the person to change it',
    );
  // Criteria that a reviewer derived from another text no longer hold; the next review derives them again.
  const isReworded = title !== task.title || body !== task.body;
  const stayed = isReworded ? { ...task, criteria: task.criteria.filter(({ isDerived }) => !isDerived) } : task;
  const wanted = { title, body, criteria: criteriaAfter(stayed, command), files, priority, validate };
  const changed = Object.entries(wanted).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(task[field as keyof typeof wanted]),
  );
  if (changed.length === 0) return accept();
  const edited: EventBody = { type: 'task.edited', taskId: task.id, by: command.by, ...Object.fromEntries(changed) };
  return accept(edited, ...(wanted.criteria.length > 0 ? noLongerAsked(slice, project, task) : []));
}

/** The task has criteria now, so the question about them is over. */
function noLongerAsked(slice: Slice, project: Project, task: Task): EventBody[] {
  const question = openQuestionsOf(slice, task.id).find(({ effect }) => effect.kind === 'criteria');
  if (!question) return [];
  const to = task.resumeStage ?? task.stage;
  const goOn = task.stage === 'needs_info' ? whenAllAnswered(slice, project, task, question, to) : [];
  return [withdrawn(question, 'the task has criteria now'), ...goOn];
}

/** A person's note for the next run of the task. */
export function noteTask(slice: Slice, command: CommandOf<'task.note'>, env: DecideEnv): Decision {
  const found = findTask(slice, command);
  if (!found.ok) return found;
  const { task } = found;
  if (task.stage === 'done')
    return refuse('wrong_stage', `#${task.number} is done, so no run will read the note`, 'add a new task');
  const entry: ContextEntry = {
    runId: null,
    source: 'person',
    entryType: 'note',
    summary: command.text,
    at: env.now,
    by: command.by,
  };
  return accept({ type: 'task.noted', taskId: task.id, entry });
}

/**
 * `accept` is the whole list; a changed body adds its new criteria and, unless there is a list, removes those it no
 * longer has. A criterion with unchanged text keeps its id and its verdict.
 */
function criteriaAfter(task: Task, { accept: given, body }: TaskEdit): Criterion[] {
  const before = criteriaOf(task.body, []);
  const after = body === undefined ? before : criteriaOf(body, []);
  const kept = given?.map(asCriterion) ?? without(task.criteria, without(before, after));
  const added = without(without(after, before), kept);
  const old = [...task.criteria];
  const known = [...kept, ...added].map((criterion) => {
    const at = old.findIndex(({ text }) => text === criterion.text);
    return at < 0 ? { criterion, stayed: null } : { criterion, stayed: old.splice(at, 1)[0]! };
  });
  const taken = new Set(known.flatMap(({ stayed }) => stayed?.id ?? []));
  // A running review refers to ids: an id must not get another text.
  if (task.lease) for (const { id } of task.criteria) taken.add(id);
  return known.map(({ criterion, stayed }) => {
    if (stayed) return stayed;
    const id = criterion.id && !taken.has(criterion.id) ? criterion.id : freeId(taken);
    taken.add(id);
    return { ...criterion, id };
  });
}

const asCriterion = (text: string): Criterion => ({ id: '', text, met: null, evidence: '' });

/** The entries of the first list whose text is not in the second. Each entry of the second matches once. */
function without(all: Criterion[], gone: Criterion[]): Criterion[] {
  const texts = gone.map(({ text }) => text);
  return all.filter(({ text }) => {
    const at = texts.indexOf(text);
    if (at >= 0) texts.splice(at, 1);
    return at < 0;
  });
}

function freeId(taken: Set<string>): string {
  let n = 1;
  while (taken.has(`C${n}`)) n += 1;
  return `C${n}`;
}
