import { type Api, AppError, type RouteName, type RunBinding } from '@tidemill/contract';
import { checkedApi } from '../handlers/role.ts';
import { type McpRole, roleOfMode } from './roles.ts';

type Rule = (input: Record<string, unknown>, run: RunBinding) => Record<string, unknown>;

const inProject: Rule = (input, run) => ({ ...input, project: run.projectId });

/** About the run's own task, whatever else was named. */
const ownTask: Rule = (input, run) => {
  const { task } = input;
  if (run.taskNumber === null) throw foreign('this run has no task');
  if (task !== undefined && String(task).replace(/^#/, '') !== String(run.taskNumber))
    throw foreign(`task ${task} is not the task of this run, which is #${run.taskNumber}`);
  return { ...input, project: run.projectId, task: run.taskNumber };
};

/** About the run's own task where it has one. An agent names no other, and counts nothing under a name of its choice. */
const aboutOwn: Rule = ({ task, key: _key, ...input }, run) =>
  run.taskNumber === null && task === undefined ? inProject(input, run) : ownTask({ ...input, task }, run);

const foreign = (why: string) =>
  new AppError('forbidden', why, { hint: 'An agent reads its project, and what belongs to its own task.' });

const ANYONE: readonly McpRole[] = ['builder', 'reviewer', 'analyst'];

/** All that an agent may call. What is not listed is refused. */
const RULES: Partial<Record<RouteName, { roles: readonly McpRole[]; rule: Rule }>> = {
  status: { roles: ANYONE, rule: inProject },
  tasks: { roles: ANYONE, rule: inProject },
  task: { roles: ANYONE, rule: inProject },
  evidence: { roles: ANYONE, rule: inProject },
  questions: { roles: ANYONE, rule: ownTask },
  searchLog: { roles: ANYONE, rule: ownTask },
  knowledgeFor: { roles: ANYONE, rule: inProject },
  traces: { roles: ANYONE, rule: inProject },
  trace: { roles: ANYONE, rule: inProject },
  patterns: { roles: ANYONE, rule: inProject },
  proposeGuard: { roles: ['analyst'], rule: inProject },
  storeTrace: { roles: ['builder', 'analyst'], rule: aboutOwn },
};

/** What the agent of a run reaches: its project, and of that what its mode needs. */
export function boundApi(api: Api, run: RunBinding): Api {
  const role = roleOfMode(run.mode);
  return checkedApi(api, (name, input) => {
    const allowed = RULES[name];
    if (!allowed?.roles.includes(role)) throw foreign(`${name} is not for the agent of a ${run.mode} run`);
    return allowed.rule(input as Record<string, unknown>, run);
  });
}
