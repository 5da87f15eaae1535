import { expect, it } from 'vitest';
import { REACTORS, reactorRows } from '../reactor/table.ts';
import { DEFAULT_ROUTING, RoutingChoice } from './choice.ts';
import { EVENT_ROUTES, eventRouteRows } from './table.ts';

it('every choice of the settings is in the table, with what it does', () => {
  for (const [event, choices] of Object.entries(RoutingChoice.shape)) {
    const row = EVENT_ROUTES.find(({ on }) => on === event);
    expect([event, Object.keys(row?.does ?? {}).sort()]).toEqual([event, [...choices.unwrap().options].sort()]);
  }
});

it('each event has one row in the table, and the reactor that it names exists', () => {
  const events = EVENT_ROUTES.map(({ on }) => on);
  expect(new Set(events).size).toBe(events.length);
  for (const { on, by } of EVENT_ROUTES) {
    const follows: readonly string[] | undefined = by === 'with the event' ? [on] : REACTORS[by].on;
    expect([on, by, follows?.includes(on)]).toEqual([on, by, true]);
  }
});

it('the rows of the table show the choice and what follows from it', () => {
  const row = (routing = DEFAULT_ROUTING) => eventRouteRows(routing).find(({ event }) => event === 'feedback.given');
  expect(row()).toMatchObject({ role: 'analyst', chosen: 'analyse', choices: ['analyse', 'off'] });
  expect(row({ ...DEFAULT_ROUTING, 'feedback.given': 'off' })?.does).toContain('until a person starts it');
  expect(eventRouteRows(DEFAULT_ROUTING).find(({ event }) => event === 'idea.advanced')).toMatchObject({
    chosen: 'off',
  });
  expect(reactorRows().find(({ reactor }) => reactor === 'worktrees')?.event).toBe(
    'task.moved, conflict.aborted, every ten minutes',
  );
});

it('the routing settings refuse an event that is not routed, and a choice that does not exist', () => {
  expect(RoutingChoice.safeParse({ 'task.moved': 'off' }).success).toBe(false);
  expect(RoutingChoice.safeParse({ 'feedback.given': 'later' }).success).toBe(false);
});
