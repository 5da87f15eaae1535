import {
  type Actor,
  type Idea,
  type IdeaArtifact,
  type IdeaCorrection,
  type IdeaDecision,
  type IdeaReply,
  type IdeaRisk,
  MAX_SIGNALS,
  type SignalKind,
} from '@tidemill/contract';
import type { DecideEnv } from '../command.ts';

/** Equal for the same statement in other spelling. */
const gist = (text: string) =>
  text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, 300);
/** How a removed signal is remembered. */
const signalMark = (kind: SignalKind, key: string) => `${kind}:${kind === 'artifact' ? key : gist(key)}`;

/** `research`, `research-2`: what one search found. */
export const isResearch = (type: string): boolean => /^research(-\d+)?$/.test(type);

/** The name of the next result: no search replaces an earlier one, and a removed name is not used again. */
export function nextResearchType({ artifacts, removed }: Pick<Idea, 'artifacts' | 'removed'>): string {
  const isTaken = (type: string) =>
    artifacts.some((artifact) => artifact.type === type) || removed.includes(signalMark('artifact', type));
  for (let number = 1; ; number += 1) {
    const type = number === 1 ? 'research' : `research-${number}`;
    if (!isTaken(type)) return type;
  }
}

export interface SignalChanges {
  artifacts: IdeaArtifact[];
  decisions: IdeaDecision[];
  risks: IdeaRisk[];
  confidence: number;
}

/** The changes by a reply. What a person corrected or removed stays as it is. */
export function changesBy(idea: Idea, { signals }: IdeaReply, env: DecideEnv): SignalChanges {
  const isRemoved = (kind: SignalKind, key: string) => idea.removed.includes(signalMark(kind, key));
  const at = env.now;
  const fresh = <T extends { text: string }>(
    kind: 'decision' | 'risk',
    known: T[],
    said: Omit<T, 'id' | 'at' | 'correctedBy'>[],
  ) => {
    const seen = new Set(known.map(({ text }) => gist(text)));
    const added: T[] = [];
    for (const each of said as (T & { text: string })[]) {
      const key = gist(each.text);
      if (seen.has(key) || isRemoved(kind, each.text) || known.length + added.length >= MAX_SIGNALS) continue;
      seen.add(key);
      added.push({ ...each, id: env.newId(kind), correctedBy: null, at });
    }
    return added;
  };
  return {
    artifacts: artifactsBy(idea, signals.artifacts, isRemoved, at),
    decisions: fresh<IdeaDecision>('decision', idea.decisions, signals.decisions),
    risks: fresh<IdeaRisk>('risk', idea.risks, signals.risks),
    confidence: idea.confidenceBy ? idea.confidence : (signals.confidence ?? idea.confidence),
  };
}

function artifactsBy(
  idea: Idea,
  said: IdeaReply['signals']['artifacts'],
  isRemoved: (kind: SignalKind, key: string) => boolean,
  at: number,
): IdeaArtifact[] {
  const changed = new Map<string, IdeaArtifact>();
  for (const draft of said) {
    const before = changed.get(draft.type) ?? idea.artifacts.find(({ type }) => type === draft.type);
    const isNew = before === undefined;
    if (isRemoved('artifact', draft.type) || before?.correctedBy) continue;
    if (isNew && idea.artifacts.length + changed.size >= MAX_SIGNALS) continue;
    const content = draft.content || before?.content || '';
    const summary = draft.summary || before?.summary || '';
    changed.set(draft.type, { ...draft, summary, content, correctedBy: null, at });
  }
  return [...changed.values()];
}

/** The signals after changes: an artifact replaces the one of its type, others the one with their id. */
export function withChanges(idea: Idea, changes: SignalChanges): Idea {
  return {
    ...idea,
    artifacts: replaced(idea.artifacts, changes.artifacts, ({ type }) => type),
    decisions: replaced(idea.decisions, changes.decisions, ({ id }) => id),
    risks: replaced(idea.risks, changes.risks, ({ id }) => id),
    confidence: changes.confidence,
  };
}

