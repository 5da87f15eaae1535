import { type EventBody, type LoggedEvent, subjectIdOf } from '@tidemill/contract';

/** What happened to one task. */
export interface Chapter {
  number: number;
  title: string;
  stage: string;
  commit: string | null;
  /** The declared file scope. */
  files: string[];
  happened: string[];
}

export interface Story {
  chapters: Chapter[];
  tookMs: number;
  landed: number;
  agentRuns: number;
  /** The highest number of builder runs at the same time. */
  mostAtOnce: number;
  gatesRun: number;
  gatesPassed: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

type Body<T extends EventBody['type']> = Extract<EventBody, { type: T }>;

interface Draft {
  created: Body<'task.created'>;
  stage: string;
  commit: string | null;
  sentBack: Map<string, number>;
  rejections: number;
  crashes: number;
  conflicts: Set<string>;
  problem: string;
}

/** The log of a project, grouped by task. Everything comes from the log, nothing from the script. */
export function buildStory(events: LoggedEvent[]): Story {
  const drafts = new Map<string, Draft>();
  const running = new Map<string, string>();
  const story: Story = {
    chapters: [],
    tookMs: (events.at(-1)?.at ?? 0) - (events[0]?.at ?? 0),
    landed: 0,
    agentRuns: 0,
    mostAtOnce: 0,
    gatesRun: 0,
    gatesPassed: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
  };
  for (const { body } of events) {
    if (body.type === 'task.created') drafts.set(body.taskId, begin(body));
    count(story, running, body);
    const draft = drafts.get(subjectIdOf(body) ?? '');
    if (draft) follow(draft, body, running);
    if (body.type === 'run.finished') running.delete(body.runId);
  }
  story.chapters = [...drafts.values()].map((draft) => chapterOf(draft, [...drafts.values()]));
  return story;
}

function begin(created: Body<'task.created'>): Draft {
  return {
    created,
    stage: 'open',
    commit: null,
    sentBack: new Map(),
    rejections: 0,
    crashes: 0,
    conflicts: new Set(),
    problem: '',
  };
}

function count(story: Story, running: Map<string, string>, body: EventBody): void {
  if (body.type === 'run.started') {
    running.set(body.runId, body.mode);
    story.agentRuns += 1;
    story.mostAtOnce = Math.max(story.mostAtOnce, [...running.values()].filter((mode) => mode !== 'review').length);
  } else if (body.type === 'run.finished') {
    story.inputTokens += body.usage.inputTokens;
    story.outputTokens += body.usage.outputTokens;
    story.costUsd += body.usage.costUsd ?? 0;
  } else if (body.type === 'evidence.recorded') {
    story.gatesRun += 1;
    if (body.evidence.status === 'pass') story.gatesPassed += 1;
  } else if (body.type === 'merge.landed') {
    story.landed += 1;
  }
}

function follow(draft: Draft, body: EventBody, running: Map<string, string>): void {
  switch (body.type) {
    case 'task.moved':
      draft.stage = body.to;
      return;
    case 'task.blocked':
      draft.stage = 'blocked';
      draft.problem = `${body.reason}: ${body.text}`;
      return;
    case 'task.parked':
      draft.stage = 'needs_info';
      draft.problem = body.questions.join(' / ');
      return;
    case 'task.feedback_given':
      for (const { kind, files } of body.feedback)
        if (kind === 'conflict') for (const f of files) draft.conflicts.add(f);
      return;
    case 'run.sent_back':
      for (const gate of body.gates) draft.sentBack.set(gate, (draft.sentBack.get(gate) ?? 0) + 1);
      return;
    case 'run.finished':
      if (body.failure === 'crash') draft.crashes += 1;
      if (running.get(body.runId) === 'review' && body.outcome === 'changes_requested') draft.rejections += 1;
      return;
    case 'merge.landed':
      draft.commit = body.commit;
      return;
    default:
  }
}

const times = (number: number) => (number === 1 ? 'once' : number === 2 ? 'twice' : `${number} times`);

function chapterOf(draft: Draft, all: Draft[]): Chapter {
  const { number, title, files } = draft.created;
  const isDone = draft.stage === 'done';
  const happened = [
    ...[...draft.sentBack].map(([gate, n]) => `gate ${gate} failed ${times(n)}${isDone ? ', repaired' : ''}`),
    ...(draft.crashes > 0 ? [`agent crashed ${times(draft.crashes)}${isDone ? ', recovered' : ''}`] : []),
    ...(draft.rejections > 0 ? [`review rejected ${times(draft.rejections)}${isDone ? ', reworked' : ''}`] : []),
    ...(draft.conflicts.size > 0 ? [`conflict in ${[...draft.conflicts].join(', ')}${isDone ? ' resolved' : ''}`] : []),
    ...sharedWith(draft, all).map((other) => `same file as #${other}, kept apart`),
    ...(isDone ? [] : [draft.problem || `still in ${draft.stage}`]),
  ];
  if (happened.length === 0) happened.push('passed at the first try');
  return { number, title, stage: draft.stage, commit: draft.commit, files, happened };
}

/** Earlier tasks that declared one of the same files, and therefore never ran at the same time. */
function sharedWith(draft: Draft, all: Draft[]): number[] {
  const isSame = (file: string) => draft.created.files.includes(file);
  return all
    .filter(({ created }) => created.number < draft.created.number && created.files.some(isSame))
    .map(({ created }) => created.number);
}
