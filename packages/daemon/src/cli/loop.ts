import { ProposalStatus } from '@tidemill/contract';
import { type Command, Option } from 'commander';
import { type CliContext, integer, type Json, jsonOption, withProject } from './context.ts';
import { categoryLines, loopLines, proposalLines } from './loop-view.ts';
import { personName } from './person.ts';

/** Commands about the improvements that Tidemill proposes itself. */
export function addLoop(program: Command, context: CliContext): void {
  const { terminal } = context;
  const write = (lines: string[]) => {
    for (const line of lines) terminal.line(line);
  };
  const loop = program
    .command('loop')
    .description('the improvements that Tidemill proposes itself when the queue is low')
    .addHelpText(
      'after',
      '\nExamples:\n  tidemill loop\n  tidemill loop on\n  tidemill loop proposals\n  tidemill loop approve 3\n  tidemill loop refuse 4 --why "we drop that part soon"\n  tidemill loop score 3 8\n  tidemill loop categories',
    );
  loop
    .command('status', { isDefault: true })
    .description('show whether it works, its queue, its figures and what waits for you')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.loop({ project: project.id });
        if (options.json) terminal.json(view);
        else write(loopLines(view, terminal));
      }),
    );
  for (const word of ['on', 'off'] as const)
    loop
      .command(word)
      .description(word === 'on' ? 'let it propose; also ends a pause' : 'stop proposing; existing tasks go on')
      .option(...jsonOption)
      .action((options: Json) =>
        withProject(context, async (api, project, daemon) => {
          const by = personName(context.env);
          const view = await api.switchLoop({ project: project.id, on: word === 'on', by });
          if (options.json) return terminal.json(view);
          terminal.line(`The loop is ${view.isOn ? 'on' : 'off'}.`);
          if (view.isOn && !daemon) terminal.line('It works while the daemon runs: tidemill up');
        }),
      );
  loop
    .command('proposals')
    .description('list proposals, newest first')
    .addOption(new Option('--status <status>', 'only those with this status').choices(ProposalStatus.options))
    .option(...jsonOption)
    .action((options: Json & { status?: ProposalStatus }) =>
      withProject(context, async (api, project) => {
        const { status } = options;
        const found = await api.proposals({ project: project.id, limit: 100, ...(status ? { status } : {}) });
        if (options.json) return terminal.json(found);
        write(
          found.length === 0 ? ['There are no proposals.'] : found.flatMap((each) => proposalLines(each, terminal)),
        );
      }),
    );
  addDecisions(loop, context);
  loop
    .command('categories')
    .description('list the categories with their state, yield and score')
    .option(...jsonOption)
    .action((options: Json) =>
      withProject(context, async (api, project) => {
        const { categories } = await api.loop({ project: project.id });
        if (options.json) terminal.json(categories);
        else write(categoryLines(categories, terminal));
      }),
    );
}

function addDecisions(loop: Command, context: CliContext): void {
  const { terminal } = context;
  loop
    .command('approve <proposal>')
    .description('make a task of a proposal')
    .option(...jsonOption)
    .action((proposal: string, options: Json) =>
      withProject(context, async (api, project) => {
        const view = await api.approveProposal({ project: project.id, proposal, by: personName(context.env) });
        if (options.json) terminal.json(view);
        else terminal.line(`Proposal ${view.number} is now task #${view.task?.number}.`);
      }),
    );
  loop
    .command('refuse <proposal>')
    .description('refuse a proposal; nothing like it is accepted later')
    .requiredOption('--why <reason>', 'the reason, which later agents get to read')
    .option(...jsonOption)
    .action((proposal: string, options: Json & { why: string }) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const view = await api.refuseProposal({ project: project.id, proposal, why: options.why, by });
        if (options.json) terminal.json(view);
        else terminal.line(`Proposal ${view.number} is refused.`);
      }),
    );
  loop
    .command('score')
    .argument('<proposal>')
    .argument('<score>', 'from 0 to 10', integer(0, 10))
    .description('score a proposal from 0 to 10; a category below 5 on average rests for a month')
    .option(...jsonOption)
    .action((proposal: string, score: number, options: Json) =>
      withProject(context, async (api, project) => {
        const by = personName(context.env);
        const view = await api.scoreProposal({ project: project.id, proposal, score, by });
        if (options.json) terminal.json(view);
        else terminal.line(`Proposal ${view.number} has ${view.score} of 10.`);
      }),
    );
}
