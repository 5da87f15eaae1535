import type { Trigger, TriggerFacts } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';

/** Asks what the catalogue has for this occasion. `about` and the trigger name the question, so that it is found again. */
export async function askAbout<T extends Trigger>(
  { catalogue, store, project, onNote }: EngineDeps,
  trigger: T,
  about: string,
  facts: TriggerFacts[T],
): Promise<void> {
  for (const { question, effect } of catalogue?.raise(trigger, facts) ?? []) {
    const reply = await store.execute({
      type: 'question.ask',
      projectId: project.id,
      taskId: null,
      stage: '',
      agent: 'tidemill',
      source: 'catalogue',
      sourceId: `${trigger}/${about}`,
      effect,
      questions: [question],
    });
    if (!reply.ok) onNote(`${trigger} was not asked: ${reply.refusal.message}`);
  }
}
