import { AppError, type ImportedTask, nearest, plainLine, plainText, strictObjectWithHints } from '@tidemill/contract';
import { z } from 'zod';

/** A feature as in a `feature-list.json`. Its evidence and its tries are from elsewhere, and are not taken over. */
const Feature = strictObjectWithHints(
  {
    id: z.coerce.string().optional(),
    name: z.string().optional(),
    title: z.string().optional(),
    description: z.string().default(''),
    category: z.string().optional(),
    notes: z.string().default(''),
    status: z.string().default('pending'),
    tested: z.boolean().optional(),
    passes: z.boolean().optional(),
    priority: z.union([z.number(), z.string()]).optional(),
    steps: z.array(z.string()).default([]),
    acceptance_criteria: z.array(z.string()).optional(),
    acceptanceCriteria: z.array(z.string()).optional(),
    dependencies: z.array(z.coerce.string()).optional(),
    depends_on: z.array(z.coerce.string()).optional(),
    evidence: z.unknown().optional(),
    retry: z.unknown().optional(),
    retries: z.unknown().optional(),
  },
  { criteria: 'acceptance_criteria', accept: 'acceptance_criteria', after: 'depends_on', details: 'description' },
);
type Feature = z.infer<typeof Feature>;
const FeatureList = z.object({ features: z.array(Feature) });

const FINISHED = ['completed', 'complete', 'done', 'passed'];
const UNFINISHED = ['pending', 'open', 'todo', 'not_started', 'in_progress', 'failed', 'failing', 'blocked'];
const WORDS: Record<string, number> = { critical: 0, high: 1, medium: 2, low: 3 };
const LONGEST_TITLE = 300;

/** The features that are not finished, as tasks. `tested: true` without work of Tidemill is no evidence, but a person's word. */
export function featureTasks(name: string, text: string): { tasks: ImportedTask[]; finished: number } {
  const features = parse(name, text);
  const faults = faultsIn(features);
  if (faults.length > 0) throw refused(name, faults);
  const open = features.filter((feature) => !isFinished(feature));
  const keys = new Set(open.flatMap(({ id }) => id ?? []));
  const tasks = open.map((feature): ImportedTask => {
    const { id, description, category, notes, priority } = feature;
    const criteria = feature.acceptance_criteria ?? feature.acceptanceCriteria ?? feature.steps;
    return {
      ...(id === undefined ? {} : { key: id }),
      title: titleOf(feature),
      body: plainText([description, notes, category ? `Category: ${category}` : ''].filter(Boolean).join('\n\n')),
      accept: criteria.filter((each) => each.trim() !== ''),
      after: dependenciesOf(feature).filter((each) => keys.has(each)),
      priority: priority === undefined ? 2 : priorityOf(priority)!,
    };
  });
  return { tasks, finished: features.length - open.length };
}

function parse(name: string, text: string): Feature[] {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new AppError('bad_input', `${name} is not JSON: ${cause instanceof Error ? cause.message : cause}`, {
      cause,
    });
  }
  const read = FeatureList.safeParse(Array.isArray(content) ? { features: content } : content);
  if (read.success) return read.data.features;
  const isList = read.error.issues.every(({ path }) => path.length > 1);
  if (isList) throw refused(name, read.error.issues.map(issueText));
  throw new AppError('bad_input', `${name} is not a list of features`, { hint: FORM });
}

const FORM = 'It is a list, or {"features": […]}; each feature has a name or a description, and a status or "passes".';
const MOST_FAULTS = 20;

const refused = (name: string, faults: string[]) =>
  new AppError('bad_input', `${name}: ${faults.slice(0, MOST_FAULTS).join('; ')}`, { hint: FORM });

function issueText({ path: [, at, ...rest], message }: z.core.$ZodIssue): string {
  return `${placeOf(Number(at))}${rest.length > 0 ? `, ${rest.join('.')}` : ''}: ${message}`;
}

const placeOf = (at: number, id?: string) => `feature ${at + 1}${id === undefined ? '' : ` ("${plainLine(id)}")`}`;

/** What the form does not show. */
function faultsIn(features: Feature[]): string[] {
  const ids = new Set<string>();
  const known = new Set(features.flatMap(({ id }) => id ?? []));
  return features.flatMap((feature, at) => {
    const { id, status, priority } = feature;
    const faults: string[] = [];
    if (titleOf(feature) === '') faults.push('it has no name: add "name", "title" or "description"');
    if (id !== undefined && ids.has(id)) faults.push('another feature has the same id');
    if (id !== undefined) ids.add(id);
    for (const other of dependenciesOf(feature))
      if (!known.has(other)) faults.push(`it depends on "${plainLine(other)}", which is not in the list`);
    const states = [...FINISHED, ...UNFINISHED];
    if (!states.includes(status.toLowerCase()))
      faults.push(`unknown status "${plainLine(status)}"; ${meant(status, states)}`);
    if (priority !== undefined && priorityOf(priority) === undefined)
      faults.push(`unknown priority "${plainLine(String(priority))}"; use 0 to 4, or ${Object.keys(WORDS).join(', ')}`);
    return faults.map((fault) => `${placeOf(at, id)}: ${fault}`);
  });
}

function meant(word: string, known: string[]): string {
  const guess = nearest(word, known);
  return guess ? `did you mean "${guess}"?` : `use one of ${known.join(', ')}`;
}

const titleOf = ({ title, name, description }: Feature): string =>
  plainLine(title || name || description.trim().split('\n')[0] || '').slice(0, LONGEST_TITLE);

const dependenciesOf = ({ dependencies, depends_on }: Feature) => dependencies ?? depends_on ?? [];

const isFinished = ({ status, tested, passes }: Feature) =>
  passes === true || tested === true || FINISHED.includes(status.toLowerCase());

/** Undefined when it is not a priority. */
function priorityOf(given: number | string): number | undefined {
  if (typeof given === 'number') return Math.min(4, Math.max(0, Math.round(given)));
  return /^\d$/.test(given) ? Math.min(4, Number(given)) : WORDS[given.toLowerCase()];
}
