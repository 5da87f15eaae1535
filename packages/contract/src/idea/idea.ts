import { z } from 'zod';
import { Actor } from '../access/actor.ts';
import { recordKind } from '../record/kind.ts';
import { PlainLine, PlainText } from '../text/plain-text.ts';

export const IDEA_PHASES = ['EXPLORING', 'NARROWING', 'VALIDATING', 'REFINING', 'COMPLETE'] as const;
export const IdeaPhase = z.enum(IDEA_PHASES);
export type IdeaPhase = z.infer<typeof IdeaPhase>;

export const IdeaStatus = z.enum(['active', 'paused', 'archived', 'complete']);
export type IdeaStatus = z.infer<typeof IdeaStatus>;

/** The longest message of a person, and the longest reply. */
export const MAX_MESSAGE_LENGTH = 20_000;
const MAX_CONTENT_LENGTH = 50_000;
const MAX_SUMMARY_LENGTH = 2_000;
/** An idea keeps at most this many of each: artifacts, decisions, risks. */
export const MAX_SIGNALS = 100;

export const MessageText = PlainText.trim()
  .min(1, 'a message needs a text')
  .max(
    MAX_MESSAGE_LENGTH,
    `a message has at most ${MAX_MESSAGE_LENGTH.toLocaleString('en-US')} characters; put longer text into a file of the repository and name the file`,
  );

const Confidence = z.number().min(0).max(1);
const asType = (value: string) =>
  value
    .trim()
    .toLowerCase()
    .replace(/[\s_]+/g, '-');

/** `target-user`, `problem`, `brief`: it is also the name of the artifact's file. */
const ArtifactType = z
  .string()
  .overwrite(asType)
  .regex(/^[a-z][a-z0-9-]{0,39}$/, 'is lower-case letters, digits and -, such as target-user')
  .refine((type) => type !== 'readme', 'readme is the name of the overview; choose another type');

const artifactFields = {
  type: ArtifactType,
  summary: PlainText.trim().max(MAX_SUMMARY_LENGTH).default(''),
  content: PlainText.trim().max(MAX_CONTENT_LENGTH).default(''),
  confidence: Confidence.default(0.5),
};
const SignalText = PlainText.trim().min(1, 'needs a text').max(MAX_SUMMARY_LENGTH);
const decisionFields = { type: ArtifactType.default('decision'), text: SignalText };
const Severity = z.enum(['low', 'medium', 'high']);
const riskFields = { text: SignalText, severity: Severity.default('medium') };
/** A bare text is the signal with its other fields left out. */
const orText = <S extends z.ZodType>(schema: S) =>
  z.union([
    schema,
    z
      .string()
      .transform((text) => ({ text }))
      .pipe(schema as unknown as z.ZodType<z.output<S>, { text: string }>),
  ]);

/** What the ideation agent returns. A person's corrections win over its signals. */
export const IdeaReply = z.object({
  /** Markdown for the person. */
  reply: PlainText.trim().min(1, 'the person needs a reply').max(MAX_MESSAGE_LENGTH),
  /** A short name for the idea. */
  title: PlainLine.max(200).optional(),
  signals: z
    .object({
      artifacts: z.array(z.object(artifactFields)).max(30).default([]),
      decisions: z
        .array(orText(z.object(decisionFields)))
        .max(30)
        .default([]),
      risks: z
        .array(orText(z.object(riskFields)))
        .max(30)
        .default([]),
      /** In the whole idea. Left out: as before. */
      confidence: Confidence.optional(),
    })
    .prefault({}),
  /** How much it takes to build, from 0 to 10. */
  complexity: z.number().min(0).max(10).default(0),
  /** What to search for. Needs a search provider in the config. */
  wantsResearch: z
    .array(
      PlainLine.min(1)
        .max(200)
        .refine(
          (area) => !area.trimStart().startsWith('-'),
          'begins with a word, not with -: it is passed to a program',
        ),
    )
    .max(5)
    .default([]),
});
export type IdeaReply = z.infer<typeof IdeaReply>;

/** A person has written or changed it: replies of the agent leave it as it is. */
const corrected = { correctedBy: Actor.nullable() };

export const IdeaArtifact = z.object({ ...artifactFields, ...corrected, at: z.number() });
export type IdeaArtifact = z.infer<typeof IdeaArtifact>;
export const IdeaDecision = z.object({ id: z.string(), ...decisionFields, ...corrected, at: z.number() });
export type IdeaDecision = z.infer<typeof IdeaDecision>;
export const IdeaRisk = z.object({ id: z.string(), ...riskFields, ...corrected, at: z.number() });
export type IdeaRisk = z.infer<typeof IdeaRisk>;

