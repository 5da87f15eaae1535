import type { InboxItem, QuestionView } from '@tidemill/contract';
import { describe, expect, test } from 'vitest';
import { harmlessItem } from '../connection/harmless.ts';
import { ago, agoHolds } from '../words.ts';
import { choicesOf, isQuestion, proposalOf } from './choices.ts';
import { ToastPolicy } from './toast-policy.ts';

const item = (more: Partial<InboxItem> = {}): InboxItem => ({
  ref: 'Q7.1',
  kind: 'question',
  severity: 'error',
  isBlocking: true,
  at: 0,
  title: 'Which format?',
  text: '',
  task: { number: 7, title: 'Sort the list' },
  command: 'tidemill answer Q7.1',
  actions: [],
  ...more,
});
const question = (more: Partial<QuestionView> = {}) =>
  ({
    options: [
      { label: 'ISO', description: 'as 2026-11-17', recommended: true, implications: '' },
      { label: 'Words', description: '', recommended: false, implications: 'needs a table' },
    ],
    defaultAnswer: 'ISO',
    allowFreeText: true,
    type: 'blocking',
    ...more,
  }) as QuestionView;
const alert = (more: Partial<InboxItem> = {}) =>
  item({ ref: 'a12', kind: 'alert', isBlocking: false, task: null, title: 'stuck', text: 'agent-1 is stuck', ...more });
const labels = (of: InboxItem, about: QuestionView | null = null) => choicesOf(of, about).map(({ label }) => label);

describe('the choices for an inbox item', () => {
  test('of a question are its options with marks, a text, and its task', () => {
    expect(isQuestion(item())).toBe(true);
    expect(choicesOf(item(), question())).toMatchObject([
      { does: 'answer', option: 1, label: 'ISO (default, recommended)', detail: 'as 2026-11-17' },
      { does: 'answer', option: 2, label: 'Words', detail: 'needs a table' },
      { does: 'write', sends: 'answer' },
      { does: 'change' },
      { does: 'task' },
    ]);
  });

  test('do not draw the words of an agent as an icon', () => {
    const options = [{ label: 'Use $(pwd)', description: '$(check) safe', recommended: false, implications: '' }];
    expect(choicesOf(item(), question({ options, defaultAnswer: '$(x)' })).slice(0, 2)).toMatchObject([
      { label: 'Use \\$(pwd)', detail: '\\$(check) safe' },
      { label: '\\$(x) (default)' },
    ]);
  });

  test('of a question without options are its default and a text', () => {
    const about = question({ options: [], defaultAnswer: 'as before' });
    expect(choicesOf(item({ task: null }), about).map(({ does }) => does)).toEqual(['default', 'write']);
  });

  test('of an approval are approve, request changes and cancel', () => {
    const plan = item({
      ref: '#7',
      kind: 'approval',
      title: 'plan_review needs your approval',
      command: 'tidemill task approve 7',
    });
    expect(labels(plan).slice(0, 3)).toEqual(['Approve', 'Request changes…', 'Cancel task']);
  });

  test('of a stuck task are to retry it with or without a note', () => {
    const stuck = item({
      ref: '#7',
      kind: 'escalation',
      title: 'the agent keeps failing',
      command: 'tidemill task retry 7',
    });
    expect(labels(stuck).slice(0, 3)).toEqual(['Retry', 'Retry with a note…', 'Cancel task']);
  });

  test('of a conflict open the merge editor', () => {
    const conflict = item({
      ref: '#7',
      kind: 'escalation',
      title: 'a conflict needs you',
      command: 'tidemill task retry 7',
    });
    expect(choicesOf(conflict, null)[0]).toMatchObject({ does: 'conflict' });
  });

  test('of a proposal are to approve it, or to refuse it with a reason', () => {
    const proposal = item({ ref: 'p3', kind: 'approval', task: null });
    expect(proposalOf(proposal)).toBe(3);
    expect(labels(proposal)).toEqual(['Approve', 'Refuse…']);
  });

  test('of an alert are its own actions, then to acknowledge it', () => {
    const stuck = alert({ actions: [{ id: 'restart', label: 'Restart agent' }] });
    expect(labels(stuck)).toEqual(['Restart agent', 'Acknowledge']);
  });
});

