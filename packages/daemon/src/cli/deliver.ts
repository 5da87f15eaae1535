import {
  type Api,
  AppError,
  type DeliveryView,
  type EnvironmentView,
  isBusyDelivery,
  plainLine,
} from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { deliveryLines, deliveryRow, environmentLines } from './deliver-view.ts';
import { EXIT } from './failure.ts';
import { confirm, personName } from './person.ts';
import { table } from './terminal.ts';

const LOOK_MS = 300;

interface DeliverOptions extends Json {
  commit?: string;
  approve?: boolean;
  override?: string;
  wait: boolean;
}

export function addDeliver(program: Command, context: CliContext): void {
  const { terminal } = context;
  const write = (lines: string[]) => terminal.line(lines.join('\n'));
  const by = () => personName(context.env);
  const deliver = program
    .command('deliver [environment]')
    .description('deliver what has landed to an environment; without one, show them all')
    .option('--commit <commit>', 'a landed commit; default: the newest, or what the earlier environment has')
    .option('--approve', 'approve it as well, if it needs approval')
    .option('--override <why>', 'deliver although gates do not pass, or before the earlier environment has it')
    .option('--no-wait', 'return at once')
    .option(...jsonOption)
    .addHelpText(
      'after',
      `
Environments are declared in .tidemill/config.yaml: see docs/delivery.md.

Examples:
  tidemill deliver staging
  tidemill deliver production --commit v1.2.0 --approve
  tidemill deliver rollback production`,
    )
    .action((environment: string | undefined, options: DeliverOptions) =>
      withProject(context, async (api, known, daemon) => {
        // Without a daemon the settings may have changed since it ended.
        const project = await api.registerProject({ root: known.root });
        if (environment === undefined)
          return showAll(context, await api.environments({ project: project.id }), options);
        const { commit, override, approve = false } = options;
        const order = { project: project.id, environment, approve, by: by() };
        const made = await api.deliver({
          ...order,
          ...(commit === undefined ? {} : { commit }),
          ...(override === undefined ? {} : { override }),
        });
        await follow(context, api, project.id, made, options.wait && daemon !== null, options);
        if (!daemon && !options.json) terminal.line('It begins when the daemon runs: tidemill up');
      }),
    );
  deliver
    .command('status')
    .description('show what is live in each environment, and what waits')
    .option(...jsonOption)
    .action((options: Json, command: Command) =>
      withProject(context, async (api, project) =>
        showAll(context, await api.environments({ project: project.id }), merged(command, options)),
      ),
    );
  deliver
    .command('history [environment]')
    .description('list the deliveries, newest first')
    .option('--limit <count>', 'at most so many', integer(1, 1000), 20)
    .option(...jsonOption)
    .action((environment: string | undefined, options: Json & { limit: number }, command: Command) =>
      withProject(context, async (api, project) => {
        const where = environment === undefined ? {} : { environment };
        const found = await api.deliveries({ project: project.id, ...where, limit: options.limit });
        if (merged(command, options).json) return terminal.json(found);
        if (found.length > 0) return write(table(found.map(deliveryRow), terminal.width));
        terminal.line('Nothing was delivered yet.');
      }),
    );
  deliver
    .command('show <delivery>')
    .description('show a delivery: commits, tasks, evidence, approval, steps')
    .option(...jsonOption)
    .action((name: string, options: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const found = await api.delivery({ project: project.id, delivery: name });
        if (merged(command, options).json) terminal.json(found);
        else write(deliveryLines(found, terminal));
      }),
    );
  deliver
    .command('log <delivery>')
    .description('show the output of its commands')
    .option(...jsonOption)
    .action((name: string, options: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const log = await api.deliveryLog({ project: project.id, delivery: name });
        if (merged(command, options).json) return terminal.json(log);
        for (const line of log.text.split('\n')) terminal.line(plainLine(line));
      }),
    );
  for (const approved of [true, false])
    deliver
      .command(`${approved ? 'approve' : 'decline'} <delivery>`)
      .description(approved ? 'approve a delivery that waits' : 'decline a delivery that waits')
      .option('--no-wait', 'return at once')
      .option(...jsonOption)
      .action((name: string, options: Json & { wait: boolean }, command: Command) =>
        withProject(context, async (api, project, daemon) => {
          const view = await api.approveDelivery({ project: project.id, delivery: name, approved, by: by() });
          await follow(context, api, project.id, view, options.wait && daemon !== null, merged(command, options));
        }),
      );
  deliver
    .command('stop <delivery>')
    .description('stop a delivery; one that has begun rolls back')
    .option(...jsonOption)
    .action((name: string, options: Json, command: Command) =>
      withProject(context, async (api, project) => {
        const view = await api.stopDelivery({ project: project.id, delivery: name, by: by() });
        if (merged(command, options).json) return terminal.json(view);
        terminal.line(
          view.endedAt === null ? `${view.ref} is being stopped and rolls back.` : `${view.ref} is ${view.status}.`,
        );
      }),
    );
  deliver
    .command('rollback <environment>')
    .description('put the commit back that was healthy before the present one')
    .option('--yes', 'do not ask')
    .option('--no-wait', 'return at once')
    .option(...jsonOption)
    .action((environment: string, options: Json & { yes?: boolean; wait: boolean }, command: Command) =>
      withProject(context, async (api, project, daemon) => {
        const { live, name } = await environmentNamed(api, project.id, environment);
        const what = `This takes ${live ? live.commit.slice(0, 10) : 'what is there'} away from ${name}.`;
        if (!(await confirm(context, what, options.yes))) return;
        const view = await api.rollBack({ project: project.id, environment, by: by() });
        await follow(context, api, project.id, view, options.wait && daemon !== null, merged(command, options));
      }),
    );
}

