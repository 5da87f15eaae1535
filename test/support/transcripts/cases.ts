import { AUTONOMY_PRESETS } from '../../../packages/contract/src/index.ts';
import type { AgentBrief, AgentRequest, GuardVerdict, ToolCall } from '../../../packages/daemon/src/ports.ts';
import type { Mind } from '../mission/vendors.ts';
import { result, run, write } from '../model/mind.ts';

export type VendorName = 'claude' | 'codex' | 'opencode' | 'claude-agent-acp';
const ACP: VendorName[] = ['opencode', 'claude-agent-acp'];

/** One start of an agent. */
export interface CaseRun {
  request?(): Partial<AgentRequest>;
  /** Goes on with the session of the run before. */
  isResumed?: boolean;
  /** As it is asked for: each vendor has other models. */
  asksForModel?: boolean;
  /** A person stops it while it runs BUSY. */
  isStopped?: boolean;
}

/** What a model does, and what the agent is asked for: the same with every vendor's program. */
export interface TranscriptCase {
  name: string;
  mind: Mind;
  runs: CaseRun[];
  /** All, unless it says so. */
  vendors?: VendorName[];
}

const asked = (prompt: string, more: Partial<AgentBrief> = {}): AgentBrief => ({
  mode: 'implement',
  prompt: `# Implement task #7\n\n${prompt}`,
  subjectId: 'task_1',
  task: {
    ...{ id: 'task_1', number: 7, title: 'Add a sum', body: 'It adds.', files: ['src/**'], stage: 'implement' },
    acceptance: [{ id: 'c1', text: 'adds' }],
  },
  attempt: 1,
  feedback: [],
  hilConfig: AUTONOMY_PRESETS.full,
  ...more,
});
export const BRIEF = asked('Do it.');

const MADE = write('made.txt', 'made\n');
export const COMMAND = 'cat made.txt > copy.txt; ls';
export const PUSH = 'touch pushed.txt; git push --force';
/** It says that it runs by a file of this name, and goes on for long. */
export const BUSY_FILE = 'busy.txt';
const BUSY = `echo busy > ${BUSY_FILE}; sleep 1000`;
const WHY_NOT = 'nobody pushes from here';
const UNFINISHED = 'The gate test fails: 1 of 3.';
export const REPLY = `Who reads the **table**? ${'Fishermen, before sunrise, without a network. '.repeat(10)}`.trim();
const QUESTION = { text: 'Tabs or spaces?', type: 'clarifying', options: [{ label: 'Tabs' }], default: 'Tabs' };
/** Epoch seconds: a limit that ends at this moment. */
export const LIMIT_ENDS = 1_894_790_040;

const denyPush = async ({ input }: ToolCall): Promise<GuardVerdict> =>
  String(input.command ?? '').includes('push') ? { kind: 'deny', guard: 'push', reason: WHY_NOT } : { kind: 'allow' };

/** Sends the agent back once. */
function onceUnfinished(): AgentRequest['beforeStop'] {
  const reasons = [UNFINISHED];
  return async () => reasons.pop() ?? null;
}

const inTurn =
  (...moves: ReturnType<Mind>[]): Mind =>
  ({ results }) =>
    moves[results.length] ?? result('pr_ready');

const failing = (name: string, what: Extract<ReturnType<Mind>, { kind: 'trouble' }>['what']): TranscriptCase => ({
  name,
  mind: () => ({ kind: 'trouble', what }),
  runs: [{}],
});

export const CASES: TranscriptCase[] = [
  {
    name: 'work',
    mind: (about) => (about.prompts > 1 ? result('pr_ready') : inTurn(MADE, run(COMMAND))(about)),
    runs: [{ asksForModel: true }, { isResumed: true, request: () => ({ brief: asked('And again.') }) }],
  },
  { name: 'denied', mind: inTurn(run(PUSH), MADE), runs: [{ request: () => ({ guard: denyPush }) }] },
  {
    name: 'sent-back',
    mind: ({ results, since }) => (since.includes(UNFINISHED) && results.length === 0 ? MADE : result('pr_ready')),
    runs: [{ request: () => ({ beforeStop: onceUnfinished() }) }],
  },
  {
    name: 'repaired',
    mind: ({ since }) => result(since.includes('could not be read') ? 'pr_ready' : 'needs_info'),
    runs: [{}],
  },
  {
    name: 'stopped',
    mind: inTurn(run(BUSY)),
    runs: [{ isStopped: true }],
  },
  {
    name: 'reviewed',
    mind: ({ results }) =>
      [MADE, run('touch other.txt')][results.length] ??
      result('changes_requested', { review: { criteria: [], comments: ['Round it.'] } }),
    runs: [{ request: () => ({ brief: asked('', { mode: 'review', prompt: '# Review task #7' }) }) }],
    vendors: ACP,
  },
  { name: 'no-such-model', mind: inTurn(), runs: [{ request: () => ({ model: 'no-such' }) }], vendors: ACP },
  {
    name: 'conversation',
    mind: () => ({ ...result('replied', { ideation: { reply: REPLY } }), say: REPLY }) as ReturnType<Mind>,
    runs: [{ request: () => ({ brief: asked('', { mode: 'ideate', prompt: '# Idea I1', task: null }) }) }],
    vendors: ['claude'],
  },
  {
    name: 'question',
    mind: inTurn({ kind: 'ask', server: 'person', tool: 'ask_person', input: { questions: [QUESTION] } }),
    runs: [{}],
    vendors: ['claude'],
  },
  failing('auth', 'auth'),
  failing('credit', 'credit'),
  // opencode waits for the end of a limit itself.
  { ...failing('rate-limit', { limitedUntil: LIMIT_ENDS }), vendors: ['claude', 'codex', 'claude-agent-acp'] },
];
