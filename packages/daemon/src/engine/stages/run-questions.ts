import { type AgentEnvelope, type AskedQuestion, isBuilding, type Mode, type Question } from '@tidemill/contract';
import { questionFingerprint } from '@tidemill/core';
import type { EngineDeps } from '../deps.ts';
import type { LeasedTask } from '../workers/leased-work.ts';

/** Records an agent's questions while it works. Returns the reply for the agent, also for a refusal. */
export async function askInRun(
  deps: EngineDeps,
  leased: LeasedTask,
  { runId, mode }: { runId: string; mode: Mode },
  asked: AskedQuestion[],
): Promise<string> {
  const questions = asked.map((question) => asChoice(deps, leased, mode, question));
  const reply = await leased.execute({ type: 'run.ask', runId, questions });
  if (!reply.ok) return `The question could not be asked: ${reply.refusal.message}.`;
  const known = await deps.store.records({ noun: 'question', parent: leased.task.id });
  const lines = questions.map(({ text }) => {
    const fingerprint = questionFingerprint(text, deps.hash);
    return standing(known.findLast((question) => question.fingerprint === fingerprint));
  });
  return lines.join('\n');
}

function standing(question: Question | undefined): string {
  if (!question) return 'The question was not asked.';
  const { ref, ownId, status, answer, holds, defaultAnswer } = question;
  const name = ownId === null ? ref : `${ref} (your id: ${ownId})`;
  if (answer) return `${name} is already answered: ${answer.text}`;
  if (status !== 'open') return `${name} was ${status}: use your own judgement.`;
  const meanwhile = holds
    ? 'Continue with everything that does not depend on it. If nothing is left, end with the outcome needs_info: your work is kept, and the next run gets the answer.'
    : `Continue${defaultAnswer === null ? '' : ` as if the answer were "${defaultAnswer}"`}. If there is an answer later, the next run gets it.`;
  return `Asked as ${name}. Do not wait for the answer. ${meanwhile}`;
}

/** A builder that asks which of two ways to take, and goes on meanwhile, asks in the form of the catalogue. */
function asChoice(deps: EngineDeps, { task }: LeasedTask, mode: Mode, asked: AskedQuestion): AskedQuestion {
  const [first, second, third] = asked.options;
  if (!isBuilding(mode) || asked.type !== 'clarifying' || !first || !second || third) return asked;
  const { number, title } = task;
  const given = asked.default ?? asked.defaultAnswer ?? asked.defaultOption;
  const recommendation = given ?? (second.recommended ? second : first).label;
  const facts = { number, title, question: asked.text, first: first.label, second: second.label, recommendation };
  const [raised] = deps.catalogue?.raise('multiple_implementations', facts) ?? [];
  if (!raised) return asked;
  const { question } = raised;
  return {
    ...question,
    id: asked.id,
    context: [asked.context, question.context].filter((text) => text !== '').join('\n\n'),
    options: question.options.map((option) => asked.options.find(({ label }) => label === option.label) ?? option),
    tags: [...asked.tags, ...question.tags],
  };
}

/** If an agent needs information but asks no question, the catalogue turns its summary into a question. */
export function withQuestion(
  deps: EngineDeps,
  leased: LeasedTask,
  mode: Mode,
  envelope: AgentEnvelope | null,
): AgentEnvelope | null {
  const own = envelope?.open_questions ?? [];
  if (envelope && own.length > 0)
    return { ...envelope, open_questions: own.map((question) => asChoice(deps, leased, mode, question)) };
  if (envelope?.outcome !== 'needs_info') return envelope;
  const { number, title } = leased.task;
  const facts = { number, title, missing: envelope.summary || 'it did not say what' };
  const raised = deps.catalogue?.raise('missing_context', facts) ?? [];
  return raised.length === 0 ? envelope : { ...envelope, open_questions: raised.map(({ question }) => question) };
}
