import type { ContextEntry, Feedback, Task } from '@tidemill/contract';
import type { RelatedTask } from '../ports.ts';
import type { PromptPart } from './budget.ts';
import { lessonsSection, lessonText } from './lessons.ts';
import { relatedSection, relatedText } from './related.ts';
import { notesSection, type RepositoryNote } from './repository-notes.ts';
import type { FixedPlaceholder, PromptInput } from './sections.ts';
import { specPart } from './spec-section.ts';
import type { Placeholder, Template } from './template.ts';
import { codeBlock, section } from './text.ts';
import { tracesSection, traceText } from './traces.ts';

const RECENT_CONTEXT = 5;
const MOST_CONTEXT = 20;

/** When a prompt is too long, the last of these is cut first. */
const PRIORITY = {
  task: 1,
  feedback: 0.95,
  lessons: 0.95,
  spec: 0.9,
  plan: 0.9,
  conventions: 0.85,
  recentContext: 0.8,
  related: 0.75,
  readme: 0.7,
  olderContext: 0.5,
};

export type PartName = Exclude<Placeholder, FixedPlaceholder> | 'recentContext' | 'olderContext';

/** What the prompt says about the surroundings of the task. */
export interface PromptSurroundings {
  conventions: RepositoryNote[];
  readme: RepositoryNote | null;
  related: RelatedTask[];
}

/** All parts that may be cut. A person's comments on a plan have their own section if the template shows it. */
export function partsOf(
  input: PromptInput,
  around: PromptSurroundings,
  uses: Template['uses'],
): Record<PartName, PromptPart> {
  const { task } = input;
  const isApart = uses.has('planCommentsSection');
  const comments = task.feedback.filter((entry) => isApart && entry.kind === 'person');
  const feedback = task.feedback.filter((entry) => !comments.includes(entry));
  const times = (name: Placeholder) => uses.get(name) ?? 0;
  const { plan, feedback: urgent } = PRIORITY;
  return {
    diffSection: {
      // A piece for each file: when space is short, all long pieces are cut, so no file displaces another.
      name: 'the change',
      priority: PRIORITY.task,
      pieces: input.diff.sections,
      times: times('diffSection'),
      shape: (sections) =>
        section('The change', [codeBlock(sections.map((each) => each.replace(/\n*$/, '\n')).join(''), 'diff')]),
      rest: 'the files themselves are in your folder',
    },
    feedbackSection: {
      ...feedbackPart('what has to be put right', feedback, (texts) =>
        section('What has to be put right', texts, 'The previous attempt was not accepted. Deal with every point:'),
      ),
      // Added even if the template leaves it out, so that the agent does not repeat a mistake.
      times: Math.max(1, times('feedbackSection')),
    },
    lessonsSection: {
      name: 'lessons',
      priority: PRIORITY.lessons,
      pieces: (input.lessons ?? []).map(lessonText),
      shape: lessonsSection,
      times: Math.max(1, times('lessonsSection')),
    },
    tracesSection: {
      name: 'similar events',
      priority: PRIORITY.related,
      pieces: (input.traces ?? []).map(traceText),
      shape: tracesSection,
      times: times('tracesSection'),
    },
    specSection: {
      name: 'the specification',
      priority: PRIORITY.spec,
      ...specPart(input.spec ?? null),
      times: Math.max(1, times('specSection')),
    },
    planCommentsSection: {
      ...feedbackPart('comments on the plan', comments, (texts) => section('Comments on the plan', texts)),
      times: times('planCommentsSection'),
    },
    priorReviewSection: {
      ...text('the earlier review', urgent, priorReview(task), (review) => section('Earlier review', [review])),
      times: times('priorReviewSection'),
    },
    planSection: {
      ...text('the plan', plan, task.plan, (words) => section('Plan', [words])),
      times: times('planSection'),
    },
    subtasksSection: {
      name: 'the steps',
      priority: plan,
      pieces: task.subtasks,
      times: times('subtasksSection'),
      shape: (steps) =>
        section(
          'Steps',
          steps.map((step, index) => `${index + 1}. ${step}`),
        ),
    },
    conventionsSection: {
      ...noted('Conventions of this repository', PRIORITY.conventions, around.conventions),
      times: times('conventionsSection'),
      rest: 'the file is in your folder',
    },
    relatedTaskSection: {
      name: 'related tasks',
      priority: PRIORITY.related,
      pieces: around.related.map((each) => relatedText(each, input.target)),
      shape: relatedSection,
      times: times('relatedTaskSection'),
    },
    readmeSection: {
      ...noted('About this repository', PRIORITY.readme, around.readme ? [around.readme] : []),
      times: times('readmeSection'),
    },
    ...contextParts(task.context.slice(-MOST_CONTEXT)),
  };
}

