import {
  type Api,
  AppError,
  type Config,
  type Project,
  type SessionAnswer,
  type SessionRequest,
  type TaskDetail,
} from '@tidemill/contract';
import type { Clock, TakenRequest } from '../ports.ts';
import { SESSIONS_FOLDER } from '../sessions/folder.ts';
import { RequestFolder } from '../sessions/request-folder.ts';
import { requestDoubt } from './session-trust.ts';

const LOOK_EVERY_MS = 500;

interface Surroundings {
  project: Project;
  api: Api;
  clock: Clock;
  /** The settings that hold now. */
  config(): Config;
  /** The name under which the project's API knows this daemon's worker. */
  labelOf(name: string): Promise<string>;
  onNote(text: string, error?: unknown): void;
}

type Result = Pick<SessionAnswer, 'ok' | 'text' | 'hint'>;

const done = (text: string): Result => ({ ok: true, text, hint: '' });
const no = (text: string, hint = ''): Result => ({ ok: false, text, hint });

/** Carries out what other programs ask in `.claude-sessions/NAME.request.json`. A request runs no program. */
export class SessionRequests {
  readonly #around: Surroundings;
  readonly #folder: RequestFolder;
  readonly #end = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  #isFailing = false;

  constructor(around: Surroundings) {
    this.#around = around;
    this.#folder = new RequestFolder(around.project.root);
  }

  start(): void {
    this.#watching = this.#watch();
  }

  async stop(): Promise<void> {
    this.#end.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    const { signal } = this.#end;
    while (!signal.aborted) {
      await this.#look();
      await this.#around.clock.sleep(LOOK_EVERY_MS, signal);
    }
  }

  /** A folder that cannot be read is noted once, until it can be read again. */
  async #look(): Promise<void> {
    try {
      for (const taken of await this.#folder.take()) await this.#answer(taken);
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing) this.#around.onNote(`requests in ${SESSIONS_FOLDER} cannot be handled`, error);
      this.#isFailing = true;
    }
  }

  async #answer(taken: TakenRequest): Promise<void> {
    const { clock, onNote } = this.#around;
    const { agentId, asked } = taken;
    const request = 'request' in asked ? asked.request : null;
    const result = await this.#result(taken);
    const at = new Date(clock.now()).toISOString();
    const id = request?.id === undefined ? {} : { id: request.id };
    await taken.answer({ agentId, request: request?.request ?? null, ...id, ...result, at });
    const about = `the request ${request?.request ?? ''} for ${agentId}`.replace('  ', ' ');
    onNote(result.ok ? `${about}: ${result.text}` : `${about} was refused: ${result.text}`);
  }

  async #result(taken: TakenRequest): Promise<Result> {
    const { project, config } = this.#around;
    const { asked } = taken;
    const doubt = await requestDoubt(project.root, config());
    if (doubt !== null) return no(doubt, 'Use the command line or the page: `tidemill --help`.');
    if ('fault' in asked)
      return no(`the request was not understood: ${asked.fault}`, 'docs/sessions.md lists what can be asked.');
    try {
      return await this.#do(taken, asked.request);
    } catch (error) {
      if (error instanceof AppError && !error.retriable) return no(error.message, error.hint);
      throw error;
    }
  }

  async #do({ agentId, key, isRepeated }: TakenRequest, request: SessionRequest): Promise<Result> {
    const { api, labelOf } = this.#around;
    const project = this.#around.project.id;
    const by = `${SESSIONS_FOLDER}/${agentId}`;
    if (request.request === 'create') {
      const { title, body, accept } = request;
      const { number } = await api.addTask({ project, title, body, accept }, undefined, { idempotencyKey: key });
      return done(`#${number} was added`);
    }
    const name = await labelOf(agentId);
    const worker = (await api.workers({ project })).find((each) => each.name === name);
    if (!worker) return no(`there is no ${agentId}`, '`tidemill workers` lists the workers.');
    if (request.request === 'message') {
      const number = request.task ?? worker.task?.number;
      if (number === undefined) return no(`${agentId} has no task at the moment`, 'Name one: "task": 12.');
      const detail = await api.task({ project, task: String(number) });
      if (!isRepeated || !hasNote(detail, request.text))
        await api.noteTask({ project, task: String(number), by, text: request.text });
      return done(`the next run of #${number} gets the message`);
    }
    if (request.request === 'start') {
      await api.startTask({ project, task: String(request.task), worker: name, by });
      const later = worker.desired === 'running' ? 'when it is free' : `when it is resumed: it is ${worker.desired}`;
      const isThere = worker.task?.number === request.task;
      return done(isThere ? `${agentId} works on #${request.task}` : `${agentId} takes #${request.task} ${later}`);
    }
    await api.steerWorkers({ project, worker: name, operation: request.request, by });
    return done(`${agentId}: ${request.request}`);
  }
}

const hasNote = ({ task }: TaskDetail, text: string) =>
  task.context.some(
    ({ source, entryType, summary }) => source === 'person' && entryType === 'note' && summary === text,
  );
