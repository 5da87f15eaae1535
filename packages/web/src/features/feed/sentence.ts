import { describeEvent, type EventBody, type EventText, type LoggedEvent } from '@tidemill/contract';

/** An event's text and its status class. */
export interface Sentence extends EventText {
  look: 'working' | 'reviewing' | 'waiting' | 'landed' | 'crashed' | 'idle' | 'paused';
}

/** Longer texts are cut here and shown in full on their own page. */
const MOST_CHARS = 240;

export function sentenceOf({ body }: LoggedEvent): Sentence {
  const { who, text } = describeEvent(body);
  return { who, text: text.length > MOST_CHARS ? `${text.slice(0, MOST_CHARS)}…` : text, look: lookOf(body) };
}

const ALWAYS: Partial<Record<EventBody['type'], Sentence['look']>> = {
  'worker.steered': 'paused',
  'worker.crashed': 'crashed',
  'emergency.executed': 'crashed',
  'task.blocked': 'waiting',
  'task.parked': 'waiting',
  'task.waiting': 'waiting',
  'task.criteria_judged': 'reviewing',
  'lease.claimed': 'working',
  'run.sent_back': 'waiting',
  'run.overdrawn': 'waiting',
  'guard.denied': 'waiting',
  'merge.abandoned': 'waiting',
  'merge.landed': 'landed',
  'question.asked': 'waiting',
  'question.held': 'waiting',
  'budget.threshold_reached': 'waiting',
};

function lookOf(body: EventBody): Sentence['look'] {
  switch (body.type) {
    case 'task.moved':
      return MOVED[body.to] ?? 'working';
    case 'run.started':
      return body.mode === 'review' ? 'reviewing' : 'working';
    case 'run.finished':
      return BAD_ENDS.includes(body.outcome) ? 'crashed' : 'working';
    case 'evidence.recorded':
      return body.evidence.status === 'pass' ? 'landed' : 'waiting';
    case 'alert.raised':
      return body.severity === 'info' ? 'idle' : 'waiting';
    default:
      return ALWAYS[body.type] ?? 'idle';
  }
}

const MOVED: Record<string, Sentence['look']> = { done: 'landed', review: 'reviewing', cancelled: 'paused' };
const BAD_ENDS: string[] = ['failed', 'interrupted', 'conflicts_detected'];
