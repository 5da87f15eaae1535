import { type Delivery, type EnvironmentRules, environmentId, personActor } from '@tidemill/contract';
import type { Reply } from '@tidemill/core';
import type { EngineDeps } from '../../packages/daemon/src/engine/deps.ts';
import type { Agent } from '../../packages/daemon/src/ports.ts';
import { EngineBed, quickAgent } from './engine-bed.ts';
import { ScriptedDeliverer } from './scripted-deliverer.ts';

export const MINUTE = 60_000;
export const STAGING: EnvironmentRules = {
  name: 'staging',
  when: 'task',
  approve: 'automated',
  after: null,
  hasHealth: true,
  hasRollback: false,
  repeatable: false,
};

/** Finds every requirement of a specification met. */
const judge: Agent = {
  label: 'judge',
  start() {
    const judgement = { requirements: [{ requirement: 'R1', met: true, evidence: 'file' }] };
    const envelope = { outcome: 'judged', summary: 'all met', judgement } as const;
    return { end: Promise.resolve({ kind: 'result', envelope }), stop: async () => undefined };
  },
};

/** The engine with environments in memory. Tasks land by themselves. */
export class DeliveryBed {
  readonly bed: EngineBed;
  readonly deliverer: ScriptedDeliverer;
  #number = 0;
  #requests = 0;

  private constructor(bed: EngineBed, deliverer: ScriptedDeliverer) {
    this.bed = bed;
    this.deliverer = deliverer;
  }

  static async open(
    delivery: EnvironmentRules[],
    change: (bed: EngineBed) => Partial<EngineDeps> = () => ({}),
  ): Promise<DeliveryBed> {
    const deliverer = new ScriptedDeliverer();
    const bed = await EngineBed.open({ delivery }, (own) => ({
      deliverer,
      agentFor: (mode) => (mode === 'judge' ? judge : quickAgent(() => own.repository)),
      isOwnerDead: () => true,
      ...change(own),
    }));
    await bed.start();
    return new DeliveryBed(bed, deliverer);
  }

  /** Lands a task and returns its commit. */
  async land(): Promise<string> {
    this.#number += 1;
    await this.bed.add(this.#number);
    await this.bed.pass(10 * MINUTE);
    const task = await this.bed.store.task(`task_${this.#number}`);
    if (task?.stage !== 'done') throw new Error(`#${this.#number} did not land: ${task?.stage}`);
    return task.landedCommit!;
  }

  /** Ada asks for a commit in staging. */
  async request(commit: string, override: string | null = null): Promise<Reply> {
    const { projectId, store, repository } = this.bed;
    this.#requests += 1;
    const deliveryId = `delivery_of_ada_${this.#requests}`;
    const about = { projectId, deliveryId, environment: 'staging', commit, tree: await repository.treeOf(commit) };
    return store.execute({
      ...{ type: 'delivery.request', ...about, tasks: [], taskCount: 0, cause: 'manual', specId: null },
      ...{ override, isApproved: true, replaces: [], by: personActor('ada') },
    });
  }

  async deliveries(): Promise<Delivery[]> {
    const all = await this.bed.store.records({ noun: 'delivery', projectId: this.bed.projectId });
    return all.sort((a, b) => a.number - b.number);
  }

  async statuses(): Promise<string[]> {
    return (await this.deliveries()).map(({ environment, status }) => `${environment} ${status}`);
  }

  environment(name = 'staging') {
    return this.bed.store.record('environment', environmentId(this.bed.projectId, name));
  }

  questions() {
    return this.bed.store.records({ noun: 'question', projectId: this.bed.projectId, isOpen: true });
  }

  async answer(text: string, by = personActor('ada')) {
    const [question] = await this.questions();
    const { id: questionId, projectId, taskId, subjectId } = question!;
    const reply = await this.bed.store.execute({
      ...{ type: 'question.answer', projectId, taskId, subjectId, questionId, text, by, source: 'user' },
    });
    await this.bed.pass(MINUTE);
    return reply;
  }

  /** The daemon dies now: nothing more is recorded, and the next one starts. */
  async killed(): Promise<void> {
    await this.bed.stop();
    await this.bed.start();
    await this.bed.pass(MINUTE);
  }
}
