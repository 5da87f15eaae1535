import { ENGINE, type EventBody } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { withdrawnQuestions } from '../subject/questions.ts';
import { draftingMode, findSpec, jobFor, nameOfSpec, wrongStatus } from './find.ts';

/**
 *   approved ──a task begins──▶ building ──all landed──▶ checking ──all met──▶ done
 *                                  │  ▲                     └──not met──▶ a person: building again, or done
 *                                  ▼  │ resume
 *                                aborted
 */
export function beginSpec(slice: Slice, command: CommandOf<'spec.begin'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  return found.spec.status === 'approved' ? accept({ type: 'spec.building', subjectId: found.spec.id }) : accept();
}

export function abortSpec(slice: Slice, command: CommandOf<'spec.abort'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (spec.status === 'aborted') return accept();
  if (spec.status === 'done' || spec.status === 'rejected' || spec.status === 'draft')
    return wrongStatus(spec, 'stopped');
  const { why, held, by } = command;
  const aborted: EventBody = { type: 'spec.aborted', subjectId: spec.id, why, held, by };
  return accept(...withdrawnQuestions(slice, spec.id, `stopped: ${why}`), aborted);
}

export function resumeSpec(slice: Slice, command: CommandOf<'spec.resume'>, env: DecideEnv): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  const { by } = command;
  if (spec.status !== 'aborted' && spec.status !== 'failed') return wrongStatus(spec, 'continued');
  const status = spec.tasks.length > 0 ? 'building' : 'drafting';
  const resumed: EventBody = { type: 'spec.resumed', subjectId: spec.id, status, by };
  return accept(resumed, ...(status === 'drafting' ? [jobFor(spec, draftingMode(spec), by, env)] : []));
}

export function checkSpec(slice: Slice, command: CommandOf<'spec.check'>, env: DecideEnv): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (spec.status !== 'building' && spec.status !== 'approved') return accept();
  const checking: EventBody = { type: 'spec.checking', subjectId: spec.id, unbuilt: command.unbuilt };
  return accept(checking, jobFor(spec, 'judge', ENGINE, env));
}

export function acceptSpec(slice: Slice, command: CommandOf<'spec.accept'>): Decision {
  const judged = findJudged(slice, command);
  return judged.ok ? accept({ type: 'spec.accepted', subjectId: judged.spec.id, by: command.by }) : judged;
}

export function extendSpec(slice: Slice, command: CommandOf<'spec.extend'>): Decision {
  const judged = findJudged(slice, command);
  if (!judged.ok) return judged;
  const { tasks, by } = command;
  return accept({ type: 'spec.extended', subjectId: judged.spec.id, tasks, by });
}

/** A specification of which some requirement is not met. */
function findJudged(slice: Slice, command: { projectId: string; specId: string }) {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (spec.status === 'checking' && spec.verdicts.some(({ met }) => !met)) return found;
  return refuse('wrong_stage', `${nameOfSpec(spec)} is ${spec.status}: no requirement waits for a decision`);
}
