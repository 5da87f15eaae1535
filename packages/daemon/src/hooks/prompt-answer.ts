import type { HookInput, SessionPlace } from './hook-input.ts';
import { recordCorrection } from './hook-record.ts';

/** Longer prompts are new work, and no correction of the last step. */
const MOST_PROMPT = 600;
/**
 * How people correct an agent. A prompt that only contains such a word somewhere is no correction: it must begin with it, or name
 * what the agent did.
 */
const CORRECTIONS = [
  /^(no|nope|nein|non)\b[\s,.!:;-]/i,
  /^(stop|wait|undo|revert)\b/i,
  /^(please )?(don't|do not|never|stop) \w+/i,
  /\b(that|this|it)('s| is| was) (not (right|correct|what)|wrong)\b/i,
  /\bI (said|told you|asked (you )?(for|to)|meant)\b/i,
  /\byou (should(n't| not)? have|forgot|missed|broke|ignored|were not supposed)\b/i,
  /\b(not like that|instead of|rather than)\b/i,
];

const isCorrection = (prompt: string) =>
  prompt.length <= MOST_PROMPT && !prompt.startsWith('/') && CORRECTIONS.some((pattern) => pattern.test(prompt.trim()));

/** Keeps what the person corrected, so that Tidemill can learn from it when it repeats. The prompt goes on unchanged. */
export function keepCorrection(hook: HookInput, place: SessionPlace): void {
  const { prompt } = hook;
  if (typeof prompt === 'string' && isCorrection(prompt)) recordCorrection(place, prompt.trim());
}
