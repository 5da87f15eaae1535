import { z } from 'zod';
import { Duration } from '../text/duration.ts';

const Poll = Duration.refine((ms) => ms >= 1_000 && ms <= 86_400_000, 'is between 1s and 24h');

/** Whose items start work without a person: those of people with push access, these people's too, or everyone's. */
export const TrackerTrust = z.union([z.enum(['push', 'anyone']), z.array(z.string().min(1))], {
  error: 'is push, anyone, or a list of logins',
});
export type TrackerTrust = z.infer<typeof TrackerTrust>;

const Name = z.string().trim().min(1).max(200);

/** A Projects v2 board. Its fields and options are found by their names, whatever the case. */
export const TrackerProject = z.strictObject({
  /** The user or organisation that owns it. Default: the owner of the repository. */
  owner: Name.optional(),
  number: z.number().int().positive(),
  /** Only items with one of these statuses become tasks. Empty: the status does not matter. */
  statuses: z.array(Name).default([]),
  /** The single-select field that holds the status. */
  field: Name.default('Status'),
  /** The field that holds the priority, if there is one. */
  priorityField: Name.default('Priority'),
  /** The option that is set for each state of a task. An option that the board lacks is left out. */
  options: z
    .strictObject({
      working: Name.default('In Progress'),
      review: Name.default('In Review'),
      waiting: Name.default('Blocked'),
      done: Name.default('Done'),
    })
    .prefault({}),
});
export type TrackerProject = z.infer<typeof TrackerProject>;

export const GithubTrackerConfig = z
  .strictObject({
    type: z.literal('github'),
    /** Issues with one of these labels. */
    labels: z.array(Name).default([]),
    /** Issues of this milestone, by its title. */
    milestone: Name.optional(),
    /** Issues on this board. */
    project: TrackerProject.optional(),
    trust: TrackerTrust.default('push'),
    poll: Poll.default(20_000),
    /** Whether accepted proposals of the loop become issues. */
    proposals: z.boolean().default(true),
    /** Whether the issue of a landed task is closed. */
    close: z.boolean().default(true),
  })
  .refine(({ labels, milestone, project }) => labels.length > 0 || milestone !== undefined || project !== undefined, {
    message: 'say which issues become tasks: labels, a milestone or a project',
  });
export type GithubTrackerConfig = z.infer<typeof GithubTrackerConfig>;

export const FilesTrackerConfig = z.strictObject({
  type: z.literal('files'),
  /** A folder of the repository with one Markdown file per item. Tidemill only reads it. */
  folder: z
    .string()
    .min(1)
    .default('backlog')
    .refine((folder) => !/^([/\\~]|[A-Za-z]:)/.test(folder) && !folder.split(/[/\\]/).includes('..'), {
      error: 'is a folder inside the repository, such as backlog',
    }),
  poll: Poll.default(20_000),
  /** Whether accepted proposals of the loop become items, in the data folder. */
  proposals: z.boolean().default(false),
});
export type FilesTrackerConfig = z.infer<typeof FilesTrackerConfig>;

/** Where tasks come from and where their progress is shown. */
export const TrackerConfig = z.discriminatedUnion('type', [GithubTrackerConfig, FilesTrackerConfig], {
  error: 'has a type, github or files',
});
export type TrackerConfig = z.infer<typeof TrackerConfig>;
