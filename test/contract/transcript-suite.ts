import { readdir } from 'node:fs/promises';
import { replyInOutput } from '@tidemill/contract';
import { expect } from 'vitest';
import { COMMAND, LIMIT_ENDS, PUSH, REPLY, type VendorName } from '../support/transcripts/cases.ts';
import type { Played, Seen } from '../support/transcripts/stage.ts';

// What every adapter makes of its vendor's program: of the real one, and of what the real one said when it was recorded.

/**
 * USD of the scripted model's answers, each of 100 tokens in, 20 of them from a cache, and 10 out: of three with the model
 * that is asked for, of one more in the resumed session, and of one with the usual model. By Tidemill's prices for Codex.
 */
const COSTS: Record<Exclude<VendorName, 'claude-agent-acp'>, { three: number; resumed: number; usual: number }> = {
  claude: { three: 0.000396, resumed: 0.000132, usual: 0.000262 },
  codex: { three: 0.00213, resumed: 0.00071, usual: 0.00071 },
  opencode: { three: 0.00039, resumed: 0.00013, usual: 0.00039 },
};
const isAcp = (vendor: VendorName) => vendor === 'opencode' || vendor === 'claude-agent-acp';
/** Tokens of so many answers. opencode tells those of a turn's last request only; its cost is that of all. */
const tokens = (vendor: VendorName, requests: number) => {
  const told = vendor === 'opencode' ? 1 : requests;
  return { inputTokens: 100 * told, outputTokens: 10 * told, requests };
};
/** claude-agent-acp asks for a title beside its work, at any moment, and tells the sum only. */
const expectCost = (run: Seen, vendor: VendorName, of: 'three' | 'resumed' | 'usual', times = 1) => {
  const { costUsd, requests } = run.usage();
  if (vendor !== 'claude-agent-acp') return expect(costUsd).toBeCloseTo(times * COSTS[vendor][of], 9);
  expect(costUsd).toBeGreaterThan(0);
  expect(costUsd).toBeLessThanOrEqual((requests + 1) * 0.0008);
};

const READY = { kind: 'result', envelope: { outcome: 'pr_ready', summary: 'pr_ready, as told' } };
const SESSION: Record<VendorName, RegExp> = {
  claude: /^[0-9a-f-]{36}$/,
  codex: /^[0-9a-f-]{36}$/,
  opencode: /^ses_/,
  'claude-agent-acp': /^[0-9a-f-]{36}$/,
};

type Check = (played: Played, vendor: VendorName) => Promise<void> | void;
interface Expectation {
  /** What it shows. */
  title: string;
  check: Check;
}

const filesIn = async ({ stage }: Played) => (await readdir(stage.worktree)).toSorted();
const askedOf = ({ asked }: Seen) => asked.map(({ tool, input }) => ({ tool, input }));

const failsOf = (title: string, failure: string): Expectation => ({
  title,
  check: ({ seen: [run] }, vendor) => {
    expect(run!.ended).toMatchObject({ kind: 'failed', failure });
    // An error response costs nothing.
    if (!isAcp(vendor)) expect(run!.usage()).toMatchObject({ inputTokens: 0, requests: 0, costUsd: 0 });
  },
});

