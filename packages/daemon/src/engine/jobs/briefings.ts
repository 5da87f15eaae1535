import type { Job, JobMode } from '@tidemill/contract';
import type { Briefing, JOB_SECTIONS } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { jobLessons } from '../learning/job-lessons.ts';
import { analysisBriefing } from './analysis.ts';
import { ideationSections } from './ideate.ts';
import { proposeBriefing } from './propose-briefing.ts';
import { preventBriefing, reflectBriefing } from './reflection.ts';
import { critiqueBriefing, draftingBriefing, judgeBriefing } from './spec-briefing.ts';

/** Collects the texts for the placeholders of a mode. Called before each run. */
type JobBriefing<M extends JobMode> = (
  deps: EngineDeps,
  job: Job,
) => Promise<Record<(typeof JOB_SECTIONS)[M][number], string>>;

const nothing = async () => ({});

/** What the prompt of each mode needs to know about its subject. */
const BRIEFINGS: { readonly [M in JobMode]: JobBriefing<M> } = {
  trial: nothing,
  ideate: ideationSections,
  specify: draftingBriefing,
  initialize: draftingBriefing,
  critique: critiqueBriefing,
  judge: judgeBriefing,
  analyse: analysisBriefing,
  propose: proposeBriefing,
  reflect: reflectBriefing,
  prevent: preventBriefing,
  replay: nothing,
};

/** The prompt of a job. */
export async function briefingOf(deps: EngineDeps, job: Job): Promise<Briefing> {
  const { prompts, project, workspace } = deps;
  const isOfProject = job.subjectId === project.id;
  // First: what comes later is for the next run, and an answer must not be in neither.
  const sections = await BRIEFINGS[job.mode](deps, job);
  const files = isOfProject ? [] : await workspace.filesAt(await workspace.targetCommit(), ['**']);
  return prompts.renderJob(job, {
    hilConfig: project.rules.hilConfig,
    files: files.map(([file]) => file),
    lessons: await jobLessons(deps, job, sections),
    answers: isOfProject ? [] : await answersOf(deps, job.subjectId),
    sections,
  });
}

/** What people, and defaults in their place, have answered about a subject. */
async function answersOf({ store }: EngineDeps, subjectId: string) {
  const questions = await store.records({ noun: 'question', parent: subjectId });
  return questions.flatMap(({ text, answer }) =>
    answer ? [{ question: text, answer: answer.text, by: answer.by.name }] : [],
  );
}
