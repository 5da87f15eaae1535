import { type AgentEnvelope, type Distilled, MAX_HAND_OFF_TOKENS, MOST_RECENT_FILES } from '@tidemill/contract';
import { evenCap } from '../even-cap.ts';

/** What everything around the distilled text may take: ids, roles, conditions, criteria. */
const ROOM_FOR_REST = 600;
const MOST_POINTS = 12;
/** Of the bytes: a summary gets at least this share when all parts are long. */
const SUMMARY_SHARE = 0.4;
const BYTES_PER_TOKEN = 4;

/** Tokens of a text. By bytes, because scripts other than Latin take more tokens per character. */
export const tokensOf = (text: string): number => Math.ceil(bytesOf(text) / BYTES_PER_TOKEN);

function bytesOf(text: string): number {
  let bytes = 0;
  for (const character of text) {
    const code = character.codePointAt(0)!;
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  }
  return bytes;
}

/** Keeps decisions, open points and a few files of what a role returns. Raw output is dropped. */
export function distil(envelope: AgentEnvelope, isRejected: boolean, files: readonly string[]): Distilled {
  const { planSummary, investigationSummary, declares = {}, review } = envelope;
  const comments = review?.comments ?? [];
  const summary = planSummary ?? investigationSummary ?? (envelope.summary || comments.join('\n'));
  const decisions = [...(envelope.decisions ?? []), ...Object.values(declares).flat()];
  const unresolved = [...(envelope.unresolved ?? []), ...(isRejected ? comments : [])];
  return fitted({
    summary: summary.trim(),
    decisions: points(decisions),
    unresolved: points(unresolved),
    files: [...new Set(files)].slice(0, MOST_RECENT_FILES),
  });
}

/** As it stands in the prompt of the next role. */
export function distilledText({ summary, decisions, unresolved, files }: Distilled): string {
  const list = (title: string, entries: string[]) =>
    entries.length === 0 ? [] : [`${title}:\n${entries.map((entry) => `- ${entry}`).join('\n')}`];
  return [
    ...(summary === '' ? [] : [summary]),
    ...list('Decided', decisions),
    ...list('Unresolved', unresolved),
    ...list('Recent files', files),
  ].join('\n\n');
}

const points = (entries: readonly string[]) =>
  [...new Set(entries.map((entry) => entry.trim()).filter((entry) => entry !== ''))].slice(0, MOST_POINTS);

/** Cuts long texts evenly, so that no point displaces another. */
function fitted(whole: Distilled): Distilled {
  const room = (MAX_HAND_OFF_TOKENS - ROOM_FOR_REST) * BYTES_PER_TOKEN;
  const lists = [...whole.decisions, ...whole.unresolved, ...whole.files];
  const listed = lists.reduce((sum, entry) => sum + bytesOf(entry) + 4, 0);
  const summary = cut(whole.summary, Math.max(room * SUMMARY_SHARE, room - listed));
  const most = evenCap(lists.map(bytesOf), room - bytesOf(summary) - 4 * lists.length);
  const each = (entries: string[]) => entries.map((entry) => cut(entry, most));
  return { summary, decisions: each(whole.decisions), unresolved: each(whole.unresolved), files: each(whole.files) };
}

function cut(text: string, mostBytes: number): string {
  if (bytesOf(text) <= mostBytes) return text;
  let kept = '';
  // Room for the mark, which has three bytes.
  let left = mostBytes - 3;
  for (const character of text) {
    left -= bytesOf(character);
    if (left < 0) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}
