import { AskedQuestion, type ChannelConfig, type Notification, NotifyConfig, type Question } from '@tidemill/contract';
import type { Command } from '@tidemill/core';
import { ChannelDelivery } from '../../../packages/daemon/src/channels/delivery.ts';
import { createOpenChannel } from '../../../packages/daemon/src/channels/open.ts';
import { Screens } from '../../../packages/daemon/src/channels/screens.ts';
import { createIds, systemClock } from '../../../packages/daemon/src/clock.ts';
import { ReactorHost } from '../../../packages/daemon/src/engine/reactors/host.ts';
import type { Clock, OpenChannel, Store } from '../../../packages/daemon/src/ports.ts';
import { openStore } from '../../../packages/daemon/src/store/open.ts';
import { rules } from '../../contract/store-bed.ts';

type Asking = Parameters<typeof AskedQuestion.parse>[0];

/** A store with a project, and a delivery for it, like the daemon's, but without an engine. */
export class DeliveryBed {
  readonly store: Store;
  readonly clock: Clock;
  readonly env: NodeJS.ProcessEnv;
  readonly screens = new Screens();
  readonly notes: string[] = [];
  delivery: ChannelDelivery | null = null;

  static async open(env: NodeJS.ProcessEnv = {}, clock: Clock = systemClock): Promise<DeliveryBed> {
    const store = await openStore({ url: 'memory:', clock, ids: createIds(clock) });
    const bed = new DeliveryBed(store, clock, env);
    await bed.project('project_1', 'mill');
    return bed;
  }

  private constructor(store: Store, clock: Clock, env: NodeJS.ProcessEnv) {
    this.store = store;
    this.clock = clock;
    this.env = env;
  }

  async project(projectId: string, name: string): Promise<void> {
    await this.must({ type: 'project.register', projectId, name, root: `/${name}`, rules });
  }

  async must(command: Command) {
    const reply = await this.store.execute(command);
    if (!reply.ok) throw new Error(`${command.type}: ${reply.refusal.message}`);
    return reply;
  }

  /** A task whose checks failed, so that it is blocked. */
  async block(title: string): Promise<void> {
    const projectId = 'project_1';
    const task = { body: '', kind: 'feature', accept: [], files: [], dependsOn: [], priority: 2 } satisfies object;
    const taskId = 'task_1';
    await this.must({ ...task, kind: 'feature', type: 'task.create', projectId, taskId, title });
    await this.failChecks(taskId);
  }

  async failChecks(taskId: string): Promise<void> {
    const projectId = 'project_1';
    const workerId = `${projectId}/verifier`;
    await this.must({ type: 'worker.register', projectId, workerId, name: 'verifier', role: 'verifier' });
    const claim = { type: 'work.claim', projectId, workerId, role: 'verifier', owner: 'test', window: 8 } as const;
    const { token } = (await this.must(claim)).task!.lease!;
    await this.must({
      type: 'stage.finish',
      projectId,
      subjectId: taskId,
      token,
      outcome: 'failed',
      message: 'the checks failed',
    });
  }

  /** A delivery over the same store, like that of a restarted daemon. */
  async start(
    channels: Record<string, ChannelConfig>,
    { notify = {}, open = this.opener(), projectId = 'project_1' }: StartOptions = {},
  ): Promise<void> {
    const { store, clock } = this;
    const onNote = (text: string, error?: unknown) => void this.notes.push(`${text} ${error ?? ''}`);
    this.delivery ??= new ChannelDelivery({
      store,
      clock,
      open,
      onNote,
      reactors: new ReactorHost({ store, clock, onNote }),
    });
    const project = (await store.project(projectId))!;
    await this.delivery.attach(project, { channels, notify: NotifyConfig.parse(notify) });
  }

  async stop(): Promise<void> {
    await this.delivery?.stop();
    this.delivery = null;
  }

  async close(): Promise<void> {
    await this.stop();
    await this.store.close();
  }

  opener(): OpenChannel {
    const host = { apiUrl: 'http://127.0.0.1:1', dataDir: '/', homeId: 'test', platform: process.platform };
    return createOpenChannel({ ...host, env: this.env, clock: this.clock, screens: this.screens });
  }

  async ask(...questions: Asking[]): Promise<Question[]> {
    return this.askIn('project_1', ...questions);
  }

  async askIn(projectId: string, ...questions: Asking[]): Promise<Question[]> {
    const asker = { stage: 'open', agent: 'engine', source: 'engine', sourceId: 'x' } as const;
    const asked = questions.map((question) => AskedQuestion.parse(question));
    const { events } = await this.must({ type: 'question.ask', projectId, taskId: null, ...asker, questions: asked });
    return events.flatMap(({ body }) => (body.type === 'question.asked' ? [body.question] : []));
  }

  question = async ({ id }: Question): Promise<Question> => (await this.store.record('question', id))!;

  notifications = (): Promise<Notification[]> => this.store.records({ noun: 'notification' });

  /** Follows the log from now until an event of the type arrives. */
  async event(type: string, count = 1): Promise<void> {
    const over = new AbortController();
    let left = count;
    for await (const _ of this.store.subscribe(0, { types: [type] }, over.signal)) {
      left -= 1;
      if (left === 0) break;
    }
    over.abort();
  }
}

interface StartOptions {
  notify?: object;
  open?: OpenChannel;
  projectId?: string;
}
