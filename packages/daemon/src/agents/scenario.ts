import { MODE_NAMES, type ModeName } from '@tidemill/contract/modes';
import { parse } from 'yaml';
import { z } from 'zod';

/**
 * A scenario: what the scripted agent does in which run. YAML or JSON.
 *
 *   runs:                          # the first rule that fits is played
 *     - when: { task: 3, mode: implement, attempt: 1 }      # task: a number, or a part of the title
 *       do:
 *         - write: { path: src/sum.js, content: "export const sum = (a, b) => a + b;\n" }
 *         - run: npm test
 *         - spend: { inputTokens: 1200, outputTokens: 300, costUsd: 0.02 }
 *         - result: { summary: "adds sum" }
 *     - when: { mode: request_changes, feedback: "rounding" }   # a part of any feedback; true: some, false: none
 *       do: [ { edit: { path: src/sum.js, find: "a + b", replace: "Math.round(a + b)" } }, { result: {} } ]
 *     - when: { mode: ideate, prompt: "a part of the prompt" }
 *       do: [ { result: { ideation: { reply: "Who would use it?" } } } ]
 *   default:                       # by mode, when no rule fits
 *     review: [ { result: { approve: true } } ]
 *
 * `{taskNumber}`, `{taskTitle}`, `{mode}` and `{attempt}` in paths, contents and commands stand for the run's own.
 * Without a rule and a default, plan, investigate, review and critique succeed; implement and request_changes end without a
 * result, which is a failed run.
 */

// Not the contract's schema: loading all of the contract would take longer than everything else the player does.
const PlayedMode = z.enum(MODE_NAMES);

/** `- hang:` says as much as `- hang: {}`. */
const orNothing = <T extends z.ZodType>(schema: T) => z.preprocess((value) => value ?? {}, schema).optional();
/** `- run: npm test` says as much as `- run: { command: npm test }`. */
const orShort = <T extends z.ZodType>(key: string, schema: T) =>
  z.preprocess((value) => (typeof value === 'object' ? value : { [key]: value }), schema).optional();

const path = z.string().min(1);

const ResultStep = z.strictObject({
  /** The mode's own success when left out: pr_ready, plan_complete, investigation_complete, approved. */
  outcome: z.string().optional(),
  summary: z.string().default('scripted'),
  plan: z.string().optional(),
  planSummary: z.string().optional(),
  investigationSummary: z.string().optional(),
  subtasks: z.array(z.string()).optional(),
  review: z.unknown().optional(),
  open_questions: z.array(z.unknown()).optional(),
  decisions: z.array(z.string()).optional(),
  unresolved: z.array(z.string()).optional(),
  discoveries: z.array(z.string()).optional(),
  declares: z.union([z.array(z.string()), z.record(z.string(), z.array(z.string()))]).optional(),
  /** Results of jobs, as they are. */
  ideation: z.unknown().optional(),
  spec: z.unknown().optional(),
  critique: z.unknown().optional(),
  judgement: z.unknown().optional(),
  analysis: z.unknown().optional(),
  proposal: z.unknown().optional(),
  reflection: z.unknown().optional(),
  prevention: z.unknown().optional(),
  /** Review: every criterion met. */
  approve: z.boolean().optional(),
  /** Review: the first criterion is not met, and this is why. */
  reject: z.string().optional(),
});
export type ResultStep = z.infer<typeof ResultStep>;

const Step = z
  .strictObject({
    write: z.strictObject({ path, content: z.string() }).optional(),
    append: z.strictObject({ path, content: z.string() }).optional(),
    edit: z.strictObject({ path, find: z.string().min(1), replace: z.string() }).optional(),
    delete: orShort('path', z.strictObject({ path })),
    run: orShort('command', z.strictObject({ command: z.string().min(1) })),
    say: orShort('text', z.strictObject({ text: z.string() })),
    think: orShort('ms', z.strictObject({ ms: z.number().nonnegative() })),
    spend: z
      .strictObject({
        inputTokens: z.number().default(0),
        outputTokens: z.number().default(0),
        costUsd: z.number().nullable().default(null),
      })
      .optional(),
    progress: z
      .strictObject({
        percent: z.number().optional(),
        text: z.string().default(''),
        todo: z.array(z.strictObject({ text: z.string(), status: z.enum(['pending', 'active', 'done']) })).optional(),
      })
      .optional(),
    /** Resolves conflict markers, keeping both sides. */
    resolve: orNothing(z.strictObject({ paths: z.array(path).optional() })),
    result: orNothing(ResultStep),
    /** Ends the run with questions; with `goOn` they are asked on the way, and the run goes on. */
    ask: z
      .strictObject({
        questions: z.array(z.union([z.string().min(1), z.looseObject({ text: z.string().min(1) })])).min(1),
        goOn: z.boolean().default(false),
      })
      .optional(),
    fail: orShort('message', z.strictObject({ message: z.string() })),
    /** Never ends; `stubborn` also ignores the request to. */
    hang: orNothing(z.strictObject({ stubborn: z.boolean().default(false) })),
    crash: orNothing(
      z.strictObject({ exitCode: z.number().int().min(1).max(255).default(1), signal: z.string().optional() }),
    ),
    /** Claims to be ready without having done anything. */
    lie: orNothing(z.strictObject({})),
    /** Plants a made-up receipt, prints a made-up verdict and claims to be ready. */
    forge: orNothing(z.strictObject({ path: path.default('.tidemill/evidence.json') })),
  })
  .refine((step) => Object.keys(step).length === 1, 'a step is one action, such as `- say: hello`');
