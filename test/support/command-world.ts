import {
  EventBody,
  type Evidence,
  type Project,
  type Role,
  type Run,
  type StoredRecord,
  Task,
  type Worker,
} from '@tidemill/contract';
import {
  Calendars,
  type Command,
  compareBy,
  type DecideEnv,
  type Decision,
  decide,
  declared,
  isReady,
  LOOKUPS,
  type Lookup,
  merged,
  type Rows,
  reduce,
  Slice,
  scopeOf,
  type TableName,
  type TableRows,
} from '@tidemill/core';

export interface WorldEvent {
  projectId: string;
  at: number;
  body: EventBody;
}

/**
 * A minimal store: rows in maps, one command at a time, each decided on exactly the rows of its scope.
 * Everything handed to core is frozen, so that a change in place throws.
 */
export class CommandWorld {
  readonly projects = new Map<string, Project>();
  readonly tasks = new Map<string, Task>();
  readonly runs = new Map<string, Run>();
  readonly workers = new Map<string, Worker>();
  readonly evidence = new Map<string, Evidence>();
  readonly records = new Map<string, StoredRecord>();
  readonly log: WorldEvent[] = [];
  now = 1_000_000;
  #ids = 0;
  readonly #calendars = new Calendars();

  /** Decides, applies the events to the rows and saves them. A refusal changes nothing. */
  execute(command: Command): Decision {
    return this.executeBatch([command])[0]!;
  }
  /** Several commands in one transaction: one slice, loaded once for all of them. */
  executeBatch(commands: Command[]): Decision[] {
    const slice = this.load(commands.flatMap(scopeOf));
    const decisions = commands.map((command) => this.#apply(slice, command));
    this.#save(slice);
    return decisions;
  }
  #apply(slice: Slice, command: Command): Decision {
    const decision = decide(slice, deepFreeze(command), this.env());
    if (!decision.ok) return decision;
    for (const body of decision.events) {
      this.log.push({ projectId: command.projectId, at: this.now, body: deepFreeze(body) });
      reduce(slice, command.projectId, this.now, body);
    }
    this.#ids += decision.events.length;
    return decision;
  }
  /** A separate world with the same history. */
  copy(): CommandWorld {
    const copy = new CommandWorld();
    const from = [this.projects, this.tasks, this.runs, this.workers, this.evidence, this.records] as Map<
      string,
      unknown
    >[];
    const to = [copy.projects, copy.tasks, copy.runs, copy.workers, copy.evidence, copy.records] as Map<
      string,
      unknown
    >[];
    for (const [index, rows] of from.entries()) for (const [id, row] of rows) to[index]!.set(id, row);
    copy.log.push(...this.log);
    copy.now = this.now;
    copy.#ids = this.#ids;
    return copy;
  }
  /** What would be decided; nothing is saved. */
  decideOnly(command: Command): Decision {
    return decide(this.load(scopeOf(command)), deepFreeze(command), this.env());
  }
  must(command: Command): EventBody[] {
    const decision = this.execute(command);
    if (!decision.ok) throw new Error(`${command.type} was refused: ${decision.refusal.message}`);
    return decision.events;
  }
  /** The refusal's code; null when the command was accepted. */
  refusal(command: Command): string | null {
    const decision = this.execute(command);
    return decision.ok ? null : decision.refusal.code;
  }

  /** The same env for the same state, so that a command can be decided twice. */
  env(): DecideEnv {
    let next = this.#ids;
    const newId = (prefix: string) => {
      next += 1;
      return `${prefix}_${next}`;
    };
    return { now: this.now, hash: digest, newId };
  }

  /** Exactly what the lookups name. */
  load(lookups: Lookup[]): Slice {
    const slice = new Slice({ calendars: this.#calendars });
    for (const lookup of merged(lookups)) {
      const { kind } = declared(lookup.find);
      const all = () => this.#find(lookup);
      if (kind === 'count') slice.loadCount(lookup, all().length);
      else if (kind === 'edges') slice.loadEdges(edgesOf([...this.tasks.values()], String(lookup.by[0])));
      else if (kind === 'lastRun') {
        const run = this.runs.get(this.tasks.get(String(lookup.by[0]))?.lastRunId ?? '');
        slice.load(lookup, run ? [run] : []);
      } else slice.load(lookup, all());
    }
    return slice;
  }

  /** Without looking at other tables, and by id at one row only: a long story has thousands. */
  #find({ find, by }: Lookup): TableRows[TableName][] {
    const { table, where } = declared(find);
    const rows = this[table] as Map<string, TableRows[TableName]>;
    const some = where[0] === 'id' ? [rows.get(String(by[0])) ?? []].flat() : rows.values();
    const whole = new Slice({ isWhole: true, now: this.now, calendars: this.#calendars });
    for (const row of some) (whole[table] as Rows<TableRows[TableName]>).load(row);
    return whole.list(find, ...(by as never));
  }

  /** A slice with all rows. */
  loadAll(): Slice {
    const slice = new Slice({ isWhole: true, now: this.now });
    for (const row of this.projects.values()) slice.projects.load(row);
    for (const row of this.tasks.values()) slice.tasks.load(row);
    for (const row of this.runs.values()) slice.runs.load(row);
    for (const row of this.workers.values()) slice.workers.load(row);
    for (const row of this.evidence.values()) slice.evidence.load(row);
    for (const row of this.records.values()) slice.records.load(row);
    return slice;
  }

  ready(projectId: string, role: Role, limit = Number.POSITIVE_INFINITY): Task[] {
    return [...this.tasks.values()]
      .filter((task) => task.projectId === projectId && task.role === role && isReady(task))
      .filter((task) => task.notBefore <= this.now)
      .sort((a, b) => compareBy('tasks', LOOKUPS.ready.order, a, b))
      .slice(0, limit);
  }

  #save(slice: Slice): void {
    save(this.projects, slice.projects);
    save(this.tasks, slice.tasks);
    save(this.runs, slice.runs);
    save(this.workers, slice.workers);
    save(this.evidence, slice.evidence);
    save(this.records, slice.records);
  }
}

/** The rows according to the events alone. */
export function replay(log: WorldEvent[]): Record<string, unknown[]> {
  const slice = new Slice({ isWhole: true });
  for (const { projectId, at, body } of log)
    reduce(slice, projectId, at, EventBody.parse(JSON.parse(JSON.stringify(body))));
  return rowsOf(slice);
}

export function rowsOf(from: Slice | CommandWorld): Record<string, unknown[]> {
  const { projects, tasks, runs, workers, evidence, records } = from;
  return {
    projects: [...projects.values()],
    tasks: [...tasks.values()].map((task) => Task.parse(task)),
    runs: [...runs.values()],
    workers: [...workers.values()],
    evidence: [...evidence.values()],
    records: [...records.values()],
  };
}

const edgesOf = (tasks: Task[], projectId: string) =>
  tasks
    .filter((task) => task.projectId === projectId && task.stage !== 'done')
    .flatMap(({ id, dependsOn }) => dependsOn.map((on) => [id, on] as const));

/** Good enough to distinguish texts, and needs no runtime API. */
export function digest(text: string): string {
  let [a, b] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

type ChangedRows<T> = { changed: Map<string, T>; removed: Set<string> };

function save<T extends { id: string }>(rows: Map<string, T>, { changed, removed }: ChangedRows<T>): void {
  for (const row of changed.values()) rows.set(row.id, deepFreeze(row));
  for (const id of removed) rows.delete(id);
}
