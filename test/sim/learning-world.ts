import { isBuilding, LessonDraft, type LessonProof, MODES } from '@tidemill/contract';
import { meanOf } from '../../packages/core/src/replay/figures.ts';
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
/** How often an agent makes a mistake that no lesson is about. */
const NOISE = 0.05;
const REPLAYED = 20;

/** A part of the code, the mistake that every agent makes there, and what would prevent it. */
interface Area {
  folder: string;
  cure: string;
}

export const AREAS: readonly Area[] = [
  { folder: 'schema', cure: 'Regenerate the client after every change of the schema' },
  { folder: 'migrations', cure: 'Give each column of a migration a default value' },
  { folder: 'api', cure: 'Register a new route in the table of permissions' },
  { folder: 'page', cure: 'Escape names of customers before they are rendered' },
  { folder: 'mail', cure: 'Close the connection to the mail server in a finally block' },
];

const USELESS = ['The logo of this folder was drawn by Lisa', 'Most files of this folder were written in March'];
const HARMFUL = 'Return null from every function of this folder';

/** Lessons that somebody planted: two useless ones and a harmful one for each area. */
export const PLANTED = AREAS.flatMap(({ folder }) => [
  ...USELESS.map((text) => ({ folder, text: text.replace('this folder', `${folder} ${folder}`), isHarmful: false })),
  { folder, text: HARMFUL.replace('this folder', `${folder} ${folder}`), isHarmful: true },
]);

export const PLACEBO = 'Notes about the history of this place belong to its history';

export const draftFor = (folder: string, text: string): LessonDraft =>
  LessonDraft.parse({ text, filePatterns: [`${folder}/**`] });

/** What an agent does wrong at its first try in an area, with these lessons in its prompt. */
function faultIn(folder: string, prompt: string, random: Random): 'mistake' | 'harm' | 'noise' | null {
  const isNoisy = random.chance(NOISE);
  if (PLANTED.some(({ text, isHarmful }) => isHarmful && prompt.includes(text))) return 'harm';
  const area = AREAS.find((each) => each.folder === folder);
  if (area && !prompt.includes(area.cure)) return 'mistake';
  return isNoisy ? 'noise' : null;
}

/** The same tasks with the lesson, without it, and with a placebo in its place. */
export function pairedReplay(folder: string, text: string, random: Random): LessonProof {
  const passes = (prompt: string) => Array.from({ length: REPLAYED }, () => faultIn(folder, prompt, random) === null);
  const [without, given, placebo] = [passes(''), passes(text), passes(PLACEBO)];
  const gains = given.map((passed, index) => Number(passed) - Number(without[index]));
  const { value, low, high } = meanOf(gains)!;
  const placeboGain = meanOf(placebo.map((passed, index) => Number(passed) - Number(without[index])))!.value;
  const within = (share: number) => Math.max(-1, Math.min(1, share));
  return {
    replayId: `replay_${folder}`,
    pairs: REPLAYED,
    gain: value,
    low: within(low),
    high: within(high),
    placeboGain,
    costUsd: null,
  };
}

/** Builds. It repeats the mistake of its area unless its prompt says how to prevent it, and repairs what a gate reports. */
export class LearningAgent implements Agent {
  readonly label = 'simulated';
  readonly #parts: LearningParts;

  constructor(parts: LearningParts) {
    this.#parts = parts;
  }

  start({ cwd, brief, runId }: AgentRequest, sink: AgentSink): AgentSession {
    const stop = new AbortController();
    return { end: this.#play(cwd, brief, runId, sink, stop.signal), stop: async () => stop.abort() };
  }

  async #play(cwd: string, brief: AgentBrief, runId: string, sink: AgentSink, stop: AbortSignal): Promise<AgentEnd> {
    const { clock, random, repository, isAlive, onFault } = this.#parts;
    await clock.sleep(random.int(4 * MINUTE), stop);
    if (!isAlive()) return new Promise(() => undefined);
    if (stop.aborted || random.chance(0.03)) return { kind: 'failed', failure: 'crash', message: 'died', exitCode: 1 };
    sink.usage({ inputTokens: 1000, outputTokens: 100, requests: 1, costUsd: 0.01 });
    const { number, files } = brief.task!;
    const folder = files[0]!.split('/')[0]!;
    if (isBuilding(brief.mode)) {
      const fault = brief.feedback.length > 0 ? null : faultIn(folder, brief.prompt, random);
      if (fault) onFault({ fault, folder, runId, number });
      repository.work(cwd)?.set(`${folder}/file-${number}`, fault ? 'bug' : 'fine');
    }
    return { kind: 'result', envelope: { outcome: MODES[brief.mode].outcomes[0], summary: 'done', plan: 'plan' } };
  }
}

export interface Fault {
  fault: 'mistake' | 'harm' | 'noise';
  folder: string;
  runId: string;
  number: number;
}

interface LearningParts {
  repository: SimRepository;
  clock: Clock;
  random: Random;
  isAlive(): boolean;
  onFault(fault: Fault): void;
}
