import type { ApprovalMatter, Declarations, Feedback, Task } from '@tidemill/contract';
import { withJudged } from '../gate/old-checks.ts';
import { entryOf } from '../hand-off/task.ts';
import { changesNothing, type Reductions } from '../noun.ts';
import { roleOf } from '../pipeline/stage.ts';
import { changeTask } from '../task-row.ts';
import { newTask } from './new-task.ts';
import { withFeedback } from './unread.ts';

export const taskEvents = {
  'task.created': (slice, body, { projectId, at }) => {
    const project = slice.projects.get(projectId)!;
    slice.tasks.put(newTask(projectId, at, body, roleOf(project.rules, body.pipeline, 'open')));
    slice.projects.put({ ...project, nextNumber: body.number + 1 });
  },
  'task.dependencies_set': (slice, body) =>
    changeTask(slice, body, () => ({ dependsOn: body.dependsOn, unmet: body.unmet })),
  'task.dependency_met': (slice, body) => changeTask(slice, body, ({ unmet }) => ({ unmet: unmet - 1 })),
  'task.moved': (slice, body, { at }) =>
    changeTask(slice, body, ({ projectId, pipeline }) => {
      const { rules } = slice.projects.get(projectId)!;
      // A cancelled task's branch is deleted: if the task is retried, it starts without feedback on the old work.
      const gone = body.to === 'cancelled' ? { head: null, feedback: [], rework: false } : {};
      return { ...settled(at), ...gone, stage: body.to, role: roleOf(rules, pipeline, body.to) };
    }),
  'task.blocked': (slice, body, { at }) =>
    changeTask(slice, body, () => ({
      ...settled(at),
      stage: 'blocked',
      role: null,
      resumeStage: body.from,
      blocked: { reason: body.reason, text: body.text },
    })),
  'task.parked': (slice, body, { at }) =>
    changeTask(slice, body, () => ({ ...settled(at), stage: 'needs_info', role: null, resumeStage: body.from })),
  'task.edited': (slice, body) =>
    changeTask(slice, body, (task) => {
      const { title = task.title, body: text = task.body, criteria = task.criteria } = body;
      const { files = task.files, priority = task.priority, validate = task.validate } = body;
      return { title, body: text, criteria, files, priority, validate };
    }),
  'task.assigned': (slice, body) => changeTask(slice, body, () => ({ assignee: body.workerId })),
  'task.matter_approved': (slice, body) =>
    changeTask(slice, body, (task) => ({
      approved: [...new Set([...task.approved, ...body.matters])],
      approvedContents: { ...task.approvedContents, ...body.contents },
      approvedDeclared: withDeclared(task.approvedDeclared, body.declared ?? {}),
      approvedChecks: [...new Set([...task.approvedChecks, ...(body.checks ? [body.checks] : [])])],
      acceptedLosses: [...new Set([...task.acceptedLosses, ...(body.losses ?? [])])],
      approvedPulls: [...new Set([...task.approvedPulls, ...(body.pull ? [body.pull] : [])])],
    })),
  'task.waiting': (slice, body) =>
    changeTask(slice, body, () => ({ waiting: body.isPassing ? null : body.why, notBefore: body.until })),
  'task.left_alone': (slice, body, { at }) => changeTask(slice, body, () => ({ leftAloneUntil: at + body.ms })),
  'task.counters_reset': (slice, body) =>
    changeTask(slice, body, () => ({
      counters: { failures: {}, reviewCycles: 0, interruptions: 0, fingerprints: {} },
      conflicts: null,
    })),
  'task.feedback_given': (slice, body) =>
    changeTask(slice, body, ({ feedback }) => ({
      ...withFeedback(feedbackAfter(feedback, body.feedback)),
    })),
  'task.noted': (slice, body) => changeTask(slice, body, ({ context }) => ({ context: [...context, body.entry] })),
  'task.handed_off': (slice, body, { at }) =>
    changeTask(slice, body, ({ context, handOff }) =>
      handOff?.id === body.handOff.id ? null : { context: [...context, entryOf(body, at)], handOff: body.handOff },
    ),
  'task.hand_off_refused': (slice, body) => changeTask(slice, body, () => ({ handOff: null })),
  'task.criteria_judged': (slice, body) => changeTask(slice, body, () => ({ criteria: body.criteria })),
  'work.committed': (slice, body) =>
    changeTask(slice, body, () => ({ head: { commit: body.commit, tree: body.tree } })),
  'work.judged': (slice, { oldChecks, ...body }) =>
    changeTask(slice, body, (task) => ({ oldChecks: withJudged(task.oldChecks, oldChecks) })),
  'snapshot.taken': changesNothing,
  'failure.counted': (slice, body) =>
    changeTask(slice, body, ({ counters }) => ({
      counters: { ...counters, failures: { ...counters.failures, [body.failure]: body.count } },
      notBefore: body.notBefore,
    })),
  'failure.recognised': (slice, body) =>
    changeTask(slice, body, ({ counters }) => ({
      counters: { ...counters, fingerprints: { ...counters.fingerprints, [body.fingerprint]: body.count } },
    })),
} satisfies Reductions;

/** A task enters each stage without the blocks and waits of the previous one. */
function settled(at: number): Partial<Task> {
  return { stageSince: at, resumeStage: null, blocked: null, waiting: null, notBefore: 0, offered: null };
}

/**
 * Newer output of a gate, a reviewer or a merge replaces the older; a person's feedback stays. An empty list removes all that
 * a builder was told.
 */
function feedbackAfter(before: Feedback[], given: Feedback[]): Feedback[] {
  if (given.length === 0) return before.filter(({ isUnread }) => isUnread);
  const renewed = new Set(given.map(({ kind }) => kind));
  return [...before.filter(({ kind }) => kind === 'person' || !renewed.has(kind)), ...given];
}

function withDeclared(before: Declarations, more: Declarations): Declarations {
  const matters = Object.keys({ ...before, ...more }) as ApprovalMatter[];
  return Object.fromEntries(
    matters.map((matter) => [matter, [...new Set([...(before[matter] ?? []), ...(more[matter] ?? [])])]]),
  );
}
