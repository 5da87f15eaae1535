import { type Api, describeEvent, type LoggedEvent, MILL, shownTo, taskIdOf } from '@tidemill/contract';
import { oneLine } from './terminal.ts';

/** Numbers and titles of tasks, shown instead of ids. */
export class TaskNames {
  readonly #api: Api;
  readonly #known = new Map<string, { number: number; title: string }>();

  constructor(api: Api) {
    this.#api = api;
  }

  async of(event: LoggedEvent): Promise<{ number: number; title: string } | null> {
    const { body } = event;
    if (body.type === 'task.created') this.#known.set(body.taskId, body);
    const taskId = taskIdOf(body);
    if (taskId === null) return null;
    const known = this.#known.get(taskId);
    if (known) return known;
    const { task } = await this.#api.task({ project: event.projectId, task: taskId });
    this.#known.set(taskId, task);
    return task;
  }
}

/** The number comes first so that the lines of one task are easy to find. */
export function eventText(event: LoggedEvent, task: { number: number; title: string } | null): string {
  const { who, text } = describeEvent(event.body);
  const what = event.body.type === 'task.created' ? `${text}: ${event.body.title}` : text;
  const line = oneLine(who === MILL ? what : `${who} ${what}`);
  return task ? `#${task.number}  ${line}` : line;
}

/** Whether an event is shown in the live view. */
export const isNews = (event: LoggedEvent): boolean => shownTo(event.body) === 'terminal';
