import { type AlertKind, AskedQuestion, type ChannelConfig, personActor } from '@tidemill/contract';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { VirtualClock } from '../../../../test/sim/virtual-clock.ts';
import { DeliveryBed } from '../../../../test/support/channels/bed.ts';
import type { ChannelMessage, HearAnswer, OpenChannel } from '../ports.ts';
import { ChannelError } from './channel-error.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const projectId = 'project_1';

/** A channel of this test: it takes what it is given, unless it is told not to. */
class Pigeon {
  readonly config: ChannelConfig;
  readonly taken: (ChannelMessage & { sentAt: number })[] = [];
  failure: ChannelError | null = null;
  attempts = 0;
  hear: HearAnswer | null = null;

  constructor(config: ChannelConfig) {
    this.config = config;
  }
  titles = () => this.taken.map(({ title }) => title);
}

let clock: VirtualClock;
let bed: DeliveryBed;
let pigeons: Record<string, Pigeon>;

const open: OpenChannel = async (config) => {
  const pigeon = Object.values(pigeons).find((each) => each.config === config)!;
  return {
    line: JSON.stringify(config),
    send: async (message) => {
      pigeon.attempts += 1;
      if (pigeon.failure) throw pigeon.failure;
      pigeon.taken.push({ ...message, sentAt: clock.now() });
      return `message-${pigeon.taken.length}`;
    },
    listen: (hear, signal) => {
      pigeon.hear = hear;
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
    },
    close: async () => undefined,
  };
};

const webhook = (name: string): ChannelConfig => ({ type: 'webhook', url: `http://${name}.invalid`, secretEnv: 'S' });

beforeEach(async () => {
  clock = new VirtualClock();
  bed = await DeliveryBed.open({}, clock);
  pigeons = { a: new Pigeon(webhook('a')), b: new Pigeon(webhook('b')) };
});
afterEach(async () => {
  const closed = bed.close();
  await pass(2 * SECOND);
  await closed;
  expect(bed.notes).toEqual([]);
});

