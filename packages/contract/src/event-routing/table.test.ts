import { expect, it } from 'vitest';
import { REACTORS, reactorRows } from '../reactor/table.ts';
import { DEFAULT_ROUTING, Routing } from './choice.ts';
import { ROUTES_OF_EVENTS, routeRows } from './table.ts';

it('every choice of the settings is in the table, with what it does', () => {
  for (const [event, choices] of Object.entries(Routing.shape)) {
    const row = ROUTES_OF_EVENTS.find(({ on }) => on === event);
    expect([event, Object.keys(row?.does ?? {}).sort()]).toEqual([event, [...choices.unwrap().options].sort()]);
  }
});

it('each event has one row in the table, and the reactor that it names exists', () => {
  const events = ROUTES_OF_EVENTS.map(({ on }) => on);
  expect(new Set(events).size).toBe(events.length);
  for (const { on, by } of ROUTES_OF_EVENTS) {
    const follows: readonly string[] | undefined = by === 'with the event' ? [on] : REACTORS[by].on;
    expect([on, by, follows?.includes(on)]).toEqual([on, by, true]);
  }
});

it('the rows of the table show the choice and what follows from it', () => {
  const row = (routing = DEFAULT_ROUTING) => routeRows(routing).find(({ event }) => event === 'feedback.given');
  expect(row()).toMatchObject({ role: 'analyst', chosen: 'analyse', choices: ['analyse', 'off'] });
  expect(row({ ...DEFAULT_ROUTING, 'feedback.given': 'off' })?.does).toContain('until a person starts it');
  expect(routeRows(DEFAULT_ROUTING).find(({ event }) => event === 'idea.advanced')).toMatchObject({ chosen: 'off' });
  expect(reactorRows().find(({ reactor }) => reactor === 'worktrees')?.event).toBe(
    'task.moved, conflict.aborted, every ten minutes',
  );
});

it('the routing settings refuse an event that is not routed, and a choice that does not exist', () => {
  expect(Routing.safeParse({ 'task.moved': 'off' }).success).toBe(false);
  expect(Routing.safeParse({ 'feedback.given': 'later' }).success).toBe(false);
});
