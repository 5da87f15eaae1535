import { AppError, type ChannelView, type InboxItem } from '@tidemill/contract';
import type { Command } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { elapsed, fit, oneLine, pad, type Terminal, table, wrapLines } from './terminal.ts';

export function addInbox(program: Command, context: CliContext): void {
  const inbox = program
    .command('inbox')
    .description('everything that needs you: questions, approvals, blocked tasks, alerts')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill inbox\n  tidemill inbox ack a3f9c1\n  tidemill inbox ack --all')
    .action((options: Json) => showInbox(context, options));
  inbox
    .command('ack [alert]')
    .description('acknowledge an alert and remove it from the inbox')
    .option('--all', 'acknowledge all alerts')
    .option(...jsonOption)
    .action((ref: string | undefined, _: object, command: Command) =>
      acknowledge(context, ref, command.optsWithGlobals()),
    );
  inbox
    .command('do <alert> <action>')
    .description('do what an alert proposes: restart, repair, retry, drop, cancel')
    .option(...jsonOption)
    .addHelpText('after', '\nExamples:\n  tidemill inbox do a3f9c1 restart\n  tidemill inbox do a77d02 repair')
    .action((ref: string, action: string, _: object, command: Command) =>
      actOnAlert(context, ref, action, command.optsWithGlobals()),
    );

  const channels = program
    .command('channels')
    .description('list notification channels and their deliveries')
    .option(...jsonOption)
    .addHelpText(
      'after',
      '\nSet them under `channels` and `notify` in .tidemill/config.yaml.\n\nExamples:\n  tidemill channels\n  tidemill channels test phone',
    )
    .action((options: Json) => showChannels(context, options));
  channels
    .command('test <channel>')
    .description('send a test message now')
    .option(...jsonOption)
    .action((channel: string, _: object, command: Command) => test(context, channel, command.optsWithGlobals()));
}

async function showInbox(context: CliContext, { json }: Json): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const items = await api.inbox({ project: project.id });
    if (json) return terminal.json(items);
    if (items.length === 0) return terminal.line("You're all caught up.");
    const width = Math.max(...items.map(({ ref }) => ref.length)) + 2;
    for (const item of items) for (const line of itemLines(item, width, terminal)) terminal.line(line);
  });
}

/** An alert says what to do at its end. */
const ALERT_LINES = 15;

const COLOURS = { info: 'blue', warning: 'yellow', error: 'red', critical: 'red' } as const;

function itemLines(item: InboxItem, width: number, { paint, width: room }: Terminal): string[] {
  const { ref, kind, severity, isBlocking, at, title, text, task, command, actions } = item;
  const age = elapsed(Math.max(0, Date.now() - at));
  const about = task && !ref.startsWith('#') ? `#${task.number} ` : '';
  const head = `${isBlocking ? 'blocks work, ' : ''}${kind === 'alert' ? severity : kind}, ${age}`;
  const indent = ' '.repeat(width);
  const isAlert = kind === 'alert' && severity !== 'info';
  const shown = isAlert
    ? wrapLines(text, room - width).slice(0, ALERT_LINES)
    : oneLine(text) === ''
      ? []
      : [fit(oneLine(text), room - width)];
  return [
    `${paint(COLOURS[severity], pad(ref, width))}${fit(`${about}${oneLine(title)}`, room - width)}`,
    ...shown.map((line) => `${indent}${line}`),
    paint('dim', `${indent}${fit(`${head}  ${command}`, room - width)}`),
    ...actions
      .slice(1)
      .map(({ id }) => paint('dim', `${indent}${fit(`or: tidemill inbox do ${ref} ${id}`, room - width)}`)),
    ...(actions.length > 0 ? [paint('dim', `${indent}${fit(`or: tidemill inbox ack ${ref}`, room - width)}`)] : []),
  ];
}

async function acknowledge(
  context: CliContext,
  ref: string | undefined,
  options: Json & { all?: boolean },
): Promise<void> {
  if ((ref === undefined) === !options.all)
    throw new AppError('bad_input', 'name one alert or use --all', { hint: '`tidemill inbox` lists them.' });
  await withProject(context, async (api, project) => {
    const by = personName(context.env);
    const result = await api.acknowledge({ project: project.id, by, ...(ref === undefined ? {} : { ref }) });
    if (options.json) return context.terminal.json(result);
    const { acknowledged } = result;
    context.terminal.line(`Acknowledged ${acknowledged === 1 ? '1 alert' : `${acknowledged} alerts`}.`);
  });
}

async function actOnAlert(context: CliContext, ref: string, action: string, { json }: Json): Promise<void> {
  await withProject(context, async (api, project) => {
    const result = await api.actOnAlert({ project: project.id, ref, action, by: personName(context.env) });
    if (json) return context.terminal.json(result);
    context.terminal.line(result.done);
  });
}

async function showChannels(context: CliContext, { json }: Json): Promise<void> {
  const { terminal } = context;
  await withProject(context, async (api, project) => {
    const channels = await api.channels({ project: project.id });
    if (json) return terminal.json(channels);
    if (channels.length === 0)
      return terminal.line(
        'No channels. Add them under `channels` in .tidemill/config.yaml. The inbox works without them.',
      );
    const rows = channels.map((channel) => [
      channel.name,
      channel.type,
      channel.answers ? 'accepts answers' : 'send only',
      lastOf(channel),
      oneLine(channel.lastError ?? channel.target),
    ]);
    for (const line of table(rows, terminal.width)) terminal.line(line);
  });
}

function lastOf({ lastDeliveredAt, pending }: ChannelView): string {
  const last = lastDeliveredAt === null ? 'nothing sent' : `${elapsed(Math.max(0, Date.now() - lastDeliveredAt))} ago`;
  return pending > 0 ? `${last}, ${pending} waiting` : last;
}

async function test(context: CliContext, channel: string, { json }: Json): Promise<void> {
  await withProject(context, async (api, project) => {
    const result = await api.testChannel({ project: project.id, channel });
    if (json) return context.terminal.json(result);
    context.terminal.line(`Sent a test message to ${channel}. Check that it arrived.`);
  });
}
