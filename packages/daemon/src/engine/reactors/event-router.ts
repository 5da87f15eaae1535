import {
  DEFAULT_ROUTING,
  engineActor,
  REACTORS,
  type RecordOf,
  type RouterEvent,
  type RoutingChoice,
} from '@tidemill/contract';
import type { OwnWrites, Reactor, ReactorCall, Store } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { briefOf, isNewRepository } from '../flows/spec-source.ts';

const ROUTER = engineActor('router');

/** A reaction looks at the rows, not at the event, so that it may be repeated and made up for after a restart. */
type React = (deps: EngineDeps, store: Store) => Promise<void>;

/** What follows from each event that the routes give to the router. One without a reaction does not compile. */
const REACTIONS: Record<RouterEvent, React> = {
  'feedback.given': analyseFeedback,
  'feedback.analysed': fileFeedback,
  'idea.advanced': specifyIdea,
};

/** Passes work from role to role: the routes of `ROUTES_OF_EVENTS` that name it. */
export class EventRouter implements Reactor {
  readonly name = 'router';
  readonly projectId: string;
  readonly on = REACTORS.router.on;
  readonly atOnce = 100;
  readonly own: OwnWrites;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
    this.own = deps.reactors.watchWrites(deps.store, this.on);
  }

  async handle(call: ReactorCall): Promise<void> {
    const all = Object.keys(REACTIONS) as RouterEvent[];
    const isRouted = (type: string): type is RouterEvent => type in REACTIONS;
    const types = call.cause === 'events' ? call.events.map(({ body }) => body.type) : [];
    // After a start or a change of the settings, something earlier may be due.
    const due = types.length > 0 && types.every(isRouted) ? [...new Set(types)] : all;
    for (const type of due) await REACTIONS[type](this.#deps, this.own.store);
  }
}

async function analyseFeedback(deps: EngineDeps, store: Store): Promise<void> {
  const { project } = deps;
  if ((await routingNow(deps, store))['feedback.given'] === 'off') return;
  for (const { id: feedbackId, jobId } of await openFeedback(store, project.id))
    if (jobId === null)
      await tell(deps, store, { type: 'feedback.analyse', projectId: project.id, feedbackId, by: ROUTER });
}

async function fileFeedback(deps: EngineDeps, store: Store): Promise<void> {
  const { project, ids } = deps;
  const specs = await store.records({ noun: 'spec', projectId: project.id });
  for (const { id: feedbackId, analysis } of await openFeedback(store, project.id)) {
    if (analysis === null) continue;
    const linkedTask = await knownTask(store, project.id, analysis.linkedTask);
    const linkedSpec = specs.some(({ number }) => number === analysis.linkedSpec) ? analysis.linkedSpec! : null;
    const about = { projectId: project.id, feedbackId, taskId: ids.next('task') };
    await tell(deps, store, { type: 'feedback.file', ...about, linkedTask, linkedSpec });
  }
}

/** A specification of each idea that has a brief and none yet. */
async function specifyIdea(deps: EngineDeps, store: Store): Promise<void> {
  const { project, ids, workspace } = deps;
  if ((await routingNow(deps, store))['idea.advanced'] === 'off') return;
  const specs = await store.records({ noun: 'spec', projectId: project.id });
  const specified = new Set(specs.map(({ source }) => source.ideaId));
  const ideas = await store.records({ noun: 'idea', projectId: project.id });
  const due = ideas.filter(({ id, status }) => status === 'complete' && !specified.has(id));
  if (due.length === 0) return;
  const isNew = await isNewRepository(workspace);
  for (const idea of due) {
    const source = briefOf(idea, isNew);
    if (!source) continue;
    const about = { projectId: project.id, specId: ids.next('spec'), title: idea.title, source };
    await tell(deps, store, { type: 'spec.request', ...about, by: ROUTER });
  }
}

async function routingNow({ project }: EngineDeps, store: Store): Promise<RoutingChoice> {
  return ((await store.project(project.id)) ?? project).rules.routing ?? DEFAULT_ROUTING;
}

async function tell({ onNote }: EngineDeps, store: Store, command: Parameters<Store['execute']>[0]): Promise<void> {
  const reply = await store.execute(command);
  if (!reply.ok) onNote(`${command.type} was refused: ${reply.refusal.message}`);
}

const openFeedback = (store: Store, projectId: string): Promise<RecordOf<'feedback'>[]> =>
  store.records({ noun: 'feedback', projectId, isOpen: true });

/** An analyst may name a task that does not exist. */
async function knownTask(store: Store, projectId: string, number: number | null | undefined): Promise<number | null> {
  return number && (await store.taskByNumber(projectId, number)) ? number : null;
}
