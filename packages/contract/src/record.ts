import { z } from 'zod';
import { Account } from './budget.ts';
import { Alert, Notification } from './notice.ts';
import { Preference, Question } from './question.ts';

/**
 * Nouns that need no columns of their own: a store keeps them in one table, found by id, by noun and project, by parent,
 * and by whether something is still due.
 */
export const StoredRecord = z.discriminatedUnion('noun', [Question, Preference, Account, Alert, Notification]);
export type StoredRecord = z.infer<typeof StoredRecord>;
export type RecordNoun = StoredRecord['noun'];
export type RecordOf<N extends RecordNoun> = Extract<StoredRecord, { noun: N }>;

/** What a query needs to know of a record without reading it. */
export interface RecordColumns {
  /** What it belongs to: a task, or its project. */
  parent: string;
  /** Waits for something: an answer, a delivery. */
  isOpen: boolean;
  /** When somebody has to look at it; null when nobody has to. */
  dueAt: number | null;
}

export function recordColumns(record: StoredRecord): RecordColumns {
  switch (record.noun) {
    case 'question': {
      const isOpen = record.status === 'open';
      const due = [record.remindAt, record.expiresAt].filter((at) => at !== null);
      return {
        parent: record.taskId ?? record.projectId,
        isOpen,
        dueAt: isOpen && due.length > 0 ? Math.min(...due) : null,
      };
    }
    case 'notification':
      return { parent: record.taskId ?? record.projectId, isOpen: record.nextAt !== null, dueAt: record.nextAt };
    case 'preference':
      return { parent: record.projectId, isOpen: record.isActive, dueAt: null };
    case 'alert':
      return { parent: record.projectId, isOpen: record.acknowledgedAt === null, dueAt: null };
    case 'account':
      return { parent: record.projectId, isOpen: false, dueAt: null };
  }
}
