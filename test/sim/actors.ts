import { AskedQuestion, type GateStatus, INTEGRITY_GATE, isBuilding, MODES, type Usage } from '@tidemill/contract';
import type {
  Agent,
  AgentBrief,
  AgentEnd,
  AgentRequest,
  AgentSession,
  AgentSink,
  Clock,
  GateReport,
  GateRequest,
  Gates,
} from '../../packages/daemon/src/ports.ts';
import { isSound, isUnresolved, treeOf } from './files.ts';
import { linesOf, reportedLines, resolve } from './merge-losses.ts';
import type { Random } from './random.ts';
import type { SimRepository } from './repository.ts';

const MINUTE = 60_000;

type Behaviour = 'honest' | 'sloppy' | 'idle liar' | 'crash' | 'silent' | 'asks' | 'slow' | 'out of role';

/** A random agent for each run: mostly honest, sometimes anything else. */
const WHICH_TIDE = AskedQuestion.parse('Which tide?');

export class SimAgent implements Agent {
  readonly label = 'simulated';
  readonly #repository: SimRepository;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #isAlive: () => boolean;
  /** The feedback that a building agent was given. */
  onBrief: (texts: string[]) => void = () => undefined;

  constructor(repository: SimRepository, clock: Clock, random: Random, isAlive: () => boolean) {
    this.#repository = repository;
    this.#clock = clock;
    this.#random = random;
    this.#isAlive = isAlive;
  }

  start({ cwd, brief, timeoutMs }: AgentRequest, sink: AgentSink): AgentSession {
    const stop = new AbortController();
    const end = this.#play(cwd, brief, timeoutMs, sink, stop.signal);
    return { end, stop: async () => stop.abort() };
  }

