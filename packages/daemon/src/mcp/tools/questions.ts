import { inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { AppError, type QuestionView, withoutTaskName } from '@tidemill/contract';
import { z } from 'zod';
import { answerGiven, formOf } from '../question-form.ts';
import { brief, count, shown, type ToolReply, told } from '../reply.ts';
import { ADDERS, AGENTS, type McpRole, READERS } from '../roles.ts';
import { type McpCall, tool } from '../tool.ts';

/** What a repeated call must be about. It is sealed: a client cannot change it. */
interface Pending {
  project: string;
  question: string;
}

const all = {
  op: z.enum(['list', 'show', 'answer']),
  question: z.string().max(300).optional().describe('Such as Q7.1'),
};
const answering = {
  answer: z.string().max(20_000).optional().describe('A text, or the number of an option'),
};

export const questionsTool = tool(
  'questions',
  (role) =>
    `Questions that wait for a person: list, show one${ADDERS.includes(role) ? ', answer: the person is asked in a form, with your answer as a suggestion' : ''}`,
  {
    roles: [...READERS, ...AGENTS],
    changesFor: ADDERS,
    input: { ...all, ...answering },
    inputFor: (role: McpRole, input) => (ADDERS.includes(role) ? input : { ...all, op: z.enum(['list', 'show']) }),
  },
  async (call, { op, question, answer, projectRoot }) => {
    const { session, signal } = call;
    const project = (await session.projectOf(projectRoot)).id;
    const open = await session.api.questions({ project }, signal);
    if (op === 'list') {
      if (open.length === 0) return told('No question is open.');
      return shown(`${count(open.length, 'open question')}.`, open.slice(0, 20).map(line).join('\n'));
    }
    const found = named(open, question);
    if (op === 'show') return shown(`Question ${found.ref}.`, questionText(found));
    return answerQuestion(call, project, found, answer);
  },
);

const line = ({ ref, type, task, text }: QuestionView) =>
  `${ref} ${type}${task ? ` #${task.number}` : ''}: ${brief(withoutTaskName(text, task), 200)}`;

function questionText({ ref, type, text, context, options, defaultAnswer, agent }: QuestionView): string {
  return [
    `${ref} (${type}, asked by ${agent}): ${text}`,
    ...(context ? [context.slice(0, 2000)] : []),
    ...options.map(
      ({ label, description, recommended }, index) =>
        `${index + 1}. ${label}${recommended ? ' (recommended)' : ''}${description ? `: ${description.slice(0, 500)}` : ''}`,
    ),
    ...(defaultAnswer === null ? [] : [`default: ${defaultAnswer}`]),
  ].join('\n');
}

function named(open: QuestionView[], ref: string | undefined): QuestionView {
  const wanted = ref?.trim().toLowerCase();
  const found = open.find((each) => each.ref.toLowerCase() === wanted || each.id === ref);
  if (found) return found;
  throw new AppError('not_found', ref === undefined ? 'which question?' : `there is no open question ${ref}`, {
    hint:
      open.length === 0
        ? 'None is open.'
        : `Open: ${open
            .slice(0, 20)
            .map((each) => each.ref)
            .join(', ')}`,
  });
}

/** A person decides, in a form. What the model proposes is only a suggestion there. */
async function answerQuestion(
  call: McpCall,
  project: string,
  question: QuestionView,
  answer: string | undefined,
): Promise<ToolReply> {
  const { session, signal, client, context } = call;
  const { person } = session;
  if (!person || !client.canAsk) throw askThePerson(question, person !== null);
  const responses = context.mcpReq.inputResponses;
  const view = inputResponse(responses, 'answer');
  if (view.kind === 'elicit') {
    const pending = context.mcpReq.requestState<Pending>();
    if (pending?.question !== question.id || pending.project !== project)
      throw new AppError('bad_input', 'the form was for another question', { hint: 'Start again, without a state.' });
    const given = answerGiven(question, responses?.answer);
    if (given === null) return told(`The person did not answer. ${question.ref} stays open.`);
    await person.answerQuestion({ project, question: question.id, by: session.by, ...given }, signal);
    return told(`${question.ref} is answered by the person.`);
  }
  const pending: Pending = { project, question: question.id };
  const form = formOf(question, optionOf(question, answer) ?? answer);
  return inputRequired({
    inputRequests: { answer: inputRequired.elicit(form) },
    requestState: await call.seal(pending),
  });
}

const askThePerson = ({ ref }: QuestionView, hasPerson: boolean) =>
  new AppError(
    'forbidden',
    hasPerson
      ? `${ref} is for a person, and this client cannot show them a form`
      : `${ref} is for a person, and this connection belongs to an agent`,
    { hint: `Tell your person what you would answer and why. They answer with: tidemill answer ${ref} TEXT` },
  );

/** The label of an option that is named by its number. */
const optionOf = ({ options }: QuestionView, answer: string | undefined) =>
  answer !== undefined && /^\d{1,2}$/.test(answer.trim()) ? options[Number(answer) - 1]?.label : undefined;