export type Step = z.infer<typeof Step>;

const When = z.strictObject({
  task: z.union([z.number().int(), z.string().min(1)]).optional(),
  mode: PlayedMode.optional(),
  attempt: z.number().int().optional(),
  stage: z.string().optional(),
  feedback: z.union([z.string(), z.boolean()]).optional(),
  /** A part of the prompt. */
  prompt: z.string().optional(),
});

const Scenario = z.strictObject({
  runs: z.array(z.strictObject({ when: When.default({}), do: z.array(Step) })).default([]),
  default: z.partialRecord(PlayedMode, z.array(Step)).default({}),
});
export type Scenario = z.infer<typeof Scenario>;

/** What a scenario needs to know of the brief on the player's standard input. */
export const PlayedBrief = z.object({
  mode: PlayedMode,
  prompt: z.string().default(''),
  task: z
    .object({
      number: z.number(),
      title: z.string(),
      stage: z.string(),
      acceptance: z.array(z.object({ id: z.string(), text: z.string().default('') })),
    })
    .nullable(),
  attempt: z.number(),
  feedback: z.array(z.object({ kind: z.string(), text: z.string(), files: z.array(z.string()).default([]) })),
  shown: z.object({ files: z.array(z.string()) }).optional(),
});
export type PlayedBrief = z.infer<typeof PlayedBrief>;

export function parseScenario(text: string, file: string): Scenario {
  const scenario = Scenario.safeParse(parse(text) ?? {});
  if (scenario.success) return scenario.data;
  throw new Error(`the scenario ${file} is not valid:\n${z.prettifyError(scenario.error)}`);
}

export function stepsFor(scenario: Scenario, brief: PlayedBrief): Step[] {
  const rule = scenario.runs.find(({ when }) => fits(when, brief));
  return rule?.do ?? scenario.default[brief.mode] ?? usualSteps(brief.mode);
}

function fits(when: z.infer<typeof When>, brief: PlayedBrief): boolean {
  const { task, mode, attempt, stage, feedback, prompt } = when;
  if (prompt !== undefined && !brief.prompt.includes(prompt)) return false;
  if (typeof task === 'number' && task !== brief.task?.number) return false;
  if (typeof task === 'string' && !brief.task?.title.toLowerCase().includes(task.toLowerCase())) return false;
  if (mode !== undefined && mode !== brief.mode) return false;
  if (attempt !== undefined && attempt !== brief.attempt) return false;
  if (stage !== undefined && stage !== brief.task?.stage) return false;
  if (typeof feedback === 'boolean') return feedback === brief.feedback.length > 0;
  return feedback === undefined || brief.feedback.some(({ text }) => text.includes(feedback));
}

const USUAL: Partial<Record<ModeName, z.infer<typeof ResultStep>>> = {
  plan: { summary: 'planned', plan: 'Make the change, then test it.', planSummary: 'One step.' },
  plan_revision: { summary: 'planned', plan: 'Make the change, then test it.', planSummary: 'One step.' },
  investigate: { summary: 'investigated', plan: 'Found the cause.', investigationSummary: 'Cause found.' },
  review: { summary: 'every criterion is met', approve: true },
  critique: { summary: 'no findings', critique: { findings: [] } },
};

function usualSteps(mode: ModeName): Step[] {
  const result = USUAL[mode];
  return [result ? { result } : { say: { text: 'the scenario has no rule for this run' } }];
}
