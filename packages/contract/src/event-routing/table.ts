import { z } from 'zod';
import type { EventType } from '../event/event.ts';
import type { RoutingChoice } from './choice.ts';

/** What one role passes to another. */
interface EventRoute {
  on: EventType;
  /** Who reacts. */
  role: string;
  /** What follows from each choice of `routing`; the first is the only one where nothing can be chosen. */
  does: Readonly<Record<string, string>>;
  /** The reactor; `with the event` where both are one transaction. */
  by: string;
}

/** Who acts on what. The router follows exactly the events that name it. */
export const EVENT_ROUTES = [
  {
    on: 'feedback.given',
    role: 'analyst',
    by: 'router',
    does: {
      analyse: 'Reads it and files it, or asks once',
      off: 'Nothing, until a person starts it: tidemill feedback analyse N',
    },
  },
  {
    on: 'feedback.analysed',
    role: 'engine',
    by: 'router',
    does: { file: 'Links it and makes its task, or keeps the answer' },
  },
  {
    on: 'idea.said',
    role: 'ideation',
    by: 'with the event',
    does: { reply: 'Replies in the conversation' },
  },
  {
    on: 'idea.advanced',
    role: 'specification',
    by: 'router',
    does: {
      off: 'Nothing, until a person asks for it: tidemill spec new --idea N',
      specify: 'Writes a specification of an idea that is complete',
    },
  },
  {
    on: 'spec.revision_requested',
    role: 'specification',
    by: 'with the event',
    does: { specify: 'Writes the next version with the comments' },
  },
  {
    on: 'spec.critique_requested',
    role: 'critic',
    by: 'with the event',
    does: { critique: 'Looks for what is wrong with the draft, before a person reads it' },
  },
  { on: 'spec.drafted', role: 'person', by: 'specs', does: { ask: 'Answers what is unclear; approves or rejects' } },
  { on: 'spec.approved', role: 'builder', by: 'specs', does: { build: 'Takes its tasks, which exist from now on' } },
  {
    on: 'spec.checking',
    role: 'judge',
    by: 'with the event',
    does: { judge: 'Checks each requirement against the code' },
  },
  { on: 'proposal.made', role: 'engine', by: 'loop', does: { check: 'Refuses duplicates and what cannot be tested' } },
  {
    on: 'proposal.accepted',
    role: 'builder',
    by: 'loop',
    does: { build: 'Takes its task, after a yes where autonomy asks' },
  },
  { on: 'feedback.asked', role: 'person', by: 'with the event', does: { ask: 'Answers; then the analyst files it' } },
  { on: 'task.created', role: 'builder', by: 'with the event', does: { build: 'Takes it when it is ready' } },
  {
    on: 'task.moved',
    role: 'the worker or person of the next stage',
    by: 'with the event',
    does: { continue: 'An agent, a person, the gates or the merger takes the next stage of the pipeline' },
  },
  { on: 'task.parked', role: 'person', by: 'with the event', does: { ask: 'Answers; then the task continues' } },
  { on: 'task.blocked', role: 'person', by: 'catalogue-triggers', does: { ask: 'Decides what happens next' } },
  { on: 'work.committed', role: 'gates', by: 'with the event', does: { prove: 'Prove it on a clean checkout' } },
  { on: 'alert.raised', role: 'person', by: 'notifications', does: { help: 'Gets it on the page and the channels' } },
  { on: 'worker.crashed', role: 'engine', by: 'with the event', does: { restart: 'Its work goes to another worker' } },
  { on: 'forecast.found', role: 'builder', by: 'with the event', does: { heed: 'Hears of the coming conflict' } },
  {
    on: 'question.asked',
    role: 'person',
    by: 'notifications',
    does: { answer: 'Gets it on the page and the channels' },
  },
] as const satisfies readonly EventRoute[];

type RouterRow = Extract<(typeof EVENT_ROUTES)[number], { by: 'router' }>;
/** The events that the router follows. One without a reaction does not compile. */
export type RouterEvent = RouterRow['on'];
const isRouters = (row: (typeof EVENT_ROUTES)[number]): row is RouterRow => row.by === 'router';
export const ROUTER_EVENTS = EVENT_ROUTES.filter(isRouters).map(({ on }) => on);

/** One row of the routing as people see it. */
export const EventRouteRow = z.object({
  event: z.string(),
  role: z.string(),
  reactor: z.string(),
  does: z.string(),
  /** What may be set for it in `routing`; empty where nothing can be chosen. */
  choices: z.array(z.string()),
  /** Which of them holds. */
  chosen: z.string().nullable(),
});
export type EventRouteRow = z.infer<typeof EventRouteRow>;

/** The routing under a project's settings. */
export function eventRouteRows(routing: RoutingChoice): EventRouteRow[] {
  return EVENT_ROUTES.map(({ on, role, by, does }) => {
    const said = new Map<string, string>(Object.entries(does));
    const chosen = on in routing ? routing[on as keyof RoutingChoice] : null;
    const [first = ''] = said.values();
    const choices = chosen === null ? [] : [...said.keys()];
    return { event: on, role, reactor: by, does: (chosen && said.get(chosen)) ?? first, choices, chosen };
  });
}
