import { type Idea, specVersionId, type Task } from '@tidemill/contract';
import type { SpecContext } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** More of an idea does not help anyone who builds one task of it. */
const MOST_OF_IDEA = 2_000;

/** The approved specification that a task is a part of. Null: it comes from elsewhere. */
export async function specContext(
  { store }: Pick<EngineDeps, 'store'>,
  { origin }: Pick<Task, 'origin'>,
): Promise<SpecContext | null> {
  if (origin?.kind !== 'spec') return null;
  const spec = await store.record('spec', origin.id);
  const version = spec?.approved?.version ?? 0;
  const row = spec && version > 0 ? await store.record('spec_version', specVersionId(spec.id, version)) : null;
  if (!spec || !row) return null;
  const idea = spec.source.ideaId ? await store.record('idea', spec.source.ideaId) : null;
  const { summary, architecture, scope } = row.draft;
  return { number: spec.number, title: spec.title, summary, architecture, scope, idea: idea ? shortIdea(idea) : '' };
}

/** What the idea is about and which people it is for, in few lines. */
function shortIdea({ number, title, artifacts, decisions }: Idea): string {
  const summary = ({ type, summary: short, content }: Idea['artifacts'][number]) =>
    `${type}: ${oneLine(short || content)}`;
  const lines = [
    `I${number} ${oneLine(title)}`,
    ...artifacts.map(summary),
    ...decisions.map(({ text }) => `decided: ${oneLine(text)}`),
  ];
  const kept: string[] = [];
  let room = MOST_OF_IDEA;
  for (const line of lines.map((each) => (each.length > 400 ? `${each.slice(0, 400)}…` : each))) {
    room -= line.length + 1;
    if (room < 0) break;
    kept.push(line);
  }
  return kept.join('\n');
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
