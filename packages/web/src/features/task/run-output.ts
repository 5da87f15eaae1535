import type { Run } from '@tidemill/contract';
import { useEffect, useRef, useState } from 'react';
import { api } from '../../api.ts';
import { useRunOutput } from '../../shell/live.ts';
import { showError } from '../../shell/toasts.tsx';
import { FoldedOutput } from './folded-output.ts';

/** A run's output: loaded once if the run has ended, otherwise followed live. */
export function useFoldedOutput(run: Run): { transcript: FoldedOutput; isReading: boolean } {
  const transcript = useRef<FoldedOutput>(null);
  transcript.current ??= new FoldedOutput();
  const known = transcript.current;
  const [isLive] = useState(run.status === 'running');
  const [isReading, setReading] = useState(true);
  const draw = useDrawing();
  useRunOutput(isLive ? run.id : null, 0, ({ text, isOver }) => {
    known.push(text);
    if (isOver) setReading(false);
    draw();
  });
  useEffect(() => {
    if (isLive) return;
    const leaving = new AbortController();
    const read = async () => {
      try {
        for await (const { text } of api.runLog({ run: run.id }, leaving.signal)) {
          if (leaving.signal.aborted) return;
          known.push(text);
          draw();
          // Let the page do other work between two chunks.
          await new Promise((resolve) => setTimeout(resolve));
        }
      } catch (error) {
        if (!leaving.signal.aborted) showError(error);
      }
      setReading(false);
    };
    void read();
    return () => leaving.abort();
  }, [isLive, run.id, known, draw]);
  return { transcript: known, isReading };
}

/** Redraws at most once per frame. */
function useDrawing(): () => void {
  const [, setCount] = useState(0);
  const due = useRef(0);
  useEffect(() => () => cancelAnimationFrame(due.current), []);
  const draw = useRef(() => {
    if (due.current !== 0) return;
    due.current = requestAnimationFrame(() => {
      due.current = 0;
      setCount((count) => count + 1);
    });
  });
  return draw.current;
}
