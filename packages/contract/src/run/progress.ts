import { z } from 'zod';

/** A step of an agent's own to-do list. */
export const TodoItem = z.object({ text: z.string(), status: z.enum(['pending', 'active', 'done']) });
export type TodoItem = z.infer<typeof TodoItem>;

/** Null when it is not known. It is never estimated. */
const percent = z.number().nullable();
/** Requests to the model, of the most that the run may make. */
const turns = z.object({ used: z.number(), limit: z.number() });
/** Tools used so far, and the one that is running. */
const tools = z.object({ used: z.number(), current: z.string().nullable() });
const todo = z.array(TodoItem);

/** How far a run is, as its agent shows it. What an agent does not show is null or empty. */
export const RunProgress = z.object({
  percent,
  text: z.string(),
  turns: turns.nullable().default(null),
  tools: tools.nullable().default(null),
  todo: todo.default([]),
});
export type RunProgress = z.infer<typeof RunProgress>;
/** As an event carries it: a list or count that is left out has not changed. */
export const ProgressChange = z.object({
  percent,
  text: z.string(),
  turns: turns.optional(),
  tools: tools.optional(),
  todo: todo.optional(),
});
export type ProgressChange = z.infer<typeof ProgressChange>;
/** What an agent reports: only what it knows, or what has changed. */
export type ProgressReport = Partial<ProgressChange>;

export const NO_PROGRESS: RunProgress = { percent: null, text: '', turns: null, tools: null, todo: [] };

/** A step that begins with the id of a criterion: a reviewer's list has one for each. */
const CRITERION = /^(?:C\d+|AC-\d+(?:\.\d+)*(?:\.[a-z])?)(?![\w-])/;

/** What is done of a to-do list: `3 of 5 criteria` where it lists criteria, else `3 of 7 steps`. Empty without a list. */
export function todoWords(todo: readonly TodoItem[]): string {
  const criteria = todo.filter(({ text }) => CRITERION.test(text));
  const [listed, name] = criteria.length > 0 ? [criteria, 'criteria'] : [todo, 'steps'];
  const done = listed.filter(({ status }) => status === 'done').length;
  return listed.length === 0 ? '' : `${done} of ${listed.length} ${name}`;
}

/** Progress in a few words: `3 of 7 steps · turn 12 of 200 · 30 tools`. Empty when nothing is known. */
export function progressWords({ percent, turns, tools, todo }: RunProgress): string {
  const parts = [
    ...(todo.length > 0 ? [todoWords(todo)] : percent === null ? [] : [`${Math.round(percent)} %`]),
    ...(turns ? [`turn ${turns.used} of ${turns.limit}`] : []),
    ...(tools ? [`${tools.used} ${tools.used === 1 ? 'tool' : 'tools'}`] : []),
  ];
  return parts.join(' · ');
}
