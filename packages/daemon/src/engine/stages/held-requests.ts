import { UNKNOWN_REQUEST_USD, type Usage } from '@tidemill/contract';

/**
 * Requests without a price that exceed what the run may spend. They are booked as the budget allows it, one reservation after
 * the other, so that a burst of reports books no more than the reservation and one request. When the run is stopped, they are
 * forgotten: their price was only assumed.
 */
export class HeldRequests {
  #held = 0;

  /** The part of the report that is booked now, and how many booked requests its price settles. `roomUsd`: what may be spent. */
  admit(report: Usage, settled: number, roomUsd: number): { report: Usage; settled: number } {
    const ofHeld = Math.min(settled, this.#held);
    this.#held -= ofHeld;
    if (report.costUsd !== null) return { report, settled: settled - ofHeld };
    const requests = Math.min(report.requests, fitting(roomUsd));
    this.#held += report.requests - requests;
    return { report: { ...report, requests }, settled: settled - ofHeld };
  }

  /** What can be booked now; null: nothing. */
  release(roomUsd: number): Usage | null {
    const requests = Math.min(this.#held, fitting(roomUsd));
    this.#held -= requests;
    return requests === 0 ? null : { inputTokens: 0, outputTokens: 0, costUsd: null, requests };
  }
}

/** The last one may exceed the reservation: then the agent is suspended. */
const fitting = (roomUsd: number) => (roomUsd < 0 ? 0 : Math.floor(roomUsd / UNKNOWN_REQUEST_USD) + 1);
