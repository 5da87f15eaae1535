import type { FailureClass } from '@tidemill/contract';
import type { Agent, AgentEnd, AgentRequest, AgentSession, AgentSink, Clock } from '../ports.ts';

/** Failures of the vendor or the machine, not of the work. Another agent may succeed. */
const DOWN: FailureClass[] = ['auth', 'credit', 'rate_limit', 'overloaded', 'spawn'];
/** How long an agent that is down is skipped when it gave no retry time. */
const REST_MS = 5 * 60_000;

/** Uses the first agent of a chain that is not known to be down. If it fails, the next one takes over the run. */
export function withFallback(first: Agent, others: Agent[], clock: Pick<Clock, 'now'>): Agent {
  if (others.length === 0) return first;
  const downUntil = new Map<Agent, number>();
  return {
    label: `${first.label}, else ${others.map(({ label }) => label).join(', else ')}`,
    isFree: [first, ...others].every(({ isFree }) => isFree),
    start: (request, sink) => startChain([first, ...others], downUntil, clock, request, sink),
  };
}

function startChain(
  chain: Agent[],
  downUntil: Map<Agent, number>,
  clock: Pick<Clock, 'now'>,
  request: AgentRequest,
  sink: AgentSink,
): AgentSession {
  let current: AgentSession | null = null;
  let isStopped = false;
  const play = async (): Promise<AgentEnd> => {
    // If all are down, the first is tried anyway.
    const awake = chain.filter((agent) => (downUntil.get(agent) ?? 0) <= clock.now());
    const candidates = awake.length > 0 ? awake : chain.slice(0, 1);
    const owned = request.resume === null ? null : sessionIn(chain, request.resume);
    for (const [index, agent] of candidates.entries()) {
      const resume = owned?.agent === agent ? owned.session : null;
      const session = (id: string) => sink.session(nameIn(chain, agent, id));
      current = agent.start({ ...request, resume }, { ...sink, session });
      const end = await current.end;
      if (end.kind === 'result' || !DOWN.includes(end.failure) || isStopped) return end;
      downUntil.set(agent, end.retryAt ?? clock.now() + REST_MS);
      const next = candidates[index + 1];
      if (!next) return end;
      sink.output(`\n[${agent.label} is down (${end.failure}): ${end.message}; ${next.label} takes over]\n`);
    }
    throw new Error('a chain of agents has at least one');
  };
  return {
    end: play(),
    stop: async () => {
      isStopped = true;
      await current?.stop();
    },
  };
}

/**
 * A session belongs to the agent that began it, so in a chain its name says which that is. The first agent's keep their
 * own names. The label identifies the chain: after a change of the chain no session is resumed.
 */
function nameIn(chain: Agent[], agent: Agent, session: string): string {
  const place = chain.indexOf(agent);
  return place === 0 ? session : `${place + 1}:${session}`;
}

function sessionIn(chain: Agent[], name: string): { agent: Agent; session: string } | null {
  const [, place, session] = /^(\d+):(.+)$/s.exec(name) ?? [];
  const agent = place === undefined ? undefined : chain[Number(place) - 1];
  if (agent && session !== undefined) return { agent, session };
  return chain[0] ? { agent: chain[0], session: name } : null;
}
