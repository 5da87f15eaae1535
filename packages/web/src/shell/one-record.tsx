import type { ReactNode } from 'react';
import { isCode } from '../api.ts';
import { plainLine } from '../plain.ts';
import { Failed } from './failed.tsx';
import { Empty } from './page-head.tsx';
import { PageLink } from './page-link.tsx';
import { useShown } from './project.tsx';

/** Whether the address of a page names a record. */
export const isRecordNumber = (number: number): boolean => Number.isSafeInteger(number) && number > 0;

interface OneRecordProps<T> {
  number: number;
  query: { data: T | undefined; error: Error | null };
  /** What such records are called: `D` in front of the number, `Delivery`, and where all of them are. */
  words: { letter: string; name: string; bad: string; to: string; all: string };
  children(record: T): ReactNode;
}

/** A page about one record, or why it is not shown. */
export function OneRecord<T>({ number, query: { data, error }, words, children }: OneRecordProps<T>) {
  const { project } = useShown();
  const { letter, name, bad, to, all } = words;
  if (!isRecordNumber(number) || isCode(error, 'not_found'))
    return (
      <Empty>
        <p role="alert">
          {Number.isNaN(number)
            ? `${bad} Use one such as ${letter}3.`
            : `${name} ${letter}${number} does not exist in ${plainLine(project.name)}.`}
        </p>
        <p>
          <PageLink to={to}>{all}</PageLink>
        </p>
      </Empty>
    );
  if (data !== undefined) return children(data);
  return (
    <div className="waiting-room">
      {error ? (
        <Failed error={error} />
      ) : (
        <p className="dim">
          Loading {letter}
          {number}…
        </p>
      )}
    </div>
  );
}
