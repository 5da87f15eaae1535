import type { AgentEnvelope, AskedQuestion, Question } from '@tidemill/contract';
import { fingerprintOf } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/** Records an agent's questions while it works. Returns the reply for the agent, also for a refusal. */
export async function askInRun(
  deps: EngineDeps,
  leased: LeasedTask,
  runId: string,
  questions: AskedQuestion[],
): Promise<string> {
  const reply = await leased.execute({ type: 'run.ask', runId, questions });
  if (!reply.ok) return `The question could not be asked: ${reply.refusal.message}.`;
  const known = await deps.store.records({ noun: 'question', taskId: leased.task.id });
  const lines = questions.map(({ text }) => {
    const fingerprint = fingerprintOf('question', text, deps.hash);
    return standing(known.findLast((question) => question.fingerprint === fingerprint));
  });
  return lines.join('\n');
}

function standing(question: Question | undefined): string {
  if (!question) return 'The question was not asked.';
  const { ref, status, answer, holds, defaultAnswer } = question;
  if (answer) return `${ref} is already answered: ${answer.text}`;
  if (status !== 'open') return `${ref} was ${status}: use your own judgement.`;
  const meanwhile = holds
    ? 'Continue with everything that does not depend on it. If nothing is left, end with the outcome needs_info: your work is kept, and the next run gets the answer.'
    : `Continue${defaultAnswer === null ? '' : ` as if the answer were "${defaultAnswer}"`}. If there is an answer later, the next run gets it.`;
  return `Asked as ${ref}. Do not wait for the answer. ${meanwhile}`;
}

/** If an agent needs information but asks no question, the catalogue turns its summary into a question. */
export function withQuestion(
  deps: EngineDeps,
  leased: LeasedTask,
  envelope: AgentEnvelope | null,
): AgentEnvelope | null {
  if (envelope?.outcome !== 'needs_info' || (envelope.open_questions ?? []).length > 0) return envelope;
  const { number, title } = leased.task;
  const facts = { number, title, missing: envelope.summary || 'it did not say what' };
  const raised = deps.catalogue?.raise('missing_context', facts) ?? [];
  return raised.length === 0 ? envelope : { ...envelope, open_questions: raised.map(({ question }) => question) };
}
