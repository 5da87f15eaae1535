import { isBuilding, type LessonUse, type LoggedEvent, REACTORS } from '@tidemill/contract';
import type { ReactorCall, RoutedReactor } from '../../ports.ts';
import type { EngineDeps } from '../deps.ts';
import { keepDiscoveries } from '../learning/discoveries.ts';
import { type Measured, measured } from '../learning/verdict.ts';

/** Returns from these stages to an agent show that gates or people refused the work. */
const REFUSED = ['changes_requested', 'failed'];

/** Counts how the runs ended that were given lessons. */
export class LessonUses implements RoutedReactor {
  readonly name = 'lessons';
  readonly projectId: string;
  readonly on = REACTORS.lessons.on;
  readonly #deps: EngineDeps;

  constructor(deps: EngineDeps) {
    this.#deps = deps;
    this.projectId = deps.project.id;
  }

  async handle(call: ReactorCall): Promise<void> {
    const { store } = this.#deps;
    if (call.cause === 'start') {
      const open = await store.records({ noun: 'lesson_use', projectId: this.projectId, isOpen: true });
      for (const use of open) await this.#settle(use, null);
    }
    if (call.cause !== 'events') return;
    for (const { body } of call.events) {
      if (body.type === 'run.finished') await this.#keepDiscoveries(body);
      const taskId = taskOf(body);
      if (taskId === null) continue;
      const refused: Measured | null =
        body.type === 'task.moved' && REFUSED.includes(body.because)
          ? { verdict: 'hurt', why: `it came back from ${body.from.replaceAll('_', ' ')}` }
          : null;
      for (const use of await store.records({ noun: 'lesson_use', parent: taskId, isOpen: true }))
        await this.#settle(use, refused);
    }
  }

  /** Only builders hand them in: others do not see how the code behaves. */
  async #keepDiscoveries({ runId, envelope }: Extract<LoggedEvent['body'], { type: 'run.finished' }>): Promise<void> {
    const { discoveries = [] } = envelope ?? {};
    if (discoveries.length === 0 || this.#deps.project.rules.learning?.enabled === false) return;
    const run = await this.#deps.store.run(runId);
    if (run && isBuilding(run.mode)) await keepDiscoveries(this.#deps, run, discoveries);
  }

  async #settle(use: LessonUse, refused: Measured | null): Promise<void> {
    const { store } = this.#deps;
    const { runId, taskId, lessonIds, heldBackIds } = use;
    const [run, task] = [await store.run(runId), await store.task(taskId)];
    if (!run || !task) return;
    const found = measured(run, task, await store.runs(taskId));
    const verdict = found ?? (run.outcome === 'pr_ready' ? refused : null);
    if (!verdict) return;
    const reply = await store.execute({
      type: 'lesson.settle',
      projectId: this.projectId,
      runId,
      taskId,
      lessonIds: [...lessonIds, ...heldBackIds],
      ...verdict,
    });
    if (!reply.ok) throw new Error(`lesson.settle was refused: ${reply.refusal.message}`);
  }
}

function taskOf(body: LoggedEvent['body']): string | null {
  if (body.type === 'run.finished') return body.jobId === undefined ? body.subjectId : null;
  return body.type === 'merge.landed' || body.type === 'task.moved' ? body.taskId : null;
}
