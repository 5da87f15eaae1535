/** A request to a model in one form for all protocols: its messages, newest last. */
export interface Told {
  /** Words of a person or of the program around the model, and what the model's tools answered. */
  entries: { kind: 'words' | 'tool'; text: string }[];
}

/** The assignment a request is about: the newest prompt in it, and what came after. */
export interface Assignment {
  mode: (typeof MODES)[keyof typeof MODES] | (typeof JOBS)[keyof typeof JOBS];
  /** 0 for a job. */
  task: number;
  prompt: string;
  /** What the tools have answered since the prompt. */
  results: string[];
  /** What else was said since the prompt, such as why it may not stop yet. */
  since: string;
  /** How many prompts the session has had, this one included: more than one when it was resumed. */
  prompts: number;
}

/** What a model does, independent of the protocol; or what its server does instead of answering. */
export type Move =
  | { kind: 'write'; file: string; content: string; tokens?: Tokens }
  | { kind: 'run'; command: string; tokens?: Tokens }
  /** A tool of Tidemill's MCP server, or of another one. */
  | { kind: 'ask'; tool: string; input: Record<string, unknown>; server?: string; tokens?: Tokens }
  /** `say`: words before it. */
  | { kind: 'result'; envelope: Record<string, unknown>; say?: string; tokens?: Tokens }
  | { kind: 'trouble'; what: Trouble }
  /** The answer begins and never ends. */
  | { kind: 'silence' };

/** `cached` is a part of `input`. */
export interface Tokens {
  input: number;
  cached: number;
  output: number;
}
/** A limit that is over after so many seconds or at that epoch second, or what a server says without a time. */
export type Trouble =
  | 'auth'
  | 'credit'
  | 'broken'
  | 'too_long'
  | { rateLimitSeconds: number }
  | { limitedUntil: number };

/** What was sent with an answer, and for which task. */
export interface Sent extends Tokens {
  task: number;
}
export const USUAL_TOKENS: Tokens = { input: 100, cached: 20, output: 10 };

export const write = (file: string, content: string): Move => ({ kind: 'write', file, content });
export const run = (command: string): Move => ({ kind: 'run', command });
export const ask = (tool: string, input: Record<string, unknown>): Move => ({ kind: 'ask', tool, input });
export const result = (outcome: string, more: Record<string, unknown> = {}): Move => ({
  kind: 'result',
  envelope: { outcome, summary: `${outcome}, as told`, ...more },
});

/** The same move, with this usage. */
export const withTokens = (move: Move, tokens: Tokens): Move =>
  move.kind === 'trouble' || move.kind === 'silence' ? move : { ...move, tokens };

/** How every prompt of Tidemill's begins. */
const HEADING =
  /^# (?:(Plan|Investigate|Implement|Rework|Review)\b[^\n]*task #(\d+)|(Idea|Write|Read|Check|File|Propose) )/m;
/** The first words of the prompts of jobs. */
const JOBS = {
  ...({ Idea: 'ideate', Write: 'specify', Read: 'critique', Check: 'judge' } as const),
  ...({ File: 'analyse', Propose: 'propose' } as const),
};
const MODES = {
  ...({ Plan: 'plan', Investigate: 'investigate', Implement: 'implement' } as const),
  ...({ Rework: 'request_changes', Review: 'review' } as const),
};

/** What a request is about, by its newest prompt of Tidemill's; null for titles and the like. */
export function assignmentOf({ entries }: Told): Assignment | null {
  const at = entries.findLastIndex(({ kind, text }) => kind === 'words' && HEADING.test(text));
  if (at === -1) return null;
  const prompt = entries[at]!.text;
  const [, mode, task, job] = HEADING.exec(prompt)!;
  const after = entries.slice(at + 1);
  const texts = (kind: 'words' | 'tool') => after.filter((entry) => entry.kind === kind).map(({ text }) => text);
  return {
    mode: job === undefined ? MODES[mode as keyof typeof MODES] : JOBS[job as keyof typeof JOBS],
    task: Number(task ?? 0),
    prompt,
    results: texts('tool'),
    since: texts('words').join('\n'),
    prompts: entries.filter(({ kind, text }) => kind === 'words' && HEADING.test(text)).length,
  };
}
