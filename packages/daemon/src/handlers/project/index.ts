import type { Handlers } from '../handler.ts';
import { limitBudget } from './budget.ts';
import { showHistory } from './history.ts';
import { showMetrics } from './metrics.ts';
import { attachProject, listProjects, registerProject } from './project.ts';
import { showRouting } from './routing.ts';
import { checkConfig, saveConfig, showConfig } from './settings.ts';
import { status } from './status.ts';

export const projectHandlers: Handlers<'projects'> = {
  projects: listProjects,
  registerProject,
  attachProject,
  status,
  metrics: showMetrics,
  history: showHistory,
  limitBudget,
  routing: showRouting,
  config: showConfig,
  checkConfig,
  saveConfig,
};
