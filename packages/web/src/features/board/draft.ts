import { AppError, NewTask, TaskKind } from '@tidemill/contract';
import { useState } from 'react';
import { linesOfText } from '../../plain.ts';

/** A new task as its form fields hold it. */
export interface Draft {
  title: string;
  body: string;
  accept: string;
  files: string;
  after: string;
  priority: number;
  kind: TaskKind;
  pipeline: string;
}
export type DraftField = keyof Draft;
/** Errors by field; errors of no single field are under `all`. */
export type DraftFaults = Partial<Record<DraftField | 'all', string>>;

const BLANK: Draft = {
  title: '',
  body: '',
  accept: '',
  files: '',
  after: '',
  priority: 2,
  kind: 'feature',
  pipeline: '',
};

export const isBlank = (draft: Draft) =>
  (['title', 'body', 'accept', 'files', 'after'] as const).every((field) => draft[field].trim() === '');

/** The draft survives closing the dialog and a reload. */
export function useDraft(project: string): [draft: Draft, change: (change: Partial<Draft>) => void, reset: () => void] {
  const key = `tidemill-draft-${project}`;
  const [draft, setDraft] = useState(() => kept(sessionStorage.getItem(key)));
  const keep = (next: Draft) => {
    setDraft(next);
    if (isBlank(next)) sessionStorage.removeItem(key);
    else sessionStorage.setItem(key, JSON.stringify(next));
  };
  const { kind, pipeline, priority } = draft;
  // The next task usually has the same kind, pipeline and priority.
  return [draft, (change) => keep({ ...draft, ...change }), () => keep({ ...BLANK, kind, pipeline, priority })];
}

function kept(text: string | null): Draft {
  try {
    const found: unknown = JSON.parse(text ?? '{}');
    const fits = Object.entries(found as object).filter(
      ([field, value]) => field in BLANK && typeof value === typeof BLANK[field as DraftField],
    );
    const draft = { ...BLANK, ...Object.fromEntries(fits) } as Draft;
    return { ...draft, kind: TaskKind.catch('feature').parse(draft.kind) };
  } catch {
    // The stored text is not a draft: start with a blank one.
    return BLANK;
  }
}

/** The task in the form that the daemon accepts, or its errors. */
export function readDraft(draft: Draft): { task: NewTask | null; faults: DraftFaults } {
  const words = draft.after.split(/[\s,]+/).filter((word) => word !== '');
  const stray = words.find((word) => !/^#?\d{1,9}$/.test(word));
  const after = stray === undefined ? words.map((word) => Number(word.replace('#', ''))) : [];
  const { title, body, kind, priority } = draft;
  const task = {
    title,
    body,
    kind,
    priority,
    after,
    accept: linesOfText(draft.accept),
    files: linesOfText(draft.files),
    ...(draft.pipeline === '' ? {} : { pipeline: draft.pipeline }),
  };
  const faults: DraftFaults = {};
  if (stray !== undefined) faults.after = `“${stray.slice(0, 40)}” is not a task number. Write numbers such as 3, 4`;
  for (const { path, message } of NewTask.safeParse(task).error?.issues ?? []) {
    const field = fieldOf(String(path[0]));
    faults[field] ??= message;
  }
  return { task: Object.keys(faults).length === 0 ? task : null, faults };
}

/** The daemon's refusal, at the field it is about if that is known. */
export function faultsOf(error: unknown, text: string): DraftFaults {
  if (!(error instanceof AppError)) return { all: text };
  if (error.code === 'not_found' && /to wait for/.test(error.message)) return { after: text };
  if (error.code === 'dependency_cycle') return { after: text };
  if (error.code === 'unknown_pipeline') return { pipeline: text };
  const named = /^(\w+)[.:]/.exec(error.message)?.[1];
  return { [error.code === 'bad_input' && named ? fieldOf(named) : 'all']: text };
}

const fieldOf = (name: string): DraftField | 'all' => (name in BLANK ? (name as DraftField) : 'all');
