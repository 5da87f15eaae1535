import type { EngineDeps } from '../deps.ts';
import { claimNext } from '../dispatch/claim-next.ts';
import type { FencedCommand } from '../workers/leased-work.ts';
import { LeasedTask } from '../workers/leased-work.ts';

/**
 * The tasks that land together. The slot claimed the first one. The others join under leases of their own, and are
 * released when the stage of the first one is over.
 */
export class Batch {
  readonly #deps: EngineDeps;
  readonly #joined: LeasedTask[] = [];
  readonly #over = new Set<LeasedTask>();
  readonly head: LeasedTask;

  constructor(deps: EngineDeps, head: LeasedTask) {
    this.#deps = deps;
    this.head = head;
  }

  /** Those that still take part, in the order in which they land. */
  get members(): LeasedTask[] {
    return [this.head, ...this.#joined].filter((member) => !this.#over.has(member) && !member.signal.aborted);
  }

  /** Takes further tasks that wait to be merged, up to the project's limit. */
  async fill(): Promise<void> {
    const { store, project, owner, batch } = this.#deps;
    const { workerId } = this.head.task.lease!;
    // A task that left the batch is claimed again when its stage starts again, not within this one.
    while (this.members.length < batch && this.#over.size === 0) {
      const reply = await claimNext(store, 'merger', (window) => ({
        type: 'work.claim',
        projectId: project.id,
        workerId,
        role: 'merger',
        owner,
        window,
        batch,
      }));
      if (!reply.ok || reply.task?.lease?.workerId !== workerId) return;
      const member = new LeasedTask(reply.task, 'merger', store, this.#deps.clock);
      this.#joined.push(member);
      void member.keepAlive((error) => this.#deps.onNote(`heartbeat for ${member.label} failed`, error));
    }
  }

  /** Its stage is over, or it waits for a person: its lease has ended. */
  drop(member: LeasedTask): void {
    this.#over.add(member);
    if (member !== this.head) member.end();
  }

  /** It does not fit to the others now. It is claimed again later. */
  async release(member: LeasedTask, why: string): Promise<void> {
    this.drop(member);
    if (!member.signal.aborted) await member.release(why);
  }

  /** One command for each of these, all or none. Returns the member whose command was refused, if any. */
  async execute(
    members: LeasedTask[],
    command: (member: LeasedTask, index: number) => FencedCommand,
  ): Promise<LeasedTask | null> {
    const reply = await this.#deps.store.executeAll(members.map((member, i) => member.fenced(command(member, i))));
    if (reply.ok) return null;
    const refused = members[reply.index]!;
    if (reply.refusal.code !== 'stale_lease') throw new Error(`#${refused.task.number}: ${reply.refusal.message}`);
    refused.abandon('lease lost');
    return refused;
  }

  /** The same for those that still hold their lease. What another worker holds is settled by that worker. */
  async executeHeld(members: LeasedTask[], command: (member: LeasedTask) => FencedCommand): Promise<void> {
    let held = members;
    for (let lost = await this.execute(held, command); lost && held.length > 1; ) {
      const gone = lost;
      held = held.filter((member) => member !== gone);
      lost = await this.execute(held, command);
    }
  }

  /** The slot releases the first one. */
  async close(): Promise<void> {
    for (const member of this.#joined) if (!this.#over.has(member)) await this.release(member, 'not in this batch');
  }
}