function replaced<T>(before: readonly T[], changes: readonly T[], keyOf: (signal: T) => string): T[] {
  const byKey = new Map(before.map((each) => [keyOf(each), each]));
  for (const each of changes) byKey.set(keyOf(each), each);
  return [...byKey.values()];
}

export interface Corrected {
  artifact: IdeaArtifact | null;
  decision: IdeaDecision | null;
  risk: IdeaRisk | null;
  confidence: number | null;
}
const NOTHING: Corrected = { artifact: null, decision: null, risk: null, confidence: null };

/** What a person's correction writes; null when it is about a signal that does not exist. */
export function correctionOf(idea: Idea, correction: IdeaCorrection, by: Actor, env: DecideEnv): Corrected | null {
  const written = { correctedBy: by, at: env.now };
  switch (correction.kind) {
    case 'confidence':
      return { ...NOTHING, confidence: correction.value };
    case 'artifact': {
      const { kind: _kind, ...artifact } = correction;
      return { ...NOTHING, artifact: { ...artifact, ...written } };
    }
    case 'decision': {
      const { kind: _kind, id, ...decision } = correction;
      if (id !== undefined && !idea.decisions.some((known) => known.id === id)) return null;
      return { ...NOTHING, decision: { ...decision, id: id ?? env.newId('decision'), ...written } };
    }
    case 'risk': {
      const { kind: _kind, id, ...risk } = correction;
      if (id !== undefined && !idea.risks.some((known) => known.id === id)) return null;
      return { ...NOTHING, risk: { ...risk, id: id ?? env.newId('risk'), ...written } };
    }
  }
}

/** The idea with a correction. The words that a person replaced do not come back with a later reply. */
export function withCorrection(idea: Idea, { artifact, decision, risk, confidence }: Corrected, by: Actor): Idea {
  const changed = withChanges(idea, {
    artifacts: artifact ? [artifact] : [],
    decisions: decision ? [decision] : [],
    risks: risk ? [risk] : [],
    confidence: confidence ?? idea.confidence,
  });
  const oldDecision = decision && idea.decisions.find(({ id }) => id === decision.id);
  const oldRisk = risk && idea.risks.find(({ id }) => id === risk.id);
  const gone = [
    ...(oldDecision && oldDecision.text !== decision.text ? [signalMark('decision', oldDecision.text)] : []),
    ...(oldRisk && oldRisk.text !== risk.text ? [signalMark('risk', oldRisk.text)] : []),
  ];
  const back = [
    ...(artifact ? [signalMark('artifact', artifact.type)] : []),
    ...(decision ? [signalMark('decision', decision.text)] : []),
    ...(risk ? [signalMark('risk', risk.text)] : []),
  ];
  const removed = [...new Set([...idea.removed, ...gone])].filter((mark) => !back.includes(mark));
  return { ...changed, removed, confidenceBy: confidence === null ? idea.confidenceBy : by };
}

/** How a signal is remembered when it is removed; null when there is none. */
export function markOf(idea: Idea, kind: SignalKind, key: string): string | null {
  if (kind === 'confidence') return idea.confidenceBy ? 'confidence:' : null;
  if (kind === 'artifact') return idea.artifacts.some(({ type }) => type === key) ? signalMark(kind, key) : null;
  const found = (kind === 'decision' ? idea.decisions : idea.risks).find(({ id }) => id === key);
  return found ? signalMark(kind, found.text) : null;
}

/** The idea without a signal. Removing a person's confidence makes it the agent's again. */
export function withoutSignal(idea: Idea, kind: SignalKind, key: string, mark: string): Idea {
  if (kind === 'confidence') return { ...idea, confidenceBy: null };
  return {
    ...idea,
    artifacts: kind === 'artifact' ? idea.artifacts.filter(({ type }) => type !== key) : idea.artifacts,
    decisions: kind === 'decision' ? idea.decisions.filter(({ id }) => id !== key) : idea.decisions,
    risks: kind === 'risk' ? idea.risks.filter(({ id }) => id !== key) : idea.risks,
    removed: [...new Set([...idea.removed, mark])],
  };
}
