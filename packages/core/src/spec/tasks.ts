import type { Gotcha, Spec, SpecDraft, SpecTask, SpecTaskLink } from '@tidemill/contract';
import type { CommandOf } from '../command.ts';
import { inBuildOrder } from '../spec-document/order.ts';
import { dependenciesOf } from '../spec-document/phase-order.ts';
import { taskBody } from '../spec-document/render.ts';
import { nameOfSpec } from './find.ts';

type Creation = CommandOf<'task.create'>;

export interface SpecCreations {
  links: SpecTaskLink[];
  /** Dependencies first. */
  commands: Creation[];
}

/** The tasks of a document. */
export function creationsOf(
  spec: Pick<Spec, 'id' | 'projectId' | 'number' | 'title'>,
  draft: SpecDraft,
  gotchas: ReadonlyMap<string, readonly Gotcha[]>,
  newId: () => string,
): SpecCreations {
  const order = inBuildOrder(draft.tasks);
  const waitsFor = dependenciesOf(order);
  const ids = new Map(order.map(({ id }) => [id, newId()]));
  const name = `specification ${nameOfSpec(spec)} "${spec.title}"`;
  const commands = order.map((task): Creation => {
    const known = (gotchas.get(task.id) ?? []).map(({ text }) => text);
    return {
      ...creation(spec, ids.get(task.id)!, task.requirements),
      kind: task.kind,
      title: task.title,
      body: taskBody(task, { name, gotchas: known, requirements: draft.requirements }),
      accept: task.accept,
      files: task.files,
      dependsOn: waitsFor.get(task.id)!.map((id) => ids.get(id)!),
      validate: task.validate.trim(),
      estimateMinutes: task.estimateMinutes,
    };
  });
  const links = order.map((task: SpecTask): SpecTaskLink => {
    const { id: key, phase, requirements } = task;
    return { key, taskId: ids.get(key)!, phase, requirements };
  });
  return { links, commands };
}

/** A task for each requirement that the judge found not met. `note` is what a person said about it. */
export function followUps(spec: Spec, draft: SpecDraft, note: string, newId: () => string): SpecCreations {
  const unmet = spec.verdicts.filter(({ met }) => !met);
  const made = unmet.map(({ requirement, evidence }, index) => {
    const taskId = newId();
    const text = draft.requirements.find(({ id }) => id === requirement)?.text ?? requirement;
    const [line = text] = text.split('\n');
    const link: SpecTaskLink = {
      key: `F${spec.tasks.length + index + 1}`,
      taskId,
      phase: 'tests',
      requirements: [requirement],
    };
    const command: Creation = {
      ...creation(spec, taskId, [requirement]),
      title: `Meet ${requirement}: ${line}`.slice(0, 300),
      body: [
        `${requirement} of ${nameOfSpec(spec)} "${spec.title}" is not met by the code that landed.`,
        `## The requirement\n\n${text}`,
        ...(evidence === '' ? [] : [`## What is missing\n\n${evidence}`]),
        ...(note === '' ? [] : [`## A person said\n\n${note}`]),
      ].join('\n\n'),
      accept: [text],
      files: [],
      dependsOn: [],
    };
    return { link, command };
  });
  return { links: made.map(({ link }) => link), commands: made.map(({ command }) => command) };
}

const creation = (spec: Pick<Spec, 'id' | 'projectId'>, taskId: string, requirements: string[]) => ({
  type: 'task.create' as const,
  projectId: spec.projectId,
  taskId,
  kind: 'feature' as const,
  priority: 2,
  origin: { kind: 'spec' as const, id: spec.id, requirements },
});
