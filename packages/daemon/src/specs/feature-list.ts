import { AppError, type ImportedTask, plainLine, plainText } from '@tidemill/contract';
import { z } from 'zod';

/** A feature as in a `feature-list.json`. Other fields are ignored. */
const Feature = z.object({
  id: z.coerce.string().optional(),
  name: z.string().optional(),
  title: z.string().optional(),
  description: z.string().default(''),
  category: z.string().optional(),
  status: z.string().default('pending'),
  tested: z.boolean().optional(),
  passes: z.boolean().optional(),
  priority: z.union([z.number(), z.string()]).optional(),
  steps: z.array(z.string()).default([]),
  acceptance_criteria: z.array(z.string()).optional(),
  acceptanceCriteria: z.array(z.string()).optional(),
  dependencies: z.array(z.coerce.string()).optional(),
  depends_on: z.array(z.coerce.string()).optional(),
});
type Feature = z.infer<typeof Feature>;
const FeatureList = z.union([
  z.array(Feature),
  z.object({ features: z.array(Feature) }).transform(({ features }) => features),
]);

const FINISHED = ['completed', 'complete', 'done', 'passed'];
const WORDS: Record<string, number> = { critical: 0, high: 1, medium: 2, low: 3 };
const LONGEST_TITLE = 300;

/** The features that are not finished, as tasks. `tested: true` without work of Tidemill is no evidence, but a person's word. */
export function featureTasks(name: string, text: string): { tasks: ImportedTask[]; finished: number } {
  const features = parse(name, text);
  const open = features.filter((feature) => !isFinished(feature));
  const keys = new Set(open.flatMap(({ id }) => id ?? []));
  const tasks = open.map((feature): ImportedTask => {
    const title = plainLine(feature.title ?? feature.name ?? feature.description.split('\n')[0] ?? '').slice(
      0,
      LONGEST_TITLE,
    );
    const criteria = feature.acceptance_criteria ?? feature.acceptanceCriteria ?? feature.steps;
    return {
      ...(feature.id === undefined ? {} : { key: feature.id }),
      title: title || `Feature ${feature.id ?? ''}`.trim(),
      body: plainText(
        [feature.description, feature.category ? `Category: ${feature.category}` : ''].filter(Boolean).join('\n\n'),
      ),
      accept: criteria.filter((each) => each.trim() !== ''),
      after: (feature.dependencies ?? feature.depends_on ?? []).filter((id) => keys.has(id)),
      priority: priorityOf(feature.priority),
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
  const read = FeatureList.safeParse(content);
  if (read.success) return read.data;
  throw new AppError('bad_input', `${name} is not a list of features: ${z.prettifyError(read.error).split('\n')[0]}`, {
    hint: 'It is a list, or {"features": […]}; each feature has a name or a description, and a status or "passes".',
  });
}

const isFinished = ({ status, tested, passes }: Feature) =>
  passes === true || tested === true || FINISHED.includes(status.toLowerCase());

function priorityOf(given: Feature['priority']): number {
  if (typeof given === 'string') return WORDS[given.toLowerCase()] ?? 2;
  return given === undefined ? 2 : Math.min(4, Math.max(0, Math.round(given)));
}