async function pass(ms: number): Promise<void> {
  const until = clock.elapsed() + ms;
  void clock.sleep(ms);
  for (;;) {
    for (let turn = 0; turn < 30; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    if (clock.elapsed() >= until) return;
    await clock.step(until);
  }
}

const start = (names: string[], notify: object = {}) =>
  bed.start(Object.fromEntries(names.map((name) => [name, pigeons[name]!.config])), { notify, open });
const alert = (kind: string, severity: 'info' | 'warning' | 'error' | 'critical' = 'warning', subject = '') =>
  bed.must({
    type: 'alert.raise',
    projectId,
    taskId: null,
    kind: kind as AlertKind,
    text: `${kind} happened`,
    severity,
    subject,
  });

describe('the delivery of messages', () => {
  it('a question is sent within a second, to every channel, and recorded', async () => {
    await start(['a', 'b']);
    const begun = clock.now();
    const [question] = await bed.ask({ text: 'Which port?', options: ['80', '8080'] });
    await pass(SECOND);
    for (const pigeon of Object.values(pigeons)) {
      expect(pigeon.taken).toMatchObject([
        { severity: 'error', project: 'mill', parts: [{ question: { id: question!.id } }] },
      ]);
      expect(pigeon.taken[0]!.sentAt - begun).toBeLessThan(SECOND);
    }
    expect(await bed.notifications()).toMatchObject([
      { channel: expect.any(String), attempts: 1, nextAt: null, error: null, reference: 'message-1' },
      { attempts: 1, deliveredAt: expect.any(Number) },
    ]);
  });

  it('questions of one batch are one message; alerts of a few seconds are one message', async () => {
    await start(['a']);
    await bed.ask({ text: 'One?' }, { text: 'Two?' }, { text: 'Three?' });
    await pass(SECOND);
    expect(pigeons.a!.taken).toMatchObject([{ title: '3 questions' }]);
    expect(pigeons.a!.taken[0]!.parts.map(({ question }) => question?.text)).toEqual(['One?', 'Two?', 'Three?']);
    await alert('disk_full');
    await pass(SECOND);
    await alert('worker_dead', 'error');
    await pass(10 * SECOND);
    expect(pigeons.a!.taken[1]).toMatchObject({ title: '2 notices', severity: 'error' });
    expect(pigeons.a!.taken).toHaveLength(2);
  });

  it('a critical alert does not wait for others', async () => {
    await start(['a']);
    await alert('emergency', 'critical');
    await pass(100);
    expect(pigeons.a!.taken).toHaveLength(1);
  });

  it('the same matter is sent at most once in five minutes', async () => {
    await start(['a']);
    for (let minute = 0; minute < 12; minute += 1) {
      await alert('stuck_twice', 'warning', 'agent-1');
      await pass(MINUTE);
    }
    expect(pigeons.a!.taken.length).toBe(3);
    const gaps = pigeons.a!.taken.slice(1).map(({ sentAt }, index) => sentAt - pigeons.a!.taken[index]!.sentAt);
    for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(5 * MINUTE - 5 * SECOND);
  });

  it('severities go where the settings say', async () => {
    await start(['a', 'b'], { minSeverity: 'warning', channels: { error: ['b'] } });
    await alert('one', 'info');
    await alert('two', 'warning');
    await alert('three', 'error');
    await pass(10 * SECOND);
    expect(pigeons.a!.titles()).toEqual(['two']);
    expect(pigeons.b!.titles()).toEqual(['2 notices']);
  });

  it('a task that needs a person is sent, unless it has an open question', async () => {
    await start(['a']);
    await bed.block('Look at me');
    await pass(10 * SECOND);
    expect(pigeons.a!.titles()).toEqual(['#1 Look at me needs you']);
    // Blocked and then retried, it is blocked again: this time with a question about it.
    await bed.must({ type: 'task.retry', projectId, taskId: 'task_1', by: personActor('ada'), note: '' });
    const asker = { stage: 'check', agent: 'engine', source: 'engine', sourceId: 'x' } as const;
    const questions = [AskedQuestion.parse({ text: 'Which port?', type: 'clarifying' })];
    await bed.must({ type: 'question.ask', projectId, taskId: 'task_1', ...asker, questions });
    await bed.failChecks('task_1');
    expect(await bed.store.task('task_1')).toMatchObject({ stage: 'blocked' });
    await pass(10 * MINUTE);
    expect(pigeons.a!.titles()).toEqual(['#1 Look at me needs you', 'A question (Q1.1)']);
  });
});

describe('in quiet hours', () => {
  const quietHours = { from: '23:00', to: '07:00', timeZone: 'UTC' };

  it('only critical alerts and blocking questions are sent; the rest follows in one message', async () => {
    await start(['a'], { quietHours });
    await alert('one');
    await pass(MINUTE);
    await alert('two', 'error');
    await bed.ask({ text: 'Blocking?' }, { text: 'Clarifying?', type: 'clarifying' });
    await alert('three', 'critical');
    await pass(MINUTE);
    expect(pigeons.a!.taken.map(({ severity }) => severity).sort()).toEqual(['critical', 'error']);
    await pass(4 * HOUR - 5 * MINUTE);
    expect(pigeons.a!.taken).toHaveLength(2);
    await pass(3 * HOUR + 10 * MINUTE);
    const late = pigeons.a!.taken.slice(2);
    expect(late.map(({ title }) => title)).toContain('2 notices');
    for (const { sentAt } of late) expect(new Date(sentAt).toISOString()).toMatch(/T07:0/);
  });
});

describe('a channel that is down', () => {
  it('loses nothing: it is tried after 1 s, 2 s … 15 min, and then gets everything in one message', async () => {
    await start(['a', 'b']);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    await alert('one');
    await pass(2 * HOUR);
    const { attempts } = pigeons.a!;
    expect(attempts).toBeGreaterThan(15);
    expect(attempts).toBeLessThan(22);
    await alert('two');
    await pass(MINUTE);
    expect(pigeons.b!.taken.length).toBeGreaterThan(0);
    expect((await bed.notifications()).find(({ channel, title }) => channel === 'a' && title === 'one')).toMatchObject({
      error: 'no route',
      deliveredAt: null,
    });
    pigeons.a!.failure = null;
    await pass(15 * MINUTE);
    expect(pigeons.a!.taken).toHaveLength(1);
    expect(pigeons.a!.taken[0]!.parts.map(({ title }) => title)).toEqual(expect.arrayContaining(['one', 'two']));
    expect((await bed.notifications()).filter(({ nextAt }) => nextAt !== null)).toEqual([]);
  });

  it('raises one alert on other channels while it stays down, which is acknowledged when it works again', async () => {
    await start(['a', 'b']);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    await alert('one');
    await pass(HOUR);
    expect(pigeons.b!.titles()).toEqual(['one', 'channel']);
    pigeons.a!.failure = null;
    await pass(16 * MINUTE);
    expect(await bed.store.records({ noun: 'alert', isOpen: true })).toMatchObject([{ kind: 'one' }]);
    expect(pigeons.a!.titles()).toEqual(['one']);
  });

  it('is no longer tried after a day; the inbox still has everything', async () => {
    await start(['a']);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    await alert('one');
    await pass(25 * HOUR);
    expect(await bed.notifications()).toMatchObject([{ nextAt: null, deliveredAt: null, error: 'no route' }]);
    expect(await bed.store.records({ noun: 'alert', isOpen: true })).toMatchObject([
      { kind: 'channel' },
      { kind: 'one' },
    ]);
  });

  it('that hangs does not delay another channel', async () => {
    const hanging: OpenChannel = async (config) => {
      const channel = await open(config);
      return config === pigeons.a!.config ? { ...channel, send: () => new Promise(() => undefined) } : channel;
    };
    await bed.start({ a: pigeons.a!.config, b: pigeons.b!.config }, { open: hanging });
    await bed.ask({ text: 'Which port?' });
    await pass(SECOND);
    expect(pigeons.b!.taken).toHaveLength(1);
  });

  it('for a wrong token has a clear error and one alert, and is tried again only every 15 minutes', async () => {
    await start(['a', 'b']);
    pigeons.a!.failure = new ChannelError('denied', 'the token is wrong', { hint: 'Correct it.' });
    await bed.ask({ text: 'Which port?' });
    await pass(10 * SECOND);
    await bed.ask({ text: 'Which host?' });
    await pass(14 * MINUTE);
    expect(pigeons.a!.attempts).toBe(1);
    await pass(2 * MINUTE);
    expect(pigeons.a!.attempts).toBeGreaterThan(1);
    expect(pigeons.a!.attempts).toBeLessThanOrEqual(3);
    const alerts = await bed.store.records({ noun: 'alert' });
    expect(alerts).toMatchObject([{ kind: 'channel', subject: 'a', severity: 'error', count: 1 }]);
    expect(alerts[0]!.text).toContain('the token is wrong Correct it.');
    expect(pigeons.b!.titles().filter((title) => title === 'channel')).toHaveLength(1);
  });

  it('does not get a question that was answered meanwhile', async () => {
    await start(['a']);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    const [question] = await bed.ask({ text: 'Which port?' });
    await pass(MINUTE);
    await bed.must({
      type: 'question.answer',
      projectId,
      taskId: null,
      questionId: question!.id,
      by: personActor('ada'),
      source: 'user',
      text: '80',
    });
    pigeons.a!.failure = null;
    await pass(HOUR);
    expect(pigeons.a!.taken).toEqual([]);
    expect(await bed.notifications()).toMatchObject([{ nextAt: null, deliveredAt: null }]);
  });
});

describe('a restart', () => {
  const restart = async () => {
    const stopped = bed.stop();
    await pass(2 * SECOND);
    await stopped;
  };

  it('sends nothing twice, and sends what was raised while no daemon ran', async () => {
    await start(['a']);
    await bed.ask({ text: 'Before?' });
    await alert('before');
    await pass(10 * SECOND);
    await restart();
    await bed.ask({ text: 'Meanwhile?' });
    await alert('meanwhile');
    await start(['a']);
    await pass(10 * SECOND);
    await restart();
    await start(['a']);
    await pass(10 * SECOND);
    const sent = pigeons.a!.taken.flatMap(({ parts }) => parts.map(({ question, title }) => question?.text ?? title));
    expect(sent.sort()).toEqual(['Before?', 'Meanwhile?', 'before', 'meanwhile'].sort());
  });

  it('tries a message again that was being sent', async () => {
    await start(['a']);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    await bed.ask({ text: 'Which port?' });
    await pass(MINUTE);
    await restart();
    pigeons.a!.failure = null;
    await start(['a']);
    await pass(SECOND);
    expect(pigeons.a!.taken).toHaveLength(1);
  });
});

describe('reminders', () => {
  const remind = async (questionId: string) => {
    await pass(5 * MINUTE);
    await bed.must({ type: 'question.remind', projectId, taskId: null, questionId });
    await pass(SECOND);
  };

  it('are sent each time, but not queued behind an undelivered one', async () => {
    await start(['a']);
    const [question] = await bed.ask({ text: 'Which port?' });
    await remind(question!.id);
    await remind(question!.id);
    expect(pigeons.a!.titles().map((title) => title.startsWith('Still open'))).toEqual([false, true, true]);
    pigeons.a!.failure = new ChannelError('down', 'no route');
    for (let count = 0; count < 5; count += 1) await remind(question!.id);
    expect((await bed.notifications()).filter(({ nextAt }) => nextAt !== null)).toHaveLength(1);
  });
});

describe('answers', () => {
  it('from a button are the option; the second reply says who was first', async () => {
    await start(['a']);
    const [question] = await bed.ask({ text: 'Which port?', options: ['80', '8080'] });
    await pass(SECOND);
    const partId = pigeons.a!.taken[0]!.parts[0]!.id;
    const first = await answered(pigeons.a!.hear!({ partId, option: 1, by: 'telegram:@ada' }));
    expect(first).toEqual({ isTaken: true, text: 'Answer saved: 8080' });
    const second = await answered(pigeons.a!.hear!({ partId, option: 0, by: 'telegram:@bob' }));
    expect(second).toEqual({ isTaken: false, text: 'Already answered by telegram:@ada: "8080"' });
    expect(await bed.question(question!)).toMatchObject({
      status: 'answered',
      answer: { by: { kind: 'person', name: 'telegram:@ada' }, option: '8080' },
    });
  });

  it('as text to a message with several questions name their question', async () => {
    await start(['a']);
    const asked = await bed.ask({ text: 'One?' }, { text: 'Two?' });
    await pass(SECOND);
    const reference = 'message-1';
    const unclear = await answered(pigeons.a!.hear!({ reference, text: 'yes', by: 'x' }));
    expect(unclear).toMatchObject({ isTaken: false, text: expect.stringContaining('2 questions') });
    const both = await answered(pigeons.a!.hear!({ reference, text: '2: no\n1) yes', by: 'x' }));
    expect(both.isTaken).toBe(true);
    const answers = await Promise.all(asked.map(async (question) => (await bed.question(question)).answer?.text));
    expect(answers).toEqual(['yes', 'no']);
  });

  it('to another project’s message, to no message, and with an unknown option change nothing', async () => {
    await bed.project('project_2', 'other');
    await start(['a']);
    await bed.start({ b: pigeons.b!.config }, { open, projectId: 'project_2' });
    const [question] = await bed.ask({ text: 'Which port?', options: ['80'] });
    await pass(SECOND);
    const partId = pigeons.a!.taken[0]!.parts[0]!.id;
    expect(await answered(pigeons.b!.hear!({ partId, option: 0, by: 'x' }))).toMatchObject({ isTaken: false });
    expect(await answered(pigeons.a!.hear!({ partId, option: 7, by: 'x' }))).toMatchObject({ isTaken: false });
    expect(await answered(pigeons.a!.hear!({ partId: 'notice_x', text: 'y', by: 'x' }))).toMatchObject({
      isTaken: false,
    });
    expect(await answered(pigeons.a!.hear!({ partId, text: '  ', by: 'x' }))).toMatchObject({ isTaken: false });
    expect(await bed.question(question!)).toMatchObject({ status: 'open' });
  });

  async function answered<T>(promise: Promise<T>): Promise<T> {
    await pass(100);
    return promise;
  }
});

describe('several projects', () => {
  it('share a channel that is configured the same, each with its own messages', async () => {
    await bed.project('project_2', 'other');
    await start(['a']);
    await bed.start({ phone: pigeons.a!.config }, { open, projectId: 'project_2' });
    await bed.ask({ text: 'One?' });
    await bed.askIn('project_2', { text: 'Two?' });
    await pass(SECOND);
    expect(pigeons.a!.taken.map(({ project }) => project).sort()).toEqual(['mill', 'other']);
  });

  it('get changed settings at once, and a removed channel gets nothing', async () => {
    await start(['a']);
    await start(['b']);
    await bed.ask({ text: 'One?' });
    await pass(SECOND);
    expect(pigeons.a!.taken).toEqual([]);
    expect(pigeons.b!.taken).toHaveLength(1);
  });
});
