import type { z } from 'zod';
import type { Api } from '../api/routes.ts';
import { type LoggedEvent, taskIdOf } from '../event/event.ts';
import { TaskSummary } from '../task/view.ts';
import { workerName } from '../worker/worker.ts';
import type { StreamMessage, StreamSubscribe } from './stream.ts';

/** What a page subscribes to: a project's log, or a part of it. */
export type StreamSubscription = Omit<z.input<typeof StreamSubscribe>, 'type'> & { project: string };
export interface Follow {
  run: string;
  offset: number;
}

const PATIENCE_MS = 10_000;
const PAGE = 500;
/** With more changed tasks than this it is cheaper to read the list. */
const ASKED_SINGLY = 20;
const LIST_PAGE = 1000;

/** What the socket would have sent since the cursor, by polling: the same messages in the same order. */
export async function* pollOnce(
  api: Api,
  subscription: StreamSubscription,
  follows: Follow[],
  closing: AbortSignal,
): AsyncGenerator<StreamMessage> {
  const { project, task, types, after, views = false } = subscription;
  const soon = () => AbortSignal.any([closing, AbortSignal.timeout(PATIENCE_MS)]);
  const status = await api.status({ project }, soon());
  if (after === undefined || after > status.lastSeq) yield { type: 'ready', cursor: status.lastSeq };
  else yield* newEvents(api.events({ project, task, types, after }, soon()));
  if (views) {
    yield { type: 'status', status };
    const from = Math.min(after ?? status.lastSeq, status.lastSeq);
    const changed = new Set<string>();
    for await (const { body } of api.events({ project, after: from }, soon())) {
      const id = taskIdOf(body);
      if (id !== null) changed.add(id);
    }
    if (changed.size > 0) yield { type: 'tasks', project, tasks: await summaries(api, project, changed, soon) };
  }
  for (const follow of follows) yield* newOutput(api, follow, soon);
}

async function* newEvents(log: AsyncIterable<LoggedEvent>): AsyncGenerator<StreamMessage> {
  let events: LoggedEvent[] = [];
  const message = (): StreamMessage => ({ type: 'events', cursor: events.at(-1)!.seq, events });
  for await (const event of log) {
    events.push(event);
    if (events.length < PAGE) continue;
    yield message();
    events = [];
  }
  if (events.length > 0) yield message();
}

async function summaries(api: Api, project: string, ids: Set<string>, soon: () => AbortSignal): Promise<TaskSummary[]> {
  const found: TaskSummary[] = [];
  if (ids.size <= ASKED_SINGLY) {
    for (const id of ids) {
      const { task } = await api.task({ project, task: id }, soon());
      const worker = task.lease ? workerName(task.lease.workerId) : null;
      found.push(TaskSummary.parse({ ...task, worker }));
    }
    return found;
  }
  for (let afterNumber = 0; ; ) {
    const page = await api.tasks({ project, afterNumber, limit: LIST_PAGE }, soon());
    found.push(...page.filter(({ id }) => ids.has(id)));
    if (page.length < LIST_PAGE) return found;
    afterNumber = page.at(-1)!.number;
  }
}

async function* newOutput(api: Api, { run, offset }: Follow, soon: () => AbortSignal): AsyncGenerator<StreamMessage> {
  // Checked before reading, so that all output from before the run's end is read.
  const isOver = (await api.run({ run }, soon())).status !== 'running';
  let end = offset;
  for await (const chunk of api.runLog({ run, offset }, soon())) {
    end = chunk.offset;
    yield { type: 'log', run, chunk, isOver: false };
  }
  if (isOver) yield { type: 'log', run, chunk: { offset: end, text: '' }, isOver: true };
}
