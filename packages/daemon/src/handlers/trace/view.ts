import { LEVEL_TOKENS, type Trace, type TraceLevel, type TraceView } from '@tidemill/contract';
import { tokensOf } from '@tidemill/core';

/** How long a text may be at the level of a summary. */
const SUMMARY_TEXT = 240;
const SUMMARY_REASON = 160;
/** One trace at the level `full` stays within its tokens. */
const FULL_TEXT = 4_000;
const FULL_REASON = 1_000;
const FULL_FILES = 20;

/** The part of a trace that a level shows. */
export function viewTrace(trace: Trace, level: TraceLevel, score?: number): TraceView {
  const { id, type, source, at, taskNumber, agent, what, why, correct, files, key, subjectId, runId, by } = trace;
  const ranked = score === undefined ? {} : { score: Math.round(score * 100) / 100 };
  const view: TraceView = { id, type, source, at, task: taskNumber, agent, ...ranked };
  if (level === 'metadata') return view;
  if (level === 'summary')
    return { ...view, what: cut(what, SUMMARY_TEXT), why: why === null ? null : cut(why, SUMMARY_REASON) };
  return {
    ...view,
    what: cut(what, FULL_TEXT),
    why: why === null ? null : cut(why, FULL_REASON),
    correct: correct === null ? null : cut(correct, FULL_REASON),
    files: files.slice(0, FULL_FILES),
    ...{ key, subjectId, runId, by },
  };
}

const tokensOfView = (view: TraceView): number => tokensOf(JSON.stringify(view));

/** As many views as fit; at least one, so that a reader gets ahead. */
export function fitting(views: readonly TraceView[], tokens = Number.POSITIVE_INFINITY) {
  const kept: TraceView[] = [];
  let used = 0;
  for (const view of views) {
    const more = tokensOfView(view);
    if (kept.length > 0 && used + more > tokens) break;
    kept.push(view);
    used += more;
  }
  return { kept, tokens: used };
}

/** The view of one trace, cut until it has at most the tokens of its level. */
export function viewAlone(trace: Trace, level: TraceLevel): TraceView {
  let view = viewTrace(trace, level);
  for (let most = FULL_TEXT; tokensOfView(view) > LEVEL_TOKENS[level] && most > 100; most = Math.floor(most * 0.8))
    view = {
      ...view,
      ...(view.what === undefined ? {} : { what: cut(view.what, most) }),
      ...(view.files === undefined ? {} : { files: view.files.slice(0, Math.ceil(most / 400)) }),
    };
  return view;
}

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1).toWellFormed()}…` : text);
