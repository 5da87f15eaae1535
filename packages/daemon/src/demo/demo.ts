import type { Api, LoggedEvent, SpecStatus } from '@tidemill/contract';
import { approveSpecOf, talkAboutIdea } from './person.ts';
import { makeSample } from './sample.ts';
import { buildStory, type Story } from './story.ts';
import { interruptedLines, summaryLines } from './summary.ts';
import { type Following, until } from './until.ts';

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

/**
 * A sample repository, an idea, eight tasks, three agents. Returns when the specification is built and the loop's first
 * proposal waits for a person, when nothing can go on, or when the signal aborts.
 */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const { api, signal, say } = options;
  const root = await makeSample(options);
  say(`Sample project: ${root}`);
  say('Agents and a person follow a script; everything else is real.');
  say('');
  const { id: project } = await api.registerProject({ root });
  await api.attachProject({ root });
  const following = { api, project, signal };
  const isBuilt = (await specify(following, say)) && (await build(following, options));
  const proposal = isBuilt ? await firstProposal(following) : null;
  const isOver = !signal.aborted;
  const story = buildStory(await eventsOf(api, project));
  const place = { root, howToCall: options.howToCall };
  const summary = isOver ? summaryLines(story, place, proposal) : interruptedLines(place);
  return { root, projectId: project, isComplete: isBuilt && proposal !== null, story, summary };
}

/** From a person's first words to an approved specification. */
async function specify(following: Following, say: (line: string) => void): Promise<boolean> {
  say('A person talks with an agent about an idea, and approves its specification.');
  const idea = await talkAboutIdea(following, say);
  if (following.signal.aborted) return false;
  const isApproved = await approveSpecOf(following, idea, say);
  say('');
  return isApproved;
}

/** Until each requirement is checked. False when the work cannot go on without a person. */
async function build(following: Following, { watch }: DemoOptions): Promise<boolean> {
  const { api, project, signal } = following;
  const over = new AbortController();
  const watching = watch(project, AbortSignal.any([signal, over.signal]));
  const spec = async () => (await api.specs({ project }))[0]!.status;
  try {
    await until(following, async () => ENDED.includes(await spec()) || (await isStuck(api, project)));
  } finally {
    over.abort();
    await watching;
  }
  return (await spec()) === 'done';
}

const ENDED: readonly SpecStatus[] = ['done', 'aborted', 'failed', 'rejected'];

async function isStuck(api: Api, project: string): Promise<boolean> {
  const { idle, tasks } = await api.status({ project });
  return idle && (tasks.blocked ?? 0) + (tasks.needs_info ?? 0) > 0;
}

/** The loop proposes an improvement, which waits for a yes. */
async function firstProposal(following: Following): Promise<string | null> {
  const { api, project } = following;
  await api.switchLoop({ project, by: 'miller', on: true });
  let title: string | null = null;
  await until(following, async () => {
    const [proposal] = await api.proposals({ project, status: 'waiting' });
    title = proposal?.draft?.title ?? null;
    return title !== null;
  });
  // One is enough to show it.
  await api.switchLoop({ project, by: 'miller', on: false });
  return title;
}

async function eventsOf(api: Api, project: string): Promise<LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for await (const event of api.events({ project })) found.push(event);
  return found;
}