function showAll({ terminal }: CliContext, found: EnvironmentView[], { json }: Json): void {
  if (json) terminal.json(found);
  else if (found.length > 0) terminal.line(environmentLines(found, terminal).join('\n'));
  else
    terminal.line(
      'No environments are configured. Add them to `delivery` in .tidemill/config.yaml: see docs/delivery.md',
    );
}

/** `--json` belongs to the parent command too, which takes it first. */
const merged = (command: Command, { json }: Json): Json => ({ json: json ?? command.optsWithGlobals<Json>().json });

async function environmentNamed(api: Api, project: string, name: string): Promise<EnvironmentView> {
  const found = (await api.environments({ project })).find((each) => each.name === name);
  if (found) return found;
  throw new AppError('not_found', `there is no environment ${name}`, { hint: '`tidemill deliver status` lists them.' });
}

/** Waits for the end. One that is not healthy is an error of the command. */
async function follow(
  { terminal, setExitCode }: CliContext,
  api: Api,
  project: string,
  first: DeliveryView,
  waits: boolean,
  { json }: Json,
): Promise<void> {
  let view = first;
  let shown = '';
  for (;;) {
    const state = `${view.ref} to ${view.environment}: ${view.status.replaceAll('_', ' ')}`;
    if (!json && state !== shown) terminal.line(state);
    shown = state;
    const isOver = view.endedAt !== null || view.status === 'waiting' || view.questionRef !== null;
    if (isOver || !waits) break;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    view = await api.delivery({ project, delivery: view.id });
  }
  if (json) terminal.json(view);
  else if (view.questionRef !== null)
    terminal.line(`It waits for you: tidemill answer ${view.questionRef}, or tidemill deliver approve ${view.ref}`);
  else if (view.why) terminal.line(plainLine(view.why));
  const isBad = ['failed', 'rolled_back', 'rollback_failed'].includes(view.status);
  if (isBad || (waits && isBusyDelivery(view))) setExitCode(EXIT.failure);
}
