import { isBuilding, MODES, type ProposalDraft } from '@tidemill/contract';
import type {
  Agent,
  AgentBrief,
  AgentEnd,
  AgentRequest,
  AgentSession,
  AgentSink,
  Clock,
} from '../../packages/daemon/src/ports.ts';
import type { Random } from './random.ts';
import type { SimRepository } from './repository.ts';

const MINUTE = 60_000;
const SYLLABLES = ['ba', 'co', 'du', 'fe', 'gi', 'lo', 'mu', 'na', 'po', 're', 'si', 'ta', 've', 'xo', 'zu'];

/** What the agents of one story remember, whatever happens to their daemon. */
export class LoopIdeas {
  /** The idea behind each title: two titles with the same idea are duplicates. */
  readonly ideaOf = new Map<string, number>();
  readonly #drafts: ProposalDraft[] = [];
  readonly #random: Random;

  constructor(random: Random) {
    this.#random = random;
  }

  /** A new idea, or sometimes an earlier one in other words. */
  next(): ProposalDraft {
    const old = this.#drafts.length > 0 && this.#random.chance(0.15) ? this.#random.pick(this.#drafts) : null;
    const draft = old ? reworded(old) : this.#invented();
    const idea = old ? this.ideaOf.get(old.title)! : this.#drafts.length;
    this.ideaOf.set(draft.title, idea);
    if (!old) this.#drafts.push(draft);
    return draft;
  }

  #invented(): ProposalDraft {
    const words = Array.from({ length: 14 }, () => this.#word());
    const missing = this.#random.chance(0.05) ? ['not/there.ts'] : [];
    return {
      title: `Improve ${words.slice(0, 4).join(' ')}`,
      description: `The ${words.slice(4, 9).join(' ')} is slow. Change ${words.slice(0, 2).join(' and ')}.`,
      criteria: words.slice(9, 12).map((word) => `a test shows that ${word} returns within a second`),
      approach: `Begin with ${words.slice(12).join(' ')}.`,
      effortHours: 1 + this.#random.int(8),
      files: missing,
      newFiles: [],
      dependencies: [],
    };
  }

  #word(): string {
    return Array.from({ length: 3 }, () => this.#random.pick(SYLLABLES)).join('');
  }
}

const reworded = (draft: ProposalDraft): ProposalDraft => ({
  ...draft,
  title: draft.title.replace('Improve', 'Improving the'),
  description: `Today ${draft.description.replace('is slow', 'takes too long')}`,
});

/** Proposes and builds. Mostly well; sometimes it has no idea, returns nonsense, or dies. */
export class LoopAgent implements Agent {
  readonly label = 'simulated';
  readonly #repository: SimRepository;
  readonly #ideas: LoopIdeas;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #isAlive: () => boolean;

  constructor(parts: {
    repository: SimRepository;
    ideas: LoopIdeas;
    clock: Clock;
    random: Random;
    isAlive(): boolean;
  }) {
    this.#repository = parts.repository;
    this.#ideas = parts.ideas;
    this.#clock = parts.clock;
    this.#random = parts.random;
    this.#isAlive = parts.isAlive;
  }

  start({ cwd, brief }: AgentRequest, sink: AgentSink): AgentSession {
    const stop = new AbortController();
    return { end: this.#play(cwd, brief, sink, stop.signal), stop: async () => stop.abort() };
  }

  async #play(cwd: string, brief: AgentBrief, sink: AgentSink, stop: AbortSignal): Promise<AgentEnd> {
    const isProposing = brief.mode === 'propose';
    // Builders show signs of life meanwhile.
    for (let part = 0; part < (isProposing ? 4 : 20) && !stop.aborted; part += 1) {
      await this.#clock.sleep(isProposing ? 2 * MINUTE : this.#random.int(9 * MINUTE), stop);
      if (!stop.aborted && this.#isAlive())
        sink.usage({ inputTokens: 1000, outputTokens: 100, requests: 1, costUsd: 0.02 });
    }
    if (!this.#isAlive()) return new Promise(() => undefined);
    if (stop.aborted || this.#random.chance(0.05))
      return { kind: 'failed', failure: 'crash', message: 'died', exitCode: 1 };
    if (isProposing) return this.#propose();
    const { number, acceptance } = brief.task!;
    if (isBuilding(brief.mode)) this.#repository.work(cwd)?.set(`file-${number}`, 'fine');
    const criteria = acceptance.map(({ id }) => ({ id, met: true, evidence: 'test passes' }));
    const outcome = MODES[brief.mode].outcomes[0];
    return {
      kind: 'result',
      envelope: { outcome, summary: 'done', plan: 'plan', review: { criteria, comments: [] } },
    };
  }

  #propose(): AgentEnd {
    const x = this.#random.next();
    if (x < 0.05) return { kind: 'failed', failure: 'no_result', message: 'prose', exitCode: null };
    if (x < 0.12) return { kind: 'result', envelope: { outcome: 'no_idea', summary: 'nothing to improve' } };
    const proposal = this.#ideas.next();
    return { kind: 'result', envelope: { outcome: 'proposed', summary: proposal.title, proposal } };
  }
}