export const EXPECTATIONS: Record<string, Expectation> = {
  work: {
    title:
      'writes a file, runs a command, hands in its result and cost with the model asked for, and goes on with its session in another process',
    check: async (played, vendor) => {
      const [first, second] = played.seen as [Seen, Seen];
      expect(first.ended).toEqual(READY);
      expect(await filesIn(played)).toEqual(['a.txt', 'copy.txt', 'made.txt']);
      expect(await played.stage.read('copy.txt')).toBe('made\n');
      const file_path = `${played.stage.worktree}/made.txt`;
      expect(askedOf(first)).toEqual([
        { tool: 'Write', input: { file_path, content: expect.stringMatching(/^made\n?$/) } },
        { tool: 'Bash', input: expect.objectContaining({ command: COMMAND }) },
      ]);
      expect(first.output()).toContain(COMMAND);
      expect(first.output()).toContain('made.txt');
      expect(first.sessions).toEqual([expect.stringMatching(SESSION[vendor])]);
      expect(first.usage()).toMatchObject(tokens(vendor, 3));
      expectCost(first, vendor, 'three');
      expect(second.ended).toEqual(READY);
      expect(second.sessions).toEqual(first.sessions);
      expect(second.usage()).toMatchObject(tokens(vendor, 1));
      expectCost(second, vendor, 'resumed');
      expect(second.asked).toEqual([]);
    },
  },
  denied: {
    title: 'asks the guard before it acts, hears why a command is denied, and does something else',
    check: async (played) => {
      const [run] = played.seen as [Seen];
      expect(run.ended).toEqual(READY);
      expect(run.asked[0]).toMatchObject({ tool: 'Bash', input: { command: PUSH } });
      expect(run.asked[1]).toMatchObject({ tool: 'Write' });
      expect(await filesIn(played)).toEqual(['a.txt', 'made.txt']);
    },
  },
  'sent-back': {
    title: 'is sent back to work when it wants to end and the gates do not pass',
    check: async (played) => {
      const [run] = played.seen as [Seen];
      expect(run.ended).toEqual(READY);
      expect(await filesIn(played)).toEqual(['a.txt', 'made.txt']);
      expect(run.usage().requests).toBe(3);
    },
  },
  repaired: {
    title: 'is asked once more for a result that does not fit, in the same session',
    check: ({ seen: [run] }, vendor) => {
      expect(run!.ended).toEqual(READY);
      expect(new Set(run!.sessions).size).toBe(1);
      expect(run!.usage().requests).toBe(2);
      expectCost(run!, vendor, 'usual', 2);
    },
  },
  stopped: {
    title: 'is stopped while it runs a command, and what it has spent is booked',
    check: ({ seen: [run], transcript }, vendor) => {
      expect(run!.ended).toEqual({ kind: 'failed', failure: 'crash', message: 'stopped', exitCode: null });
      // An agent of the protocol does not tell whether its model is already asked again. The real program may be killed
      // before it reports the end of the command.
      const requests = transcript ? expect.toSatisfy((count) => count === 1 || count === 2) : 2;
      expect(run!.usage()).toMatchObject(isAcp(vendor) ? { requests } : tokens(vendor, 1));
      if (!isAcp(vendor)) expectCost(run!, vendor, 'usual');
    },
  },
  reviewed: {
    title: 'changes nothing while it reviews',
    check: async (played) => {
      const [run] = played.seen as [Seen];
      const review = { criteria: [], comments: ['Round it.'] };
      expect(run.ended).toMatchObject({ kind: 'result', envelope: { outcome: 'changes_requested', review } });
      expect(run.denied).toMatchObject([
        { tool: 'Write', guard: 'read-only' },
        { tool: 'Bash', guard: 'read-only' },
      ]);
      expect(await filesIn(played)).toEqual(['a.txt']);
    },
  },
  'no-such-model': {
    title: 'says which models there are when it is asked for another',
    check: ({ seen: [run] }) => {
      const message = expect.stringContaining('has no model no-such; it has ');
      expect(run!.ended).toMatchObject({ kind: 'failed', failure: 'unknown', message });
    },
  },
  conversation: {
    title: 'shows what it says in a conversation piece by piece, and nothing of it twice',
    check: ({ seen: [run] }) => {
      expect(run!.ended).toMatchObject({
        kind: 'result',
        envelope: { outcome: 'replied', ideation: { reply: REPLY } },
      });
      expect(run!.seen.longestChunk).toBeLessThan(REPLY.length);
      expect(replyInOutput(run!.output())).toBe(REPLY);
    },
  },
  question: {
    title: 'puts a question to a person while it works',
    check: ({ seen: [run], stage }) => {
      expect(run!.ended).toEqual(READY);
      expect(stage.asked).toMatchObject([{ text: 'Tabs or spaces?', type: 'clarifying', default: 'Tabs' }]);
      expect(run!.asked).toEqual([]);
    },
  },
  auth: failsOf('fails of auth when its key is refused', 'auth'),
  credit: failsOf('fails of credit when the account has none', 'credit'),
  'rate-limit': {
    title: 'fails of a rate limit, and says when it ends',
    check: ({ seen: [run] }, vendor) => {
      // Codex tells the time of day, which is that of the daemon. It was recorded in UTC.
      const retryAt = vendor === 'codex' ? new Date(2030, 0, 16, 10, 34).getTime() : LIMIT_ENDS * 1000;
      expect(run!.ended).toMatchObject({ kind: 'failed', failure: 'rate_limit', retryAt });
    },
  },
};
