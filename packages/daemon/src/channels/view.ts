import type { ChannelConfig, ChannelView, Project } from '@tidemill/contract';
import type { ChannelMessage, Store } from '../ports.ts';
import { takesAnswers, targetOf } from './open.ts';

/** The channels of a project with the results of the last notifications. Every attempt is recorded. */
export async function viewChannels(
  store: Store,
  project: Project,
  channels: Record<string, ChannelConfig>,
): Promise<ChannelView[]> {
  const all = await store.records({ noun: 'notification', projectId: project.id });
  return Object.entries(channels).map(([name, config]) => {
    const own = all.filter(({ channel }) => channel === name);
    const delivered = own.map(({ deliveredAt }) => deliveredAt).filter((at) => at !== null);
    const lastDeliveredAt = delivered.length > 0 ? Math.max(...delivered) : null;
    const failing = own.filter(({ nextAt, error }) => nextAt !== null && error !== null);
    return {
      name,
      type: config.type,
      target: targetOf(config),
      answers: takesAnswers(config),
      ...{ pending: own.filter(({ nextAt }) => nextAt !== null).length, lastDeliveredAt },
      lastError: failing.at(-1)?.error ?? null,
    };
  });
}

export function testMessage(project: Project, at: number): ChannelMessage {
  const title = 'A test';
  const text = 'This channel works. Questions and alerts of this project come here.';
  const id = `test-${at}`;
  return {
    id,
    project: project.name,
    severity: 'info',
    title,
    at,
    parts: [{ id, severity: 'info', title, text, question: null }],
  };
}
