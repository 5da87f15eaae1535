import { Duration, nearest, QuestionOption, QuestionType } from '@tidemill/contract';
import { z } from 'zod';
import { TRIGGER_NAMES } from './trigger.ts';

const Option = z.preprocess(
  (value) => (typeof value === 'string' ? { label: value } : value),
  z.strictObject({
    ...QuestionOption.shape,
    /** With `effect: unblock`: choosing it leaves the task blocked. */
    leaves: z.boolean().default(false),
  }),
);

const QuestionTemplate = z.strictObject({
  type: QuestionType,
  /** `{fact}` is replaced by the trigger's fact; `{{fact}}` produces the text `{fact}`. */
  text: z.string().trim().min(1, 'a question needs a text').max(5_000),
  context: z.string().trim().max(5_000).default(''),
  options: z.array(Option).max(20).default([]),
  allowFreeText: z.boolean().default(true),
  default: z.string().min(1).max(5_000).optional(),
  expiresAfter: Duration.optional(),
  reminderAfter: Duration.optional(),
  tags: z.array(z.string().min(1).max(100)).max(20).default([]),
  /** unblock: the answer restarts a blocked task. */
  effect: z.enum(['none', 'unblock']).default('none'),
});
export type QuestionTemplate = z.output<typeof QuestionTemplate>;

/** A fact and the range that it must be in for the questions to be asked. */
const Condition = z
  .strictObject({ fact: z.string().min(1), atLeast: z.number().optional(), atMost: z.number().optional() })
  .refine((condition) => condition.atLeast !== undefined || condition.atMost !== undefined, {
    message: 'needs atLeast or atMost',
  });
export type Condition = z.output<typeof Condition>;

const TriggerName = z.string().superRefine((name, context) => {
  if (TRIGGER_NAMES.includes(name)) return;
  const guess = nearest(name, TRIGGER_NAMES);
  const advice = guess ? `did you mean "${guess}"?` : `the triggers are ${TRIGGER_NAMES.join(', ')}`;
  context.addIssue({ code: 'custom', message: `unknown trigger "${name}"; ${advice}` });
});

const CatalogueEntry = z
  .strictObject({
    trigger: TriggerName,
    /** False keeps Tidemill from asking it. */
    enabled: z.boolean().default(true),
    /** The future part of Tidemill that will raise the event. Until then the entry is not used. */
    since: z.enum(['ideas', 'specs', 'gates', 'ux', 'memory', 'agents']).optional(),
    when: z.array(Condition).default([]),
    questions: z.array(QuestionTemplate).default([]),
  })
  .refine((entry) => !entry.enabled || entry.questions.length > 0, {
    message: 'needs questions, or enabled: false',
  });
export type CatalogueEntry = z.output<typeof CatalogueEntry>;

/** A file of the catalogue is a list. */
export const CatalogueFile = z.array(CatalogueEntry);
