import type { Question, Spec, SpecDraft, SpecFinding } from '@tidemill/contract';
import { type Command, readinessOf } from '@tidemill/core';
import type { Catalogue, Trigger, TriggerFacts } from '../../ports.ts';

type Asked = Extract<Command, { type: 'question.ask' }>['questions'][number];

/** The questions of one trigger about a version. */
interface Raised {
  trigger: string;
  questions: Asked[];
}

/** One entry per trigger and version: the same question about a later version may be asked again. */
export const sourceOf = (trigger: string, at: string) => `${trigger}/${at}`;
export const versionName = ({ version }: Pick<Spec, 'version'>) => `v${version}`;

/** What must be clear before the tasks exist. */
export function openPoints(catalogue: Catalogue | undefined, { ambiguities, architectures }: SpecDraft): Raised[] {
  const unclear = ambiguities.flatMap(({ requirement, term, options }) =>
    questionsOf(catalogue, 'requirement_ambiguous', { requirement, term }).map((question) => ({
      ...question,
      options: [
        ...question.options,
        ...options.map((label) => ({ label, description: '', recommended: false, implications: '' })),
      ],
    })),
  );
  const competing = architectures.flatMap(({ feature, options: [first, second] }) => {
    if (!first || !second) return [];
    return questionsOf(catalogue, 'multiple_architectures', {
      feature,
      first: first.name,
      first_pros: first.pros.join(', '),
      first_cons: first.cons.join(', '),
      first_effort: first.effort,
      second: second.name,
      second_pros: second.pros.join(', '),
      second_cons: second.cons.join(', '),
      second_effort: second.effort,
    });
  });
  return [
    { trigger: 'requirement_ambiguous', questions: unclear },
    { trigger: 'multiple_architectures', questions: competing },
  ].filter(({ questions }) => questions.length > 0);
}

/** What a person is told and asked about a draft that can be approved. */
export function aboutDraft(catalogue: Catalogue | undefined, draft: SpecDraft, critique: Spec['critique']): Raised[] {
  const { scope, dependencies, tasks, risks } = draft;
  const list = (lines: string[]) => (lines.length === 0 ? '- nothing' : lines.map((line) => `- ${line}`).join('\n'));
  const hasScope = scope.in.length + scope.out.length > 0;
  const facts = {
    tasks: tasks.length,
    complexity: complexityOf(draft, critique?.findings ?? []),
    risks: risks.join(', ') || 'none named',
    critic: criticWords(critique),
  };
  return [
    {
      trigger: 'before_finalize_spec',
      questions: hasScope
        ? questionsOf(catalogue, 'before_finalize_spec', { in_scope: list(scope.in), out_of_scope: list(scope.out) })
        : [],
    },
    {
      trigger: 'external_dependencies',
      questions:
        dependencies.length > 0
          ? questionsOf(catalogue, 'external_dependencies', { dependencies: list(dependencies) })
          : [],
    },
    { trigger: 'spec_complete', questions: questionsOf(catalogue, 'spec_complete', facts) },
  ].filter(({ questions }) => questions.length > 0);
}

export function milestone(
  catalogue: Catalogue | undefined,
  { number, title }: Pick<Spec, 'number' | 'title'>,
  { done, total }: { done: number; total: number },
): Raised {
  const facts = { name: `S${number} ${title}: `, done, total, percent: Math.floor((done / total) * 100) };
  return { trigger: 'milestone_reached', questions: questionsOf(catalogue, 'milestone_reached', facts) };
}

function questionsOf<T extends Trigger>(catalogue: Catalogue | undefined, trigger: T, facts: TriggerFacts[T]): Asked[] {
  return catalogue?.raise(trigger, facts).map(({ question }) => question) ?? [];
}

const HOUR = 60;

/** In words, from the estimates: a task without one counts as an hour. */
function complexityOf({ tasks }: SpecDraft, findings: readonly SpecFinding[]): string {
  const minutes = tasks.reduce((sum, { estimateMinutes }) => sum + (estimateMinutes ?? HOUR), 0);
  const weak = tasks.filter((task) => !readinessOf(task, findings).isReady).length;
  const size = minutes <= 4 * HOUR ? 'low' : minutes <= 16 * HOUR ? 'medium' : 'high';
  return `${size}, about ${Math.max(1, Math.round(minutes / HOUR))} h${weak > 0 ? `, ${weak} not ready to be built` : ''}`;
}

function criticWords(critique: Spec['critique']): string {
  if (!critique) return 'No critic has read it.';
  if (critique.why !== '') return `No critic has read it: ${critique.why}.`;
  if (critique.findings.length === 0) return 'A critic has read it and found nothing wrong.';
  const lines = critique.findings.map(
    ({ task, severity, text }) => `- ${severity}${task === '' ? '' : `, ${task}`}: ${text}`,
  );
  return `A critic has read it and found:\n\n${lines.join('\n')}`;
}

/** The labels of the question about requirements that are not met. */
export const UNMET_CHOICES = { extend: 'Add tasks for them', accept: 'Accept it as it is' } as const;
export const UNMET = 'requirement_unmet';

export function unmetQuestion({ number, title, verdicts }: Spec): Asked {
  const unmet = verdicts.filter(({ met }) => !met);
  const lines = unmet.map(({ requirement, evidence }) => `- ${requirement}: ${evidence || 'not met'}`);
  return {
    type: 'blocking',
    text: `S${number} "${title}" is built, but ${unmet.length} of ${verdicts.length} requirements are not met:\n\n${lines.join('\n')}\n\nWhat should happen?`,
    context: 'All its tasks have landed. You can also write what the new tasks should do.',
    options: [
      { label: UNMET_CHOICES.extend, description: 'One task for each of them.', recommended: true, implications: '' },
      { label: UNMET_CHOICES.accept, description: 'The specification is done.', recommended: false, implications: '' },
    ],
    allowFreeText: true,
    tags: [UNMET],
  };
}

/** Whether a person agreed with what the question recommends; null when nobody has answered. */
export function isAgreed({ answer, options }: Pick<Question, 'answer' | 'options'>): boolean | null {
  // A person may also choose the default. Nobody's answer after a time is no agreement.
  const isByPerson = answer?.source === 'user' || (answer?.source === 'default' && answer.by.kind !== 'engine');
  if (!answer || !isByPerson) return null;
  return options.some(({ label, recommended }) => recommended && label === answer.option);
}
