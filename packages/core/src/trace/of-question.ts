import type { Answer, Question } from '@tidemill/contract';
import { APPROVE } from '../question/effect.ts';
import { type Drawn, drawn } from './drawn.ts';

/** Nobody decides anything with these. */
const UNTOLD: Question['type'][] = ['celebratory', 'educational'];
/** Who asks by itself, without an agent. */
const OWN: Question['source'][] = ['engine', 'supervisor', 'catalogue'];

export function ofQuestion({ type, source, text, context, fingerprint }: Question): Drawn | null {
  if (UNTOLD.includes(type)) return null;
  return drawn('question', OWN.includes(source) ? 'engine' : 'agent', `question:${fingerprint}`, text, {
    why: context || null,
  });
}

/** An answer is a decision, and a correction when Tidemill or the agent would have decided otherwise. */
export function ofAnswer(question: Question, answer: Answer): Drawn | null {
  const { type, text, effect, fingerprint } = question;
  if (UNTOLD.includes(type)) return null;
  // The approval itself is an event of its own.
  if (effect.kind === 'approval' && answer.option === APPROVE) return null;
  const about = { by: answer.by, correct: answer.text };
  if (answer.source !== 'user')
    return drawn('decision', 'engine', `answer:${fingerprint}`, `${text}\nNobody answered (${answer.source}).`, about);
  const usual = usualAnswer(question);
  if (effect.kind === 'approval')
    return drawn('correction', 'person', `answer:${fingerprint}`, `Not approved: ${text}`, about);
  if (usual === null || isSame(usual, answer)) return drawn('decision', 'person', `answer:${fingerprint}`, text, about);
  return drawn('correction', 'person', `answer:${fingerprint}`, text, { ...about, why: `The default was: ${usual}` });
}

/** The answer that was expected: the default, or the option that was recommended. */
function usualAnswer({ defaultAnswer, options }: Question): string | null {
  return defaultAnswer ?? options.find(({ recommended }) => recommended)?.label ?? null;
}

function isSame(usual: string, { text, option }: Answer): boolean {
  const plain = (words: string) => words.trim().toLowerCase();
  return plain(usual) === plain(text) || (option !== null && plain(usual) === plain(option));
}
