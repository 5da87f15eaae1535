import { useMemo } from 'react';
import { bounded, plain } from '../../plain.ts';
import { LongList } from '../../shell/long-list.tsx';

const LINE_PX = 19;
const LONGEST_LINE = 2000;

/** Any text, line by line. */
export function TextPane({ label, text }: { label: string; text: string }) {
  const lines = useMemo(() => plain(text).split('\n'), [text]);
  return (
    <LongList
      label={label}
      className="output"
      count={lines.length}
      estimate={LINE_PX}
      row={(index) => <p className="said">{bounded(lines[index]!, LONGEST_LINE) || ' '}</p>}
    />
  );
}