/** What a person writes in place of a signal, or in addition to them. */
export const IdeaCorrection = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('artifact'), ...artifactFields, confidence: Confidence.default(1) }),
  /** Without an id it is a new one. */
  z.strictObject({ kind: z.literal('decision'), id: z.string().optional(), ...decisionFields }),
  z.strictObject({ kind: z.literal('risk'), id: z.string().optional(), ...riskFields }),
  z.strictObject({ kind: z.literal('confidence'), value: Confidence }),
]);
export type IdeaCorrection = z.infer<typeof IdeaCorrection>;

export const SignalKind = z.enum(['artifact', 'decision', 'risk', 'confidence']);
export type SignalKind = z.infer<typeof SignalKind>;

/** Searches that the agent wants. wanted: a person is asked, or the search is under way. */
export const IdeaResearch = z.object({
  areas: z.array(z.string()),
  status: z.enum(['wanted', 'done', 'skipped', 'failed', 'off']),
  why: z.string().default(''),
  at: z.number(),
});

export const Idea = z.object({
  noun: z.literal('idea'),
  id: z.string(),
  projectId: z.string(),
  /** Its name for people: I3. */
  number: z.number().int(),
  title: z.string(),
  /** Of its branch and its folder. */
  slug: z.string(),
  status: IdeaStatus,
  phase: IdeaPhase,
  artifacts: z.array(IdeaArtifact),
  decisions: z.array(IdeaDecision),
  risks: z.array(IdeaRisk),
  confidence: z.number(),
  confidenceBy: Actor.nullable(),
  complexity: z.number(),
  /** Signals that a person removed: replies do not bring them back. */
  removed: z.array(z.string()),
  /** The idea whose conversation it continues, up to a message, and the phase in which it began. */
  forkedFrom: z
    .object({ ideaId: z.string(), number: z.number().int(), upTo: z.number().int(), phase: IdeaPhase })
    .nullable(),
  /** The job that writes the next reply. */
  jobId: z.string().nullable(),
  messageCount: z.number().int(),
  /** The last message that the current reply knows. */
  briefedUpTo: z.number().int(),
  /** Something came that no reply has answered. */
  hasNews: z.boolean(),
  /** Why there is no reply to the last message. */
  failure: z.string().nullable(),
  research: IdeaResearch.nullable(),
  by: Actor,
  createdAt: z.number(),
  changedAt: z.number(),
});
export type Idea = z.infer<typeof Idea>;

/** One message of a conversation. Its id is `ideaMessageId`. */
export const IdeaMessage = z.object({
  noun: z.literal('message'),
  id: z.string(),
  projectId: z.string(),
  ideaId: z.string(),
  number: z.number().int(),
  role: z.enum(['person', 'agent']),
  by: Actor,
  text: z.string(),
  phase: IdeaPhase,
  /** The run that wrote it. */
  runId: z.string().nullable(),
  at: z.number(),
});
export type IdeaMessage = z.infer<typeof IdeaMessage>;

/** Messages are found by their number, so that a long conversation is read in parts. */
export const ideaMessageId = (ideaId: string, number: number) => `${ideaId}/${String(number).padStart(6, '0')}`;
export const ideaRef = (number: number) => `I${number}`;

export const ideaKind = recordKind(Idea, ({ projectId, status }) => ({
  parent: projectId,
  isOpen: status === 'active' || status === 'paused',
  dueAt: null,
}));
export const messageKind = recordKind(IdeaMessage, ({ ideaId }) => ({ parent: ideaId, isOpen: false, dueAt: null }));

const RESULT_LINE = /^\s*(```json|\{\s*("(tidemill|outcome)"|$))/;
const CALL_LINE = /^> [A-Za-z]\w*: /;

/** The part of a run's output that is the reply: without tool calls, what they returned, and the result. */
export function replyInOutput(output: string): string {
  const lines: string[] = [];
  let isCall = false;
  for (const line of output.split('\n')) {
    if (RESULT_LINE.test(line)) break;
    isCall = CALL_LINE.test(line) || (isCall && /^( {2}|! )/.test(line));
    if (!isCall) lines.push(line);
  }
  return lines.join('\n').trim();
}
