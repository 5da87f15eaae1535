import { Mode } from '@tidemill/contract';
import { z } from 'zod';

/** One or several. */
const oneOrMore = <S extends z.ZodType>(schema: S) =>
  z.preprocess((value) => (Array.isArray(value) ? value : [value]), z.array(schema).min(1));

const Pattern = z
  .string()
  .min(1)
  .superRefine((source, context) => {
    try {
      new RegExp(source, 'iu');
    } catch (error) {
      context.addIssue({ code: 'custom', message: `is not a valid regular expression: ${(error as Error).message}` });
    }
  });
const Glob = z.string().min(1);
const AccessName = z.enum(['list', 'read', 'write', 'remove', 'enter']);

const When = z.strictObject({
  modes: oneOrMore(Mode).optional(),
  /** `own`: a person's own session, in which the person can be asked. `agent`: a run of Tidemill. */
  session: z.enum(['own', 'agent']).optional(),
  /** Globs, relative to the worktree; an absolute one or `~/…` is for places outside. */
  path: oneOrMore(Glob).optional(),
  /** True for paths outside the worktree. */
  outside: z.boolean().optional(),
  /** True for a path that is known only when the shell runs. */
  unknown: z.boolean().optional(),
  access: oneOrMore(AccessName).optional(),
  /** True for files that the call does not name and a search through everything would find. */
  swept: z.boolean().optional(),
  /** The size of the file when it is read as a whole, or of the text when it is written. */
  linesOver: z.number().int().positive().optional(),
  bytesOver: z.number().int().positive().optional(),
  /** Patterns for a shell command in plain form: one program and its words, `git push --force`. */
  command: oneOrMore(Pattern).optional(),
  /** True for shell code that cannot be parsed, or that runs text that is not known beforehand. */
  unclear: z.boolean().optional(),
  /** Patterns for text that a call adds to a file. */
  adds: oneOrMore(Pattern).optional(),
});

const Unless = z.strictObject({
  path: oneOrMore(Glob).optional(),
  command: oneOrMore(Pattern).optional(),
  /** True: allowed with the hash of a link of the project's evidence that says `pass`. */
  evidence: z.boolean().optional(),
});

const Rewrite = z.strictObject({
  /** Fields of the tool's input and the values they get. */
  set: z.record(z.string(), z.json()).default({}),
  /** A replacement within one text field. */
  replace: z.strictObject({ field: z.string().min(1), pattern: Pattern, with: z.string() }).optional(),
});

/** A rule about what an agent may do with a tool, as written in a file. */
const Guard = z
  .strictObject({
    name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'a guard name is lower-case letters, digits and -'),
    place: z.literal('pre_tool').default('pre_tool'),
    tools: oneOrMore(z.string().min(1)).optional(),
    when: When.default({}),
    unless: Unless.optional(),
    /** `ask`: the person decides; only in their own session. */
    verdict: z.enum(['deny', 'ask', 'rewrite', 'allow']),
    /** Shown to the agent; {path}, {command} and {worktree} are filled in. */
    reason: z.string().min(1, 'a guard needs a reason, which the agent reads'),
    rewrite: Rewrite.optional(),
    /** It refuses nothing: what it would refuse is recorded. */
    observe: z.boolean().default(false),
    /** For built-in guards: a project's own guard cannot override it. */
    final: z.boolean().default(false),
  })
  .superRefine((guard, context) => {
    if ((guard.verdict === 'rewrite') !== (guard.rewrite !== undefined)) {
      const message = 'goes with verdict: rewrite, and that with it';
      context.addIssue({ code: 'custom', path: ['rewrite'], message });
    }
    if (guard.verdict === 'ask' && guard.when.session !== 'own') {
      const message = 'ask goes with when: { session: own }, because nobody can be asked during a run';
      context.addIssue({ code: 'custom', path: ['verdict'], message });
    }
    if (guard.observe && guard.verdict !== 'deny')
      context.addIssue({ code: 'custom', path: ['observe'], message: 'goes with verdict: deny' });
  });
export type Guard = z.output<typeof Guard>;

/** A file of guards is a list. */
export const GuardFile = z.array(Guard);
