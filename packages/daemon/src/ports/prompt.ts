import type { HilConfig, Job, JobMode, KnownLesson, Mode, OldChecks, Task, Trace } from '@tidemill/contract';
import type { ComingWork, Deciding, JudgedBy } from '@tidemill/core';
import type { ProvingCommand } from './gate.ts';
import type { Change } from './workspace.ts';

/** The prompt of an agent, with the settings from its template's head. */
export interface Briefing {
  prompt: string;
  /** An estimate. Only the vendor can count exactly. */
  promptTokens: number;
  /** Parts that were left out or cut to fit the token limit. */
  dropped: string[];
  model: string | null;
  tools: string[] | null;
  maxTurns: number | null;
  timeoutMs: number | null;
}

/** Another task that an agent should know about. */
export interface RelatedTask {
  relation: 'depends on' | 'needed by' | 'same files';
  number: number;
  title: string;
  stage: string;
  /** What it is about, in one line. */
  about: string;
  /** What its last builder said it did; empty before. */
  done: string;
  /** Files that it changed so far. */
  files: string[];
  isLanded: boolean;
}

/** What the agents of a task are told about the specification that it is a part of. */
export interface SpecContext {
  number: number;
  title: string;
  summary: string;
  architecture: string;
  scope: { in: string[]; out: string[] };
  /** In few lines; empty when it did not begin with an idea. */
  idea: string;
}

/** What the prompt of a job is made of, besides its input. */
export interface JobContext {
  hilConfig: HilConfig;
  /** The files of the target. */
  files: readonly string[];
  /** What people have answered about the subject. */
  answers: readonly { question: string; answer: string; by: string }[];
  /** What was learned that fits the subject. */
  lessons: readonly KnownLesson[];
  /** Texts for the mode's own placeholders; see `JOB_SECTIONS`. */
  sections: Readonly<Record<string, string>>;
}

/** The placeholders that a mode has besides the common ones. Its briefing gives their texts. */
export const JOB_SECTIONS = {
  trial: [],
  ideate: [
    'ideaRef',
    'ideaTitle',
    'phaseSection',
    'conversationSection',
    'signalsSection',
    'correctionsSection',
    'artifactsSection',
    'researchSection',
    'profileSection',
  ],
  specify: ['ideaSection', 'knowledgeSection', 'revisionSection', 'sizeSection'],
  initialize: ['ideaSection', 'knowledgeSection', 'revisionSection', 'sizeSection'],
  critique: ['draftSection'],
  judge: ['requirementsSection'],
  analyse: ['givenSection', 'workSection', 'askingSection'],
  propose: [
    'categoryName',
    'categoryText',
    'target',
    'recentCommitsSection',
    'openTasksSection',
    'openIssuesSection',
    'earlierProposalsSection',
    'stackSection',
  ],
  reflect: ['aboutTitle', 'factsSection'],
  prevent: ['aboutTitle', 'factsSection', 'assumptionSection', 'knownSection'],
  // The builder's prompt is used instead.
  replay: [],
} as const satisfies Record<JobMode, readonly string[]>;

/** Renders prompts from the templates. */
export interface Prompts {
  render(input: {
    task: Task;
    mode: Mode;
    target: string;
    diff: Change;
    /** Files of the change that control what gates check. */
    deciding: Deciding[];
    /** What the target's versions of them say about the new code. */
    oldChecks?: OldChecks | null;
    gates: string;
    /** The gates' commands, for builders. */
    proofs: ProvingCommand[];
    hilConfig: HilConfig;
    /** Conflicts that are foreseen, for modes that change files. */
    coming: ComingWork[];
    /** The most important last. Called only if the template shows them. */
    related(): Promise<RelatedTask[]>;
    /** What was learned about such work, the best first. */
    lessons?: readonly KnownLesson[];
    /** What happened in similar work, the nearest first; for modes that plan. */
    traces?: readonly Trace[];
    judgedBy: JudgedBy;
    /** Absent or null: the task is no part of one. */
    spec?: SpecContext | null;
    /** A text in place of the mode's template. */
    template?: string;
  }): Promise<Briefing>;
  /** The prompt of a job: the mode's template with the job's input and what its noun adds in it. */
  renderJob(job: Pick<Job, 'mode' | 'input'>, context: JobContext): Promise<Briefing>;
}

export interface CheckedPrompts extends Prompts {
  /** Throws what is wrong with a template of this mode, with its line. */
  check(mode: Mode, template: string): void;
}

/** The texts of prompts and categories, as files of the project: `.tidemill/agents/implement.md`. */
export interface PromptFiles {
  /** The project's own text, or the built-in one. */
  read(file: string): Promise<string>;
  write(file: string, text: string): Promise<void>;
}
