import { useEffect, useState } from 'react';
import { type DiffFile, DiffReader } from './parse.ts';

/** Small enough that a piece is read within a frame. */
const PIECE = 200_000;

export interface ReadDiff {
  files: readonly DiffFile[];
  isReading: boolean;
}

/** A diff read piece by piece; what was shown of the one before stays until the new one is there. */
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
