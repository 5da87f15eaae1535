import { alsoText, causesOf } from '@tidemill/contract';
import { asData, told } from '../reply.ts';
import { AGENTS, READERS } from '../roles.ts';
import { tool } from '../tool.ts';

export const statusTool = tool(
  'status',
  'Overview: tasks by stage, workers, what waits for a person, budget',
  { roles: [...READERS, ...AGENTS], input: {} },
  async ({ session, signal }, { projectRoot }) => {
    const project = await session.projectOf(projectRoot);
    const found = await session.api.status({ project: project.id }, signal);
    const stages = Object.entries(found.tasks).map(([stage, number]) => `${stage} ${number}`);
    const busy = found.workers.filter(({ task }) => task !== null).map(({ name, task }) => `${name} #${task!.number}`);
    const state = found.running ? 'at work' : 'not at work: `tidemill up` starts it';
    const { budget } = found;
    const spent = budget?.project.daily.spentUsd;
    const head = [
      `Tidemill is ${state}. ${found.total} tasks${stages.length > 0 ? `: ${stages.join(', ')}` : ''}.`,
      `Busy: ${busy.join(', ') || 'nobody'} of ${found.workers.length} workers. Waiting for a person: ${found.inbox}.`,
      ...(spent === undefined ? [] : [`Spent today: ${spent.toFixed(2)} USD.`]),
    ].join('\n');
    const waiting = causesOf(found.needsYou)
      .slice(0, 10)
      .map(({ number, stage, title, why, also }) => `#${number} ${stage} ${title}${alsoText(also)}: ${why}`);
    return told(waiting.length > 0 ? `${head}\n${asData(waiting.join('\n'))}` : head);
  },
);
