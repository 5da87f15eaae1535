import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { rootKey } from '../guards/call-log.ts';
import { gateCommands } from './gate-commands.ts';
import type { HookAnswer } from './hook-answer.ts';
import { type HookInput, placeOf, type SessionPlace } from './hook-input.ts';
import { recordRefusal } from './hook-record.ts';
import { keepCorrection } from './prompt-answer.ts';
import { stopProblem } from './stop-check.ts';
import { toolUsesIn } from './transcript.ts';

// The start and the end of a session. Unlike a guard, these only help: a failure here lets the person go on.

const GO_ON: HookAnswer = { exitCode: 0, stdout: '', stderr: '' };
/** About 1,000 tokens. */
const MOST_KNOWLEDGE = 3_600;

/** Written by the daemon, so that a session starts without waiting for it. */
export const knowledgeFile = (dataDir: string, root: string) => join(dataDir, 'hooks', `${rootKey(root)}.knowledge.md`);

export async function answerSession(event: string, hook: HookInput, env: NodeJS.ProcessEnv): Promise<HookAnswer> {
  try {
    const place = placeOf(hook, env);
    if (event === 'SessionStart') return startOf(place);
    if (event === 'UserPromptSubmit') {
      keepCorrection(hook, place);
      return GO_ON;
    }
    return await stopOf(event, hook, place);
  } catch {
    // No knowledge, no transcript, no valid config: nothing is lost, since the gates decide about the work.
    return GO_ON;
  }
}

function startOf({ dataDir, root }: SessionPlace): HookAnswer {
  const text = readFileSync(knowledgeFile(dataDir, root), 'utf8').slice(0, MOST_KNOWLEDGE);
  if (text.trim() === '') return GO_ON;
  const hookSpecificOutput = { hookEventName: 'SessionStart', additionalContext: text };
  return { ...GO_ON, stdout: `${JSON.stringify({ hookSpecificOutput })}\n` };
}

async function stopOf(event: string, hook: HookInput, place: SessionPlace): Promise<HookAnswer> {
  // It was sent back already: a second time would only annoy the person.
  if (hook.stop_hook_active === true) return GO_ON;
  const transcript = (event === 'SubagentStop' && hook.agent_transcript_path) || hook.transcript_path;
  if (typeof transcript !== 'string' || !isAbsolute(transcript)) return GO_ON;
  const gates = await gateCommands(place.worktree, place.dataDir);
  if (gates.length === 0) return GO_ON;
  const isTester =
    event === 'SubagentStop' && /\b(tests?|tester|testing|qa|verif\w*)\b/i.test(String(hook.agent_type ?? ''));
  const reason = stopProblem(toolUsesIn(transcript), gates, { worktree: place.worktree, isTester });
  if (reason === null) return GO_ON;
  recordRefusal(place, { guard: event === 'Stop' ? 'stop' : 'subagent-stop', reason, call: null });
  return { ...GO_ON, stdout: `${JSON.stringify({ decision: 'block', reason })}\n` };
}
