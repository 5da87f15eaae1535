import type { EventBody, Spec, SpecDraft, SpecVersion } from '@tidemill/contract';
import { specVersionId } from '@tidemill/contract';
import type { CommandOf, DecideEnv, Decision } from '../command.ts';
import { accept, refuse } from '../refusal.ts';
import type { Slice } from '../slice.ts';
import { notReady } from '../spec-document/readiness.ts';
import { specFaults } from '../spec-document/validate.ts';
import { holding, withdrawnQuestions } from '../subject/questions.ts';
import { critiqueOf, draftingMode, findSpec, jobFor, nameOfSpec, wrongStatus } from './find.ts';

/**
 *   drafting ──agent──▶ asking ──answers──▶ drafting
 *       │                 └──nothing to ask──▶ draft ──approve──▶ approved (tasks exist)
 *       └──failed──▶ failed                      └──comments──▶ drafting, └──reject──▶ rejected
 */
export function requestSpec(slice: Slice, command: CommandOf<'spec.request'>, env: DecideEnv): Decision {
  const { specId, title, source, by } = command;
  const started = start(slice, command);
  if (!started.ok) return started;
  const job = jobFor({ id: specId, source }, draftingMode({ source }), by, env);
  return accept({ type: 'spec.requested', subjectId: specId, number: started.number, title, source, by }, job);
}

export function importSpec(slice: Slice, command: CommandOf<'spec.import'>): Decision {
  const { specId, draft, source, by } = command;
  const started = start(slice, command);
  if (!started.ok) return started;
  const faulty = refusedFaults(draft);
  if (faulty) return faulty;
  const { number } = started;
  return accept(
    { type: 'spec.requested', subjectId: specId, number, title: draft.title, source, by },
    { type: 'spec.drafted', subjectId: specId, version: 1, draft: decided(draft), status: 'draft', by },
  );
}

type Started = { ok: true; number: number } | Extract<Decision, { ok: false }>;

function start(slice: Slice, { projectId, specId }: { projectId: string; specId: string }): Started {
  if (!slice.projects.get(projectId)) return refuse('not_found', `there is no project ${projectId}`);
  if (slice.records.get(specId)) return refuse('conflict', 'that specification was already requested');
  const numbers = slice
    .list('recordsOf', projectId, 'spec')
    .map((record) => (record.noun === 'spec' ? record.number : 0));
  return { ok: true, number: Math.max(0, ...numbers) + 1 };
}

function refusedFaults(draft: SpecDraft): (Decision & { ok: false }) | null {
  const faults = specFaults(draft);
  if (faults.length === 0) return null;
  const code = faults.some((fault) => fault.startsWith('tasks wait for each other')) ? 'dependency_cycle' : 'bad_input';
  return refuse(code, `the specification cannot be used: ${faults.join('; ')}`, 'correct it and try again');
}

/** What a person wrote asks nobody. */
const decided = (draft: SpecDraft): SpecDraft => ({ ...draft, ambiguities: [], architectures: [] });

const EDITABLE: readonly Spec['status'][] = ['draft', 'asking', 'failed'];

export function editSpec(slice: Slice, command: CommandOf<'spec.edit'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (!EDITABLE.includes(spec.status) || spec.tasks.length > 0) return wrongStatus(spec, 'edited');
  if (command.version !== spec.version) return oldVersion(spec, command.version, 'edit');
  const faulty = refusedFaults(command.draft);
  if (faulty) return faulty;
  const { by } = command;
  const version = spec.version + 1;
  return accept(...withdrawnQuestions(slice, spec.id, `${by.name} wrote another version`), {
    type: 'spec.drafted',
    ...{ subjectId: spec.id, version, draft: decided(command.draft), status: 'draft', by },
  });
}

const oldVersion = (spec: Spec, version: number, what: string): Decision & { ok: false } =>
  refuse(
    'conflict',
    `version ${version} of ${nameOfSpec(spec)} is not the current one: that is version ${spec.version}`,
    `read version ${spec.version}, then ${what} it`,
  );

