import { ENGINE, type Idea, type LoggedEvent, type Question } from '@tidemill/contract';
import type { EngineDeps } from '../deps.ts';
import { raiseAbout } from './idea-questions.ts';
import { IdeaReactor } from './idea-reactor.ts';

const SKIP = 'Skip it';
const MOST_AREAS = 6;
const OFF = 'no search provider is set; add `research` to the config';

/** Searches for what the ideation agent wants to know, after a person had the chance to object. */
export class IdeaResearchers extends IdeaReactor {
  readonly name = 'idea-research';

  constructor(deps: EngineDeps) {
    super(deps, 'idea-research');
  }

  protected considerIdea({ id }: Idea): Promise<void> {
    return this.#research(id);
  }

  protected async considerEvent({ body }: LoggedEvent): Promise<void> {
    if (body.type === 'idea.replied' && body.research) return this.#research(body.ideaId);
    if (body.type !== 'question.answered' && body.type !== 'question.closed') return;
    const question = await this.deps.store.record('question', body.questionId);
    if (question?.subjectId && isAboutResearch(question)) await this.#research(question.subjectId);
  }

  async #research(ideaId: string): Promise<void> {
    const idea = await this.deps.store.record('idea', ideaId);
    if (idea?.research?.status !== 'wanted' || idea.status === 'archived') return;
    if (!this.deps.ideation?.search) return this.#end(idea, 'off', OFF);
    const question = (await this.#asked(idea)) ?? (await this.#ask(idea));
    if (question?.status === 'open') return;
    // The same was asked before and is not asked again within a day: what was decided then holds.
    const earlier = question ?? (await this.#before(idea));
    if (earlier?.status === 'open') return;
    if (!question && earlier) return this.#end(idea, 'skipped', 'It was asked for already.');
    if (question?.answer?.option === SKIP) return this.#end(idea, 'skipped', `${question.answer.by.name} skipped it`);
    await this.#search(idea, areasOf(idea.research.areas, question));
  }

  /** The question about the searches that the idea wants now. */
  async #asked({ id, research }: Idea): Promise<Question | undefined> {
    const questions = await this.deps.store.records({ noun: 'question', parent: id });
    return questions.findLast((question) => isAboutResearch(question) && question.askedAt >= (research?.at ?? 0));
  }

  /** The newest earlier question about searches for this idea. */
  async #before({ id }: Idea): Promise<Question | undefined> {
    const questions = await this.deps.store.records({ noun: 'question', parent: id });
    return questions.findLast(isAboutResearch);
  }

  /** Undefined when the project does not ask this. */
  async #ask(idea: Idea): Promise<Question | undefined> {
    const { title, research } = idea;
    const areas = (research?.areas ?? []).map((area, index) => `${index + 1}. ${area}`).join('\n');
    await raiseAbout(this.deps, this.own, idea, 'before_research', { title, areas }, sourceOf(research?.at ?? 0));
    return this.#asked(idea);
  }

  async #search(idea: Idea, areas: string[]): Promise<void> {
    const search = this.deps.ideation!.search!;
    const found: string[] = [];
    const failures: string[] = [];
    for (const area of areas.slice(0, MOST_AREAS)) {
      try {
        found.push(`## ${area}\n\n${await search(area)}`);
      } catch (error) {
        failures.push(`${area}: ${(error as Error).message}`);
      }
    }
    const why = failures.join('; ').slice(0, 1_000);
    if (found.length === 0) return this.#end(idea, 'failed', why || 'nothing was found');
    const content = found.join('\n\n').slice(0, 50_000);
    const summary = `What was found about ${areas.join(', ')}.`.slice(0, 2_000);
    await this.#end(idea, 'done', why, { summary, content, confidence: 0.5 });
  }

  async #end(
    idea: Idea,
    status: 'done' | 'skipped' | 'failed' | 'off',
    why: string,
    artifact: { summary: string; content: string; confidence: number } | null = null,
  ): Promise<void> {
    const { id: ideaId } = idea;
    const about = { projectId: this.projectId, ideaId, by: ENGINE, status, why, artifact };
    const reply = await this.own.store.execute({ type: 'idea.end_research', ...about });
    if (!reply.ok) this.deps.onNote(`the search for ${idea.title} was not recorded: ${reply.refusal.message}`);
  }
}

/** One for each wish, so that each is asked about. */
const sourceOf = (at: number) => `before_research/${at}`;
const isAboutResearch = ({ sourceId }: Question) => sourceId.startsWith('before_research/');

/** A person's own words are one more area. */
function areasOf(areas: string[], question: Question | undefined): string[] {
  const answer = question?.answer;
  const isOwn = answer?.source === 'user' && answer.option === null && answer.text.trim() !== '';
  return isOwn ? [...areas, answer.text.trim().slice(0, 200)] : areas;
}
