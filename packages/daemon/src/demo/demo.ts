import type { Api, LoggedEvent } from '@tidemill/contract';
import { makeSample } from './sample.ts';
import { buildStory, type Story } from './story.ts';
import { interruptedLines, summaryLines } from './summary.ts';
import { demoTasks } from './tasks.ts';

export interface DemoOptions {
  /** The client of a running daemon. */
  api: Api;
  /** The data folder it serves; the sample repository is created in it unless `dir` is given. */
  home: string;
  dir?: string;
  /** Shell lines that make `tidemill` available by that name. */
  howToCall: string[];
  say(line: string): void;
  /** Shows a project's progress until the signal aborts. */
  watch(projectId: string, signal: AbortSignal): Promise<void>;
  /** Ends the demo early; what was begun is kept and can be continued. */
  signal: AbortSignal;
}

export interface DemoReport {
  root: string;
  projectId: string;
  /** Every task is done. False also when the demo was stopped early. */
  isComplete: boolean;
  story: Story;
  summary: string[];
}

/** A sample repository, eight tasks, three agents: returns when nothing is left to do, or the signal aborts. */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { api, signal } = options;
  const root = await makeSample(options);
  options.say(`Sample project: ${root}`);
  options.say(`${demoTasks.length} tasks, three agents. The agents follow a script; everything else is real.`);
  options.say('');
  const project = await api.registerProject({ root });
  await api.importTasks({ project: project.id, tasks: demoTasks });
  const over = new AbortController();
  const watching = options.watch(project.id, AbortSignal.any([signal, over.signal]));
  let story: Story;
  let isOver = false;
  try {
    await api.attachProject({ root });
    const seen: LoggedEvent[] = [];
    isOver = await untilIdle(api, project.id, signal, (event) => seen.push(event));
    story = buildStory(seen);
  } finally {
    over.abort();
    await watching;
  }
  const isComplete = isOver && story.chapters.every(({ stage }) => stage === 'done');
  const place = { root, howToCall: options.howToCall };
  const summary = isOver ? summaryLines(story, place) : interruptedLines(place);
  return { root, projectId: project.id, isComplete, story, summary };
}

/** The events after which there may be nothing left to do. */
const ENDS = new Set(['lease.released', 'task.moved', 'task.blocked', 'task.parked', 'task.waiting']);

/** Follows a project's whole log until nothing is left to do. False when it was stopped before that. */
async function untilIdle(
  api: Api,
  project: string,
  signal: AbortSignal,
  onEvent: (event: LoggedEvent) => void = () => undefined,
): Promise<boolean> {
  const over = new AbortController();
  const tasks = new Map<string, string>();
  try {
    for await (const event of api.events({ project, follow: true }, AbortSignal.any([signal, over.signal]))) {
      if (signal.aborted) return false;
      onEvent(event);
      const { body, seq } = event;
      if (body.type === 'task.created') tasks.set(body.taskId, 'open');
      if (body.type === 'task.moved') tasks.set(body.taskId, body.to);
      if (!ENDS.has(body.type)) continue;
      // The daemon may be stopped right after the last landing, so no request follows.
      if (body.type === 'lease.released' && [...tasks.values()].every((stage) => stage === 'done')) return true;
      if (!(await api.status({ project })).idle) continue;
      for await (const rest of api.events({ project, after: seq })) onEvent(rest);
      return true;
    }
    return false;
  } finally {
    over.abort();
  }
}
