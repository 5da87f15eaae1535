import { z } from 'zod';
import { AccountView, BudgetLimits } from '../budget.ts';
import { HistoryView } from '../history.ts';
import { MetricPeriod, MetricsView } from '../metrics.ts';
import { Project } from '../project.ts';
import { ConfigCheck, ConfigText, MAX_CONFIG_CHARS } from '../settings-view.ts';
import { ProjectStatus } from '../view.ts';
import { get, post, project, put } from './route.ts';

// Not by `toLocaleString`: the first call of it takes as long as loading half of this package.
const configText = z.string().max(MAX_CONFIG_CHARS, `a config has at most ${MAX_CONFIG_CHARS / 1000},000 characters`);

export const projectRoutes = {
  projects: get(
    '/v1/projects',
    'The projects this daemon knows',
    z.strictObject({ root: z.string().optional() }),
    z.array(Project),
  ),
  registerProject: post(
    '/v1/projects',
    'Makes a repository known; it is not worked on yet',
    z.strictObject({ root: z.string().min(1) }),
    Project,
    { role: 'admin' },
  ),
  attachProject: post(
    '/v1/projects/attach',
    'Starts work on a repository',
    z.strictObject({ root: z.string().min(1), workers: z.number().int().min(1).optional() }),
    z.object({ project: Project, warnings: z.array(z.string()) }),
    { role: 'admin' },
  ),
  status: get(
    '/v1/projects/:project/status',
    'All that one glance should tell about a project',
    z.strictObject({ project }),
    ProjectStatus,
  ),
  metrics: get(
    '/v1/projects/:project/metrics',
    'How work went in a period, by worker and in total',
    z.strictObject({ project, period: MetricPeriod.default('24h'), worker: z.string().min(1).optional() }),
    MetricsView,
  ),
  history: get(
    '/v1/projects/:project/history',
    'Spend, cycle time, first reviews and queue over time',
    z.strictObject({ project, period: MetricPeriod.default('24h') }),
    HistoryView,
  ),
  /** Of all projects; a project's own limits are in its config. */
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
    { role: 'admin' },
  ),
  config: get('/v1/projects/:project/config', 'The config file as it stands', z.strictObject({ project }), ConfigText),
  checkConfig: post(
    '/v1/projects/:project/config/check',
    'What would be wrong with this text as the config; nothing is saved',
    z.strictObject({ project, text: configText }),
    ConfigCheck,
    { role: 'viewer' },
  ),
  saveConfig: put(
    '/v1/projects/:project/config',
    'Saves the config file, if it is right and nobody changed it meanwhile',
    z.strictObject({ project, text: configText, hash: z.string().min(1) }),
    ConfigText,
    { role: 'admin' },
  ),
};