export function reviseSpec(slice: Slice, command: CommandOf<'spec.revise'>, env: DecideEnv): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (!EDITABLE.includes(spec.status) || spec.tasks.length > 0) return wrongStatus(spec, 'revised');
  if (command.version !== spec.version) return oldVersion(spec, command.version, 'comment on');
  if (command.comments.length === 0) return refuse('bad_input', 'a revision needs a comment', 'say what to change');
  const { by } = command;
  const comments = command.comments.map((comment) => ({ ...comment, by, at: env.now }));
  return accept(
    ...withdrawnQuestions(slice, spec.id, `${by.name} requested changes`),
    { type: 'spec.revision_requested', subjectId: spec.id, version: spec.version, comments, by },
    jobFor(spec, draftingMode(spec), by, env),
  );
}

export function approveSpec(slice: Slice, command: CommandOf<'spec.approve'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  const { version, by } = command;
  if (spec.approved !== null) {
    const { by: other, version: which } = spec.approved;
    const message = `${nameOfSpec(spec)} was already approved by ${other.name} (version ${which})`;
    return refuse('conflict', message, `\`tidemill spec show ${spec.number}\` shows its tasks`);
  }
  if (spec.status !== 'draft' || spec.version === 0) return wrongStatus(spec, 'approved');
  if (version !== spec.version) return oldVersion(spec, version, 'approve');
  const [open] = holding(slice, spec.id, '');
  if (open) return refuse('conflict', `${nameOfSpec(spec)} waits for an answer: ${open.text}`, 'answer it first');
  const { draft } = slice.record('spec_version', specVersionId(spec.id, version)) as SpecVersion;
  // What was left unclear is decided with the approval: each requirement needs its tasks now.
  const faulty = refusedFaults({ ...draft, ambiguities: [], architectures: [] });
  if (faulty) return faulty;
  const weak = notReady(draft, critiqueOf(spec, version)?.findings);
  if (weak.length > 0 && !command.override) {
    const named = weak.map(({ task, readiness: { score, missing } }) => {
      return `${task.id} (${score}): ${missing.map(({ advice }) => advice).join(', ')}`;
    });
    return refuse(
      'bad_input',
      `not ready to be built: ${named.slice(0, 10).join('; ')}${named.length > 10 ? `, and ${named.length - 10} more` : ''}`,
      `request changes, or approve it nevertheless: \`tidemill spec approve ${spec.number} --override\``,
    );
  }
  const keys = new Set(command.tasks.map(({ key }) => key));
  if (keys.size !== draft.tasks.length || draft.tasks.some(({ id }) => !keys.has(id)))
    return refuse('conflict', 'the tasks are not those of the version', 'approve it again');
  const overridden = weak.map(({ task }) => task.id);
  return accept(...withdrawnQuestions(slice, spec.id, `${by.name} approved it`), {
    type: 'spec.approved',
    ...{ subjectId: spec.id, version, tasks: command.tasks, overridden, by },
  });
}

export function rejectSpec(slice: Slice, command: CommandOf<'spec.reject'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (spec.status === 'rejected') return accept();
  if (spec.tasks.length > 0 || spec.status === 'done')
    return refuse('wrong_stage', `${nameOfSpec(spec)} is ${spec.status}: its tasks exist`, 'stop it instead');
  const { why, by } = command;
  const rejected: EventBody = { type: 'spec.rejected', subjectId: spec.id, why, by };
  return accept(...withdrawnQuestions(slice, spec.id, `${by.name} rejected it`), rejected);
}

export function settleSpec(slice: Slice, command: CommandOf<'spec.settle'>): Decision {
  const found = findSpec(slice, command);
  if (!found.ok) return found;
  const { spec } = found;
  if (spec.status !== 'asking') return accept();
  if (holding(slice, spec.id, '').length > 0) return accept();
  return accept({ type: 'spec.settled', subjectId: spec.id, isDrafting: false });
}
