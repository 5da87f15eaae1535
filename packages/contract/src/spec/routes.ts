import { z } from 'zod';
import { by, count, flag, get, note, post, project, put } from '../api/route.ts';
import { PlainText } from '../text/plain-text.ts';
import { GivenSpecDraft } from './draft.ts';
import { TargetComplexity } from './spec.ts';
import { SpecDetail, SpecSummary } from './view.ts';

/** A number (`3`, `S3`) or an id. */
const spec = z.coerce.string<string | number>().min(1);
const ofSpec = { project, spec };
const version = z.number().int().positive();
/** The longest text that a specification is made of. */
const MOST_TEXT = 200_000;
const at = '/v1/projects/:project/specs';

export const specRoutes = {
  specs: get(
    at,
    'The specifications of a project, the newest first',
    z.strictObject({ project }),
    z.array(SpecSummary),
  ),
  newSpec: post(
    at,
    'Requests a specification from a text, an issue or an idea',
    z
      .strictObject({
        project,
        by,
        text: PlainText.max(MOST_TEXT, `the text has more than ${MOST_TEXT} characters: shorten it`).optional(),
        /** The number of an idea that has a brief. */
        idea: z.number().int().positive().optional(),
        from: z.enum(['text', 'issue', 'file', 'initializer']).default('text'),
        /** `mvp`: the smallest version that someone can use; `full`: everything. Left out: the agent decides. */
        targetComplexity: TargetComplexity.optional(),
      })
      .refine(({ text, idea, from }) => from === 'initializer' || (text ?? '').trim() !== '' || idea !== undefined, {
        message: 'a specification needs a text or an idea',
      }),
    SpecSummary,
    { decides: false },
  ),
  importSpec: post(
    `${at}/import`,
    'Adds a specification that a person wrote: it can be approved at once',
    z.strictObject({ project, by, draft: GivenSpecDraft }),
    SpecSummary,
    { decides: false },
  ),
  spec: get(
    `${at}/:spec`,
    'A specification with its document, requirements, tasks and versions',
    z.strictObject({ ...ofSpec, version: count().min(1).optional() }),
    SpecDetail,
  ),
  specDiff: get(
    `${at}/:spec/diff`,
    'What changed between two versions, by default the last two',
    z.strictObject({ ...ofSpec, from: count().min(1).optional(), to: count().min(1).optional() }),
    z.object({ from: z.number(), to: z.number(), diff: z.string() }),
  ),
  editSpec: put(
    `${at}/:spec`,
    'Replaces the document by one that a person wrote, as a new version',
    z.strictObject({ ...ofSpec, by, version, draft: GivenSpecDraft }),
    SpecSummary,
    { decides: true },
  ),
  approveSpec: post(
    `${at}/:spec/approve`,
    'Approves the current version and creates its tasks',
    z.strictObject({ ...ofSpec, by, version: version.optional(), override: flag() }),
    SpecDetail,
    { decides: true },
  ),
  reviseSpec: post(
    `${at}/:spec/revise`,
    'Requests a new version, with comments on lines of the document',
    z.strictObject({
      ...ofSpec,
      by,
      version: version.optional(),
      comments: z
        .array(z.strictObject({ line: z.number().int().nonnegative(), text: note.min(1, 'a comment needs a text') }))
        .min(1, 'say what to change')
        .max(200),
    }),
    SpecSummary,
    { decides: true },
  ),
  rejectSpec: post(
    `${at}/:spec/reject`,
    'Rejects a specification: no tasks are made of it',
    z.strictObject({ ...ofSpec, by, why: note.default('') }),
    SpecSummary,
    { decides: true },
  ),
  stopSpec: post(
    `${at}/:spec/stop`,
    'Stops the work on a specification; tasks that have not begun are held back',
    z.strictObject({ ...ofSpec, by, why: note.default('') }),
    SpecSummary,
    { decides: true },
  ),
  resumeSpec: post(
    `${at}/:spec/resume`,
    'Continues a specification that was stopped or failed',
    z.strictObject({ ...ofSpec, by }),
    SpecSummary,
    { decides: true },
  ),
};