describe('notifications', () => {
  const told = (items: InboxItem[], policy = new ToastPolicy([])) => {
    policy.see(items, 'all');
    return policy.next();
  };

  test('the first question of another project is told too', () => {
    const policy = new ToastPolicy([]);
    const see = (project: string) => {
      policy.see([item()], 'all', project);
      const toast = policy.next();
      policy.close();
      return toast?.text;
    };
    expect([see('one'), see('one'), see('two'), see('two')]).toEqual([
      '#7 Which format?',
      undefined,
      '#7 Which format?',
      undefined,
    ]);
  });

  test('a question has an answer button, and comes with its task', () => {
    expect(told([item()])).toMatchObject({
      severity: 'error',
      text: '#7 Which format?',
      buttons: [{ label: 'Answer' }],
    });
  });

  test('a stuck agent can be restarted from the notification', () => {
    const toast = told([alert({ severity: 'critical', actions: [{ id: 'restart', label: 'Restart agent' }] })]);
    expect(toast).toMatchObject({
      severity: 'critical',
      text: 'agent-1 is stuck',
      buttons: [{ label: 'Restart agent' }],
    });
  });

  test.each(['info', 'warning', 'error', 'critical'] as const)('a budget alert is told as %s', (severity) => {
    const toast = told([alert({ ref: 'a5', severity, title: 'budget 50', text: '$25 of $50 are spent' })]);
    expect(toast).toMatchObject({ severity, text: '$25 of $50 are spent' });
  });

  test('come one at a time: those that arrive meanwhile wait, and come together', () => {
    const policy = new ToastPolicy([]);
    expect(told([item()], policy)).not.toBeNull();
    policy.see([item(), item({ ref: 'Q8.1' }), alert({ severity: 'warning' })], 'all');
    expect(policy.next()).toBeNull();
    policy.close();
    expect(policy.next()).toMatchObject({ item: null, text: '2 things need you.', severity: 'error' });
  });

  test('alerts that block nothing are not called things that need the person', () => {
    const both = [alert({ severity: 'info', text: 'half is spent' }), alert({ ref: 'a2', severity: 'info' })];
    expect(told(both)).toMatchObject({ severity: 'info', text: '2 alerts. half is spent' });
  });

  test('come once for each item, and again only when it becomes worse', () => {
    const policy = new ToastPolicy([]);
    told([alert({ severity: 'warning' })], policy);
    policy.close();
    expect(told([alert({ severity: 'warning', title: 'stuck (2 times)' })], policy)).toBeNull();
    expect(told([alert({ severity: 'critical' })], policy)).not.toBeNull();
  });

  test('an item that was settled while it waited is not told', () => {
    const policy = new ToastPolicy([]);
    told([item()], policy);
    policy.see([item(), item({ ref: 'Q8.1' })], 'all');
    policy.see([item()], 'all');
    policy.close();
    expect(policy.next()).toBeNull();
  });

  test("don't show again is kept, and is about the kind", () => {
    const policy = new ToastPolicy([]);
    policy.mute(alert({ title: 'flaky gate (3 times)' }));
    const later = new ToastPolicy(policy.muted);
    expect(told([alert({ ref: 'a77', title: 'flaky gate' })], later)).toBeNull();
    expect(told([alert({ title: 'stuck' })], later)).not.toBeNull();
  });

  test('a low queue is left to the banner; the setting leaves out the rest', () => {
    expect(told([alert({ severity: 'info', title: 'queue low' })])).toBeNull();
    const quiet = new ToastPolicy([]);
    quiet.see([alert({ severity: 'warning' })], 'important');
    expect(quiet.next()).toBeNull();
    quiet.see([item()], 'off');
    expect(quiet.next()).toBeNull();
  });

  test('a long text is cut to a line', () => {
    const toast = told([item({ title: `first line\n${'x'.repeat(500)}` })]);
    expect(toast!.text.length).toBeLessThan(180);
    expect(toast!.text).not.toContain('\n');
  });
});

test('the age of an item is right until it changes', () => {
  const minute = 60_000;
  const at = (ms: number) => [ago(ms), ago(ms + agoHolds(ms) - 1), ago(ms + agoHolds(ms))];
  // By another clock, which is ahead.
  expect([ago(-5), agoHolds(-5)]).toEqual(['just now', minute]);
  expect(at(0)).toEqual(['just now', 'just now', '1 min ago']);
  expect(at(3.5 * minute)).toEqual(['3 min ago', '3 min ago', '4 min ago']);
  expect(at(59.5 * minute)).toEqual(['59 min ago', '59 min ago', '1 h ago']);
  expect(at(25 * 60 * minute)).toEqual(['1 d ago', '1 d ago', '2 d ago']);
});

test('the title of an inbox item says why in words, and keeps the words of people', () => {
  const harmless = (ref: string, title: string) => harmlessItem({ ...item({ ref, title }) }).title;
  expect(harmless('#3', 'blocked, no_changes')).toBe('the agent changed nothing');
  expect(harmless('q3', 'Rename load_all?')).toBe('Rename load_all?');
});
