import { z } from 'zod';
import { flag, get, post, project, put } from '../api/route.ts';
import { AccountView, BudgetLimits } from '../budget/budget.ts';
import { ConfigCheck, ConfigText, MAX_CONFIG_CHARS, SavedConfig } from '../config/settings-view.ts';
import { EventRouteRow } from '../event-routing/table.ts';
import { HistoryView } from '../metrics/history.ts';
import { MetricPeriod, MetricsView } from '../metrics/metrics.ts';
import { ProjectStatus } from '../task/view.ts';
import { Project } from './project.ts';

// Not with `toLocaleString`: its first call takes as long as loading half of this package.
const configText = z.string().max(MAX_CONFIG_CHARS, `a config has at most ${MAX_CONFIG_CHARS / 1000},000 characters`);

export const projectRoutes = {
  projects: get(
    '/v1/projects',
    'The registered projects',
    z.strictObject({ root: z.string().optional() }),
    z.array(Project),
  ),
  registerProject: post(
    '/v1/projects',
    'Registers a repository; work does not start yet',
    z.strictObject({ root: z.string().min(1) }),
    Project,
    { decides: false, role: 'admin' },
  ),
  attachProject: post(
    '/v1/projects/attach',
    'Starts work on a repository',
    z.strictObject({
      root: z.string().min(1),
      workers: z.number().int().min(1).optional(),
      /** Also if another data folder works on it, which may not do so afterwards. */
      takeOver: z.boolean().optional(),
    }),
    z.object({ project: Project, warnings: z.array(z.string()) }),
    { decides: true, role: 'admin' },
  ),
  status: get('/v1/projects/:project/status', 'The overview of a project', z.strictObject({ project }), ProjectStatus),
  metrics: get(
    '/v1/projects/:project/metrics',
    'Figures of a period, by worker and in total',
    z.strictObject({ project, period: MetricPeriod.default('24h'), worker: z.string().min(1).optional() }),
    MetricsView,
  ),
  history: get(
    '/v1/projects/:project/history',
    'Spend, cycle time, first reviews and queue over time',
    z.strictObject({ project, period: MetricPeriod.default('24h') }),
    HistoryView,
  ),
  /** For all projects together; a project's own limits are in its config. */
  limitBudget: put(
    '/v1/projects/:project/budget/total',
    'Sets the limits of all projects together',
    z.strictObject({
      project,
      dailyUsd: BudgetLimits.shape.dailyUsd.unwrap().optional(),
      monthlyUsd: BudgetLimits.shape.monthlyUsd.unwrap().optional(),
      timeZone: z.string().min(1).optional(),
    }),
    AccountView,
    { decides: true, role: 'admin' },
  ),
  routing: get(
    '/v1/projects/:project/routing',
    'Which role reacts to which event, and what can be chosen; with `all` every reactor',
    z.strictObject({ project, all: flag() }),
    z.array(EventRouteRow),
  ),
  config: get('/v1/projects/:project/config', 'The current config file', z.strictObject({ project }), ConfigText),
  checkConfig: post(
    '/v1/projects/:project/config/check',
    'Checks a text as the config; nothing is saved',
    z.strictObject({ project, text: configText }),
    ConfigCheck,
    { decides: false, role: 'viewer' },
  ),
  saveConfig: put(
    '/v1/projects/:project/config',
    'Saves the config file, if it is valid and unchanged since it was read, and commits it to the target',
    z.strictObject({ project, text: configText, hash: z.string().min(1) }),
    SavedConfig,
    { decides: true, role: 'admin' },
  ),
};
