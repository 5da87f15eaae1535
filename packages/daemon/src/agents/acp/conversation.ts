import { setImmediate as nextRound } from 'node:timers/promises';
import type { ClientContext, InitializeResponse, PromptResponse } from '@agentclientprotocol/sdk';
import type { FailureClass } from '@tidemill/contract';
import type { ResultExpectation } from '@tidemill/core';
import type { AgentEnd, AgentRequest, AgentSink } from '../../ports.ts';
import { exampleResult, readResult, repairRequest } from '../result.ts';
import { openSession, type SessionOptions } from './session.ts';
import type { Transcript } from './transcript.ts';
import { type BookedCosts, createMeter, type Meter } from './usage.ts';

/** How often an agent that ended its turn after a denial gets the reason and is asked to continue. */
const MAX_REJECTIONS = 3;

export interface Talk {
  agent: ClientContext;
  request: AgentRequest;
  sink: AgentSink;
  transcript: Transcript;
  booked: BookedCosts;
  options: SessionOptions;
  /** Aborted when the run must stop. Then there are no more prompts. */
  signal: AbortSignal;
  /** Denials since the last call, as text for the agent. */
  takeDenials(): string[];
  /** The session's meter and id, for its updates and for a cancel. */
  onSession(session: string, meter: Meter): void;
}

const failed = (failure: FailureClass, message: string): AgentEnd => ({
  kind: 'failed',
  failure,
  message,
  exitCode: null,
});

/** The whole conversation with an agent, up to its result. Throws on an error response and when the agent is gone. */
export async function converse(talk: Talk): Promise<AgentEnd> {
  const { agent, sink } = talk;
  const hello = await agent.request('initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    clientInfo: { name: 'tidemill', version: '1' },
  });
  if (hello.protocolVersion !== 1)
    return failed('spawn', `the agent speaks version ${hello.protocolVersion} of the protocol; version 1 is needed`);
  const session = await opened(talk, hello);
  if ('unfit' in session) return failed('unknown', session.unfit);
  const meter = createMeter(session.id, session.before, talk.booked, sink);
  talk.onSession(session.id, meter);
  sink.session(session.id);
  return work(talk, session.id, meter);
}

async function opened(talk: Talk, hello: InitializeResponse) {
  talk.transcript.mute(true);
  const session = await openSession(talk, hello);
  await nextRound(); // a resumed session replays its history; handle that before the prompt
  talk.transcript.mute(false);
  return session;
}

async function work(talk: Talk, session: string, meter: Meter): Promise<AgentEnd> {
  const { request } = talk;
  const { mode, task, shown } = request.brief;
  const expected: ResultExpectation = { mode, criteria: task?.acceptance ?? [], shown };
  let next = `${request.brief.prompt}\n\nEnd with your result as one JSON object, in a block like this one:\n\n${exampleResult(expected)}`;
  let requests = 0;
  let rejections = 0;
  let isRepaired = false;
  for (;;) {
    const turn = await takeTurn(talk, session, meter, next, request.maxTurns - requests);
    requests += turn.requests;
    if (talk.signal.aborted) return failed('crash', 'stopped');
    if (turn.stopReason === 'max_turn_requests' || turn.isOverLimit)
      return failed('turn_limit', `the agent was not done after ${requests} requests to its model`);
    const reading = readResult(turn.text, expected);
    const isBrokenOff = turn.stopReason === 'refusal' || turn.stopReason === 'cancelled';
    if (turn.denials.length > 0 && (isBrokenOff || 'missing' in reading) && rejections < MAX_REJECTIONS) {
      rejections += 1;
      next = afterDenials(turn.denials);
      continue;
    }
    if (isBrokenOff) return failed('refused', whyBrokenOff(turn));
    if ('envelope' in reading) {
      const unfinished = reading.envelope.outcome === 'pr_ready' ? await request.beforeStop() : null;
      if (unfinished === null) return { kind: 'result', envelope: reading.envelope };
      next = `You are not done yet.\n\n${unfinished}\n\nFix it, then return your result again in the same form.`;
      continue;
    }
    const problem = 'invalid' in reading ? reading.invalid : reading.missing;
    if (isRepaired) return failed('invalid' in reading ? 'invalid_result' : 'no_result', problem);
    isRepaired = true;
    next = repairRequest(problem, expected);
  }
}

interface Turn {
  stopReason: PromptResponse['stopReason'];
  text: string;
  requests: number;
  denials: string[];
  isOverLimit: boolean;
}

async function takeTurn(
  talk: Talk,
  session: string,
  meter: Meter,
  prompt: string,
  mostRequests: number,
): Promise<Turn> {
  const { agent, transcript } = talk;
  transcript.beginTurn(mostRequests);
  let answer: PromptResponse | null = null;
  try {
    answer = await agent.request('session/prompt', { sessionId: session, prompt: [{ type: 'text', text: prompt }] });
    await nextRound(); // handle updates that arrived before the response first
  } finally {
    if (talk.signal.aborted) transcript.breakOff();
    meter.endTurn(answer, answer !== null && answer.stopReason !== 'cancelled');
  }
  const { text, requests } = transcript.endTurn();
  return {
    stopReason: answer.stopReason,
    text,
    requests,
    denials: talk.takeDenials(),
    isOverLimit: requests > mostRequests,
  };
}

const afterDenials = (denials: string[]) =>
  [
    'Your request was denied, and it stays denied:',
    denials.map((denial) => `- ${denial}`).join('\n'),
    'Continue in another way that respects this. When you are done, return your result as described at the beginning.',
  ].join('\n\n');

function whyBrokenOff({ stopReason, denials }: Turn): string {
  const over = denials.length > 0 ? ` over what it was denied: ${denials.join('; ')}` : '';
  return `the agent ended its turn (${stopReason})${over}`;
}
