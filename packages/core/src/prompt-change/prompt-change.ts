import { type PromptChange, promptChangeRef, type Refusal } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';

export function proposePrompt(slice: Slice, command: CommandOf<'prompt_change.propose'>, env: DecideEnv): Decision {
  const { projectId, promptChangeId, by } = command;
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.record('prompt_change', promptChangeId)) return refuse('conflict', 'that text was already proposed');
  const { file, before, text, why, replayId } = command.change;
  if (text === before) return refuse('bad_input', `${file} already has this text`, 'propose another one');
  const known = slice.list('recordsOf', projectId, 'prompt_change').filter((each) => each.noun === 'prompt_change');
  const same = known.find((each) => each.file === file && each.text === text && each.status !== 'applied');
  if (same)
    return refuse('conflict', `${promptChangeRef(same.number)} proposed the same text and is ${spaced(same.status)}`);
  const number = Math.max(0, ...known.map((each) => each.number)) + 1;
  const change: PromptChange = {
    noun: 'prompt_change',
    id: promptChangeId,
    projectId,
    number,
    file,
    before,
    text,
    why,
    status: 'proposed',
    replayId,
    trial: null,
    baseline: null,
    by,
    decidedBy: null,
    decidedWhy: '',
    createdAt: env.now,
    decidedAt: null,
  };
  return accept({ type: 'prompt_change.proposed', promptChangeId, number, change, by });
}

const spaced = (status: string) => status.replaceAll('_', ' ');

type Found = { ok: true; change: PromptChange } | { ok: false; refusal: Refusal };

function find(slice: Slice, { projectId, promptChangeId }: { projectId: string; promptChangeId: string }): Found {
  const change = slice.record('prompt_change', promptChangeId);
  if (change?.projectId === projectId) return { ok: true, change };
  return {
    ok: false,
    refusal: { code: 'not_found', message: `there is no proposed text ${promptChangeId}`, hint: '' },
  };
}

export function judgePrompt(slice: Slice, command: CommandOf<'prompt_change.judge'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { number, trial } = found.change;
  if (trial !== null) return accept();
  return accept({
    type: 'prompt_change.judged',
    promptChangeId: command.promptChangeId,
    number,
    trial: command.trial,
  });
}

export function decidePrompt(slice: Slice, command: CommandOf<'prompt_change.decide'>): Decision {
  const found = find(slice, command);
  if (!found.ok) return found;
  const { change } = found;
  const { promptChangeId, status, why, baseline, by } = command;
  if (change.status === status) return accept();
  const from = status === 'rolled_back' ? 'applied' : 'proposed';
  if (change.status !== from)
    return refuse(
      'conflict',
      `${promptChangeRef(change.number)} is ${spaced(change.status)}`,
      `only one that is ${from} can be`,
    );
  if (status === 'applied' && by.kind === 'engine' && change.trial?.verdict !== 'gain')
    return refuse(
      'evidence_missing',
      `no replay shows that ${promptChangeRef(change.number)} helps`,
      'a person decides',
    );
  return accept({ type: 'prompt_change.decided', promptChangeId, number: change.number, status, why, baseline, by });
}
