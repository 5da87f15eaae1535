import { IDEA_PHASES, type Idea, type LoggedEvent } from '@tidemill/contract';
import { artifactTitle } from '@tidemill/core';
import type { OwnWrites, Trigger, TriggerFacts } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { IdeaReactor } from './idea-reactor.ts';

/** Asks the catalogue's questions about ideas, each once. */
export class IdeaQuestions extends IdeaReactor {
  readonly name = 'idea-questions';

  constructor(deps: EngineDeps) {
    super(deps, 'idea-questions');
  }

  protected async considerEvent({ body }: LoggedEvent): Promise<void> {
    const idea = 'ideaId' in body ? await this.deps.store.record('idea', body.ideaId) : null;
    if (idea && idea.status !== 'archived') await this.#ask(idea);
  }

  protected considerIdea(idea: Idea): Promise<void> {
    return this.#ask(idea);
  }

  async #ask(idea: Idea): Promise<void> {
    const before = await this.deps.store.records({ noun: 'question', parent: idea.id });
    const asked = new Set(before.map(({ sourceId }) => sourceId));
    const { title, phase, forkedFrom, complexity } = idea;
    const raise = async <T extends Trigger>(trigger: T, facts: TriggerFacts[T], sourceId: string = trigger) => {
      if (!asked.has(sourceId)) await raiseAbout(this.deps, this.own, idea, trigger, facts, sourceId);
    };
    if (!forkedFrom && phase === 'EXPLORING') await raise('idea_created', { title });
    const stated = idea.artifacts.find(({ type }) => type === 'problem');
    const problem = stated?.content || stated?.summary;
    if (problem && !stated.correctedBy)
      await raise('problem_statement_vague', { title, problem, length: problem.length });
    if (complexity > 0) await raise('idea_complexity_high', { title, complexity });
    const done = IDEA_PHASES[IDEA_PHASES.indexOf(phase) - 1];
    if (!done || IDEA_PHASES.indexOf(done) < IDEA_PHASES.indexOf(forkedFrom?.phase ?? 'EXPLORING')) return;
    const settled = idea.artifacts.map(({ type }) => artifactTitle(type).toLowerCase()).join(', ');
    await raise('phase_complete', { title, phase: done.toLowerCase(), settled }, `phase_complete/${done}`);
  }
}

/** Asks the catalogue's questions of a trigger about an idea. */
export async function raiseAbout<T extends Trigger>(
  { project, catalogue, onNote }: EngineDeps,
  own: OwnWrites,
  idea: Idea,
  trigger: T,
  facts: TriggerFacts[T],
  sourceId: string = trigger,
): Promise<void> {
  const raised = catalogue?.raise(trigger, facts) ?? [];
  for (const { question, effect } of raised) {
    const reply = await own.store.execute({
      type: 'question.ask',
      projectId: project.id,
      taskId: null,
      subjectId: idea.id,
      stage: idea.phase,
      agent: 'tidemill',
      source: 'catalogue',
      sourceId,
      effect,
      // Nothing is left to change or to continue.
      questions: [idea.status === 'complete' ? withoutChoices(question) : question],
    });
    if (!reply.ok) onNote(`${trigger} was not asked: ${reply.refusal.message}`);
  }
}

const withoutChoices = <Q extends { options: { recommended: boolean }[] }>(question: Q): Q => ({
  ...question,
  options: question.options.filter(({ recommended }) => recommended),
});