  async #play(
    cwd: string,
    brief: AgentBrief,
    timeoutMs: number,
    sink: AgentSink,
    stop: AbortSignal,
  ): Promise<AgentEnd> {
    if (isBuilding(brief.mode)) this.onBrief(brief.feedback.map(({ text }) => text));
    const behaviour = this.#draw();
    const takesMs = behaviour === 'slow' ? this.#random.int(50 * MINUTE) : this.#random.int(4 * MINUTE);
    const requests = 1 + this.#random.int(4);
    for (let request = 1; request <= requests && !stop.aborted; request += 1) {
      await this.#clock.sleep(Math.min(takesMs, timeoutMs) / requests, stop);
      if (!stop.aborted && this.#isAlive()) sink.usage(this.#request());
    }
    if (stop.aborted) return failed('crash', 'stopped');
    // An agent dies with its daemon; the files it wrote stay.
    if (!this.#isAlive()) return new Promise(() => undefined);
    if (takesMs > timeoutMs) return failed('timeout', 'took too long');
    switch (behaviour) {
      case 'crash':
        return failed(this.#random.pick(['crash', 'network', 'rate_limit'] as const), 'died');
      case 'silent':
        return failed('no_result', 'said nothing');
      case 'asks':
        return { kind: 'result', envelope: { outcome: 'needs_info', summary: '', open_questions: this.#questions() } };
      case 'out of role':
        return {
          kind: 'result',
          envelope: { outcome: this.#random.pick(['approved', 'plan_complete'] as const), summary: '' },
        };
      case 'idle liar':
        return this.#answer(brief, false);
      default:
        if (isBuilding(brief.mode)) this.#write(cwd, brief, behaviour === 'sloppy');
        return this.#answer(brief, behaviour === 'sloppy');
    }
  }

  #questions(): AskedQuestion[] {
    const type = this.#random.pick(['blocking', 'blocking', 'clarifying', 'preference'] as const);
    const more = { ...WHICH_TIDE, text: `How high, ${this.#random.int(50)}?`, type, default: 'high' };
    return this.#random.chance(0.5) ? [WHICH_TIDE] : [WHICH_TIDE, more];
  }

  /** One request to a model; sometimes without a price. */
  #request(): Usage {
    const costUsd = this.#random.chance(0.1) ? null : (1 + this.#random.int(40)) / 100;
    return { inputTokens: 1000, outputTokens: 100, requests: 1, costUsd };
  }

  #draw(): Behaviour {
    const x = this.#random.next();
    if (x < 0.82) return 'honest';
    return this.#random.pick([
      'sloppy',
      'sloppy',
      'idle liar',
      'crash',
      'silent',
      'asks',
      'slow',
      'out of role',
    ] as const);
  }

  #write(branch: string, brief: AgentBrief, isSloppy: boolean): void {
    const work = this.#repository.work(branch);
    if (!work) return;
    const { number } = brief.task!;
    for (const [path, text] of work) if (text.includes('<<<')) work.set(path, resolve(text, this.#random.chance(0.8)));
    const lost = brief.feedback.flatMap(({ text }) => reportedLines(text));
    if (lost.length > 0 && this.#random.chance(0.7))
      work.set('shared', [...new Set([...linesOf(work, 'shared'), ...lost])].join('\n'));
    const word = isSloppy
      ? 'bug'
      : brief.feedback.length > 0
        ? 'fine'
        : this.#random.pick(['fine', 'fine', 'fine', 'ebb', 'flood']);
    work.set(`file-${number}`, `${word}-${this.#random.int(1e6)}`);
    // A task changes its own line of a file that all of them use.
    const others = linesOf(work, 'shared').filter((line) => !line.startsWith(`line-${number}-`));
    if (this.#random.chance(0.3)) work.set('shared', [...others, `line-${number}-${this.#random.int(1e6)}`].join('\n'));
  }

  #answer(brief: AgentBrief, isHarsh: boolean): AgentEnd {
    switch (brief.mode) {
      case 'plan':
      case 'plan_revision':
        return {
          kind: 'result',
          envelope: {
            outcome: 'plan_complete',
            summary: '',
            plan: 'plan',
            planSummary: 'plan',
            ...(this.#random.chance(0.5) ? { criteria: ['it works'] } : {}),
          },
        };
      case 'investigate':
        return { kind: 'result', envelope: { outcome: 'investigation_complete', summary: '', plan: 'cause' } };
      case 'implement':
      case 'request_changes':
        return { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'built it' } };
      case 'review': {
        const met = !isHarsh && this.#random.chance(0.85);
        const { acceptance } = brief.task!;
        const judged = acceptance.length > 0 ? acceptance : [{ id: 'C1', text: 'it works' }];
        const criteria = judged.map(({ id, text }) => ({ id, text, met, evidence: 'test passes' }));
        if (this.#random.chance(0.1)) criteria.pop();
        const outcome = met || this.#random.chance(0.2) ? ('approved' as const) : ('changes_requested' as const);
        return { kind: 'result', envelope: { outcome, summary: 'judged', review: { criteria, comments: [] } } };
      }
      default:
        return { kind: 'result', envelope: { outcome: MODES[brief.mode].outcomes[0], summary: 'done' } };
    }
  }
}

const failed = (failure: 'crash' | 'network' | 'rate_limit' | 'no_result' | 'timeout', message: string): AgentEnd => ({
  kind: 'failed',
  failure,
  message,
  exitCode: null,
});

/** Gates that check the actual files of the worktree, and report for the tree they were given. */
export class SimGates implements Gates {
  readonly names = [INTEGRITY_GATE, 'test'];
  /** A file that many tasks change decides what the gate checks: it lands after a review or an approval. */
  readonly checks = [{ name: 'test', run: 'test', proves: ['shared'], timeout: 2 * MINUTE }];
  readonly #repository: SimRepository;
  readonly #clock: Clock;
  readonly #random: Random;
  /** Trees on which the gates really ran and passed, for the invariants. */
  readonly passed: Set<string>;
  /** How often a gate fails on code that is sound. */
  flakes = 0;

  constructor(repository: SimRepository, clock: Clock, random: Random, passed: Set<string>) {
    this.#repository = repository;
    this.#clock = clock;
    this.#random = random;
    this.passed = passed;
  }

  async run({ path, tree, only, own = [], again = [], signal }: GateRequest): Promise<GateReport[]> {
    await this.#clock.sleep(this.#random.int(2 * MINUTE), signal);
    const files = this.#repository.shown(path);
    const isFlaky = this.flakes > 0 && this.#random.chance(this.flakes);
    const status: GateStatus = isSound(files) && !isFlaky ? 'pass' : 'fail';
    if (status === 'pass') this.passed.add(treeOf(files));
    const statusOf = (gate: string) => (gate === INTEGRITY_GATE && !isUnresolved(files) ? 'pass' : status);
    const commands = new Map(own.map(({ name, run }) => [name, run]));
    return (only ?? [...this.names, ...commands.keys()]).map((gate) => ({
      receipt: {
        gate,
        command: commands.get(gate) ?? gate,
        tree,
        status: statusOf(gate),
        exitCode: statusOf(gate) === 'pass' ? 0 : 1,
        durationMs: 1,
        counts: null,
        logHash: '',
        level: '',
        environment: '',
        config: '',
        attempt: again.includes(gate) ? 2 : 1,
      },
      excerpt: statusOf(gate) === 'pass' ? '' : 'a gate failed',
      fixed: [],
    }));
  }
}
