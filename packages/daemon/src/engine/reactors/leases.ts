import { REACTORS } from '@tidemill/contract';
import type { Reactor, ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { expireLeases } from '../dispatch/recovery.ts';
import type { Fleet } from '../workers/fleet.ts';
import type { LeasedWork } from '../workers/leased-work.ts';
import type { Supervisor } from './supervisor.ts';

const EVERY_MS = 60_000;

/** Stops the agent at once when its lease was ended elsewhere (cancelled, expired), not only at the next heartbeat. */
export class LeaseWatch implements Reactor {
  readonly name = 'leases';
  readonly projectId: string;
  readonly on = REACTORS.leases.on;
  readonly #fleet: Fleet;
  readonly #onReset: () => void;

  /** `onReset`: a person intervened, so agents in backoff may be tried again. */
  constructor({ project }: EngineDeps, fleet: Fleet, onReset: () => void) {
    this.projectId = project.id;
    this.#fleet = fleet;
    this.#onReset = onReset;
  }

  async handle(call: ReactorCall): Promise<void> {
    for (const { body } of call.cause === 'events' ? call.events : []) {
      if (body.type === 'task.counters_reset') this.#onReset();
      if (body.type !== 'lease.released') continue;
      const { subjectId, jobId, token } = body;
      const isIt = (fence: LeasedWork['fence']) =>
        fence.subjectId === subjectId && fence.jobId === jobId && fence.token === token;
      const slot = this.#fleet.slots.find(({ leased }) => leased && isIt(leased.fence));
      slot?.leased?.abandon('lease lost');
    }
  }
}

/** Takes back leases that are not renewed. */
export const leaseExpiry = (deps: EngineDeps): RoutedReactor => ({
  name: 'lease-expiry',
  projectId: deps.project.id,
  everyMs: EVERY_MS,
  async handle({ cause }) {
    if (cause === 'tick') await expireLeases(deps);
  },
});

/** `onWaiting`: work may have become claimable, because a backoff or a lock ended or the clock was changed. */
export const supervision = ({ project }: EngineDeps, supervisor: Supervisor, onWaiting: () => void): RoutedReactor => ({
  name: 'supervision',
  projectId: project.id,
  everyMs: EVERY_MS,
  async handle({ cause }) {
    if (cause !== 'tick') return;
    let isWaiting = true;
    try {
      isWaiting = await supervisor.pass();
    } finally {
      if (isWaiting) onWaiting();
    }
  },
});
