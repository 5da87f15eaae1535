import { TrackerItemStatus, type TrackerItemView, type TrackerView } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { type CliContext, type Json, jsonOption, withProject } from './context.ts';
import { personName } from './person.ts';
import { oneLine, type Terminal } from './terminal.ts';

/** Commands about the issues or files that become tasks. */
export function addTracker(program: Command, context: CliContext): void {
  const { terminal } = context;
  const tracker = program
    .command('tracker')
    .description('the issues or files that become tasks')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill tracker\n  tidemill tracker sync\n  tidemill tracker items\n  tidemill tracker take 12\n  tidemill tracker refuse 13 --why "not part of this product"',
    );
  tracker
    .command('status', { isDefault: true })
    .description('show the tracker, when it was read, and what waits for you')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.tracker({ project: project.id });
        if (options.json) terminal.json(view);
        else show(view, terminal);
      }),
    );
  tracker
    .command('sync')
    .description('read it now, instead of with the next poll')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.syncTracker({ project: project.id, by: personName(context.env) });
        if (options.json) terminal.json(view);
        else show(view, terminal);
      }),
    );
  tracker
    .command('items')
    .description('list the items and their tasks, newest first')
    .addOption(new Option('--status <status>', 'only those with this status').choices(TrackerItemStatus.options))
    .option(...jsonOption)
    .action((options: Json & { status?: TrackerItemStatus }) =>
      withProject(context, async (api, project) => {
        const { status } = options;
        const items = await api.trackerItems({ project: project.id, limit: 200, ...(status ? { status } : {}) });
        if (options.json) return terminal.json(items);
        if (items.length === 0) terminal.line('There are no items.');
        for (const item of items) terminal.line(itemLine(item));
      }),
    );
  addDecisions(tracker, context);
}

function addDecisions(tracker: Command, context: CliContext): void {
  const { terminal } = context;
  tracker
    .command('take <item>')
    .description('make a task of an item that waits, or give its task the edited text')
    .option(...jsonOption)
    .action((item: string, options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.takeItem({ project: project.id, item, by: personName(context.env) });
        if (options.json) terminal.json(view);
        else terminal.line(`${oneLine(view.name)} is task #${view.taskNumber}.`);
      }),
    );
  tracker
    .command('refuse <item>')
    .description('refuse an item: no task is made of it')
    .requiredOption('--why <reason>', 'the reason')
    .option(...jsonOption)
    .action((item: string, options: Json & { why: string }) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const view = await api.refuseItem({ project: project.id, item, why: options.why, by });
        if (options.json) terminal.json(view);
        else terminal.line(`${oneLine(view.name)} is refused.`);
      }),
    );
}

function show({ name, isFollowed, syncedAt, trouble, items, waiting }: TrackerView, terminal: Terminal): void {
  const { line, paint } = terminal;
  if (name === null) {
    line(
      isFollowed || items === 0
        ? 'No tracker is followed. Add `tracker` to .tidemill/config.yaml, and start Tidemill: tidemill up'
        : `No tracker is followed now. ${items} items are known.`,
    );
  } else {
    const read = syncedAt === null ? 'not read yet' : `read ${Math.round((Date.now() - syncedAt) / 1000)} s ago`;
    line(`${name}, ${read}, ${items} items`);
    if (trouble !== null) line(paint('yellow', `  ${oneLine(trouble)}`));
  }
  if (waiting.length === 0) return;
  line();
  line(paint('bold', 'Waiting'));
  for (const item of waiting) line(itemLine(item));
}

const WAITING: Record<TrackerItemView['waiting'], string> = {
  untrusted: 'its author may not push; take it to start work',
  edited: 'edited since it was taken; take it again to use the new text',
  blocked: 'waits for an item that is no task',
  '': 'is about to become a task',
};

function itemLine({ name, title, author, status, waiting, why, error, taskNumber }: TrackerItemView): string {
  const state =
    status === 'waiting' || waiting === 'edited'
      ? WAITING[waiting]
      : status === 'taken'
        ? `task #${taskNumber}`
        : status + (why === '' ? '' : `: ${oneLine(why)}`);
  const problem = error === null ? '' : ` (${oneLine(error)})`;
  return `  ${oneLine(name)} ${oneLine(title)}, by ${oneLine(author)}: ${state}${problem}`;
}
