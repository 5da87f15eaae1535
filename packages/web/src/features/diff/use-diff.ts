import { useEffect, useState } from 'react';
import { type DiffFile, DiffReader } from './parse.ts';

/** Small enough to parse within one frame. */
const PIECE = 200_000;

export interface ReadDiff {
  files: readonly DiffFile[];
  isReading: boolean;
}

/** Parses a diff in chunks; the previous diff stays visible until the new one is complete. */
export function useDiff(text: string): ReadDiff {
  const [read, setRead] = useState<ReadDiff>({ files: [], isReading: true });
  useEffect(() => {
    let isGone = false;
    const go = async () => {
      const reader = new DiffReader();
      for (let at = 0; at < text.length; at += PIECE) {
        reader.push(text.slice(at, at + PIECE));
        if (at + PIECE < text.length) await new Promise((resolve) => setTimeout(resolve));
        if (isGone) return;
      }
      reader.end();
      setRead({ files: reader.files, isReading: false });
    };
    void go();
    return () => {
      isGone = true;
    };
  }, [text]);
  return read;
}
