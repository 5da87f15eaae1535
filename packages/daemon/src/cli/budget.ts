import type { AccountView } from '@tidemill/contract';
import { type Command, InvalidArgumentError } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { oneLine, pad, type Terminal } from './terminal.ts';

interface BudgetOptions extends Json {
  totalDaily?: number;
  totalMonthly?: number;
  timeZone?: string;
}

const BAR = 20;

export function addBudget(program: Command, context: CliContext): void {
  program
    .command('budget')
    .description('show money spent, reserved and forecast; set limits for all projects together')
    .option('--total-daily <usd>', 'daily limit for all projects together', usd)
    .option('--total-monthly <usd>', 'monthly limit for all projects together', usd)
    .option('--time-zone <name>', 'time zone in which days and months begin, for all projects')
    .option(...jsonOption)
    .addHelpText(
      'after',
      "\nA project's own limits are `budget: { dailyUsd, monthlyUsd, timeZone }` in .tidemill/config.yaml.\n\nExamples:\n  tidemill budget\n  tidemill budget --total-daily 80 --total-monthly 900 --time-zone Europe/Berlin",
    )
    .action((options: BudgetOptions) => budget(context, options));
}

async function budget(context: CliContext, { json, totalDaily, totalMonthly, timeZone }: BudgetOptions): Promise<void> {
  await withProject(context, async (api, project) => {
    if (totalDaily !== undefined || totalMonthly !== undefined || timeZone !== undefined)
      await api.limitBudget({ project: project.id, dailyUsd: totalDaily, monthlyUsd: totalMonthly, timeZone });
    const accounts = await api.budget({});
    if (json) return context.terminal.json(accounts);
    const [total, ...projects] = [accounts.at(-1)!, ...accounts.slice(0, -1)];
    for (const account of projects) show(context.terminal, oneLine(account.name), account);
    show(context.terminal, 'all projects', total);
  });
}

function show(terminal: Terminal, name: string, account: AccountView): void {
  terminal.line(`${terminal.paint('bold', name)}  (time zone ${account.timeZone})`);
  period(terminal, 'today', account.daily, account.limits.dailyUsd, 'by midnight');
  period(terminal, 'month', account.monthly, account.limits.monthlyUsd, 'by the end of the month');
  if (account.stopped) terminal.line(`  ${terminal.paint('red', oneLine(account.stopped))}`);
}

function period(terminal: Terminal, label: string, figures: AccountView['daily'], limit: number, until: string): void {
  const { spentUsd, reservedUsd, percent, forecastUsd } = figures;
  const cells = (usd: number) => Math.min(BAR, Math.round((usd / limit) * BAR));
  const spent = cells(spentUsd);
  const reserved = Math.max(0, cells(spentUsd + reservedUsd) - spent);
  const bar = `${'#'.repeat(spent)}${'+'.repeat(reserved)}${'.'.repeat(BAR - spent - reserved)}`;
  const style = percent >= 90 ? 'red' : percent >= 75 ? 'yellow' : 'green';
  const text = `${money(spentUsd)} of ${money(limit)} USD spent, ${money(reservedUsd)} reserved, about ${money(forecastUsd)} ${until}`;
  terminal.line(`  ${label}  [${terminal.paint(style, bar)}] ${pad(`${Math.floor(percent)} %`, 6)} ${text}`);
}

const money = (usd: number) => usd.toFixed(2);

function usd(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && text.trim() !== '') return value;
  throw new InvalidArgumentError('It must be an amount in USD, such as 80 or 12.50.');
}