/** What earlier runs and people left for this one, newest last. */
function contextParts(context: ContextEntry[]): Record<'recentContext' | 'olderContext', PromptPart> {
  const entries = context.map(
    ({ source, entryType, summary, at }) =>
      `### [${source}] ${entryType} (${new Date(at).toISOString()})\n${summary.trim()}`,
  );
  const shape = (pieces: string[]) => pieces.map((piece) => `${piece}\n\n`).join('');
  return {
    recentContext: {
      name: 'recent notes',
      priority: PRIORITY.recentContext,
      shape,
      times: 1,
      pieces: entries.slice(-RECENT_CONTEXT),
    },
    olderContext: {
      name: 'older notes',
      priority: PRIORITY.olderContext,
      shape,
      times: 1,
      pieces: entries.slice(0, -RECENT_CONTEXT),
    },
  };
}

function text(
  name: string,
  priority: number,
  words: string,
  shape: (words: string) => string,
): Omit<PromptPart, 'times'> {
  const pieces = words.trim() === '' ? [] : [words.trim()];
  return { name, priority, pieces, shape: ([piece]) => (piece === undefined ? '' : shape(piece)) };
}

/** A fenced text for each file, under one heading. */
function noted(title: string, priority: number, notes: RepositoryNote[]): Omit<PromptPart, 'times'> {
  return {
    name: notes.map(({ file }) => file).join(' and ') || title,
    priority,
    pieces: notes.map(({ text: words }) => words),
    shape: (pieces) =>
      notesSection(
        title,
        pieces.map((words, index) => ({ file: notes[index]!.file, text: words })),
      ),
  };
}

function feedbackPart(
  name: string,
  feedback: Feedback[],
  shape: (texts: string[]) => string,
): Pick<PromptPart, 'name' | 'priority' | 'pieces' | 'shape'> {
  return {
    name,
    priority: PRIORITY.feedback,
    pieces: feedback.map((entry) => entry.text),
    shape: (pieces) => shape(pieces.map((words, index) => feedbackText({ ...feedback[index]!, text: words }))),
  };
}

function feedbackText({ kind, text: words, files }: Feedback): string {
  const heading = {
    gate: 'A gate failed',
    review: 'The reviewer asks for changes',
    conflict: 'The change conflicts with newer work',
    person: 'A person says',
    agent: 'An agent says',
    result: 'The last result did not count',
  }[kind];
  const where = files.length > 0 ? `\nFiles: ${files.join(', ')}` : '';
  const body = kind === 'gate' ? codeBlock(words, '') : words.trim();
  return `### ${heading}${where}\n${body}\n`;
}

function priorReview(task: Task): string {
  if (task.counters.reviewCycles === 0) return '';
  const last = task.context.findLast((entry) => entry.entryType === 'review_feedback');
  const sentBack = `This change was sent back ${task.counters.reviewCycles} time(s). Check first whether that was dealt with.`;
  return last ? `${sentBack}\n\n${last.summary.trim()}` : sentBack;
}
