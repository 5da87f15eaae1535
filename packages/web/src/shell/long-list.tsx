import './long-list.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, useEffect, useLayoutEffect, useRef, useState } from 'react';

interface LongListProps {
  label: string;
  count: number;
  /** The estimated height of a row that is not rendered yet. */
  estimate: number;
  row(index: number): ReactNode;
  keyOf?(index: number): string | number;
  className?: string;
  /** Scrolls with new rows until the reader scrolls up. */
  isFollowing?: boolean;
  /** Called when the last row is visible. */
  onEnd?(): void;
  /** Scrolled into view when it changes. */
  shownIndex?: number | null;
}

const NEAR_PX = 24;
const OVERSCAN = 12;

/** A list of any length: only visible rows are in the document. Rows may have different heights. */
export function LongList(props: LongListProps) {
  const { label, count, estimate, row, keyOf, className = '', isFollowing = false, onEnd, shownIndex = null } = props;
  const pane = useRef<HTMLElement>(null);
  const [isAtEnd, setAtEnd] = useState(isFollowing);
  const lastTop = useRef(0);
  const list = useVirtualizer({
    count,
    getScrollElement: () => pane.current,
    estimateSize: () => estimate,
    overscan: OVERSCAN,
    ...(keyOf ? { getItemKey: keyOf } : {}),
  });
  const height = list.getTotalSize();
  const rows = list.getVirtualItems();
  const last = rows.at(-1)?.index ?? -1;
  const toEnd = () => {
    const element = pane.current;
    if (element) element.scrollTop = element.scrollHeight;
  };
  // Row heights are known only after rendering, so the end moves a few times.
  useLayoutEffect(() => {
    if (isFollowing && isAtEnd) toEnd();
  }, [isFollowing, isAtEnd, count, height]);
  const end = useRef(onEnd);
  end.current = onEnd;
  useEffect(() => {
    if (count > 0 && last >= count - 1) end.current?.();
  }, [count, last]);
  useEffect(() => {
    if (shownIndex !== null) list.scrollToIndex(shownIndex, { align: 'start' });
  }, [shownIndex]);
  const onScroll = () => {
    const { scrollTop, scrollHeight, clientHeight } = pane.current!;
    if (scrollHeight - scrollTop - clientHeight < NEAR_PX) setAtEnd(true);
    else if (scrollTop < lastTop.current) setAtEnd(false);
    lastTop.current = scrollTop;
  };
  return (
    <div className={`long-list ${className}`}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: keyboard users must be able to scroll it */}
      <section ref={pane} className="long-list-pane" aria-label={label} tabIndex={0} onScroll={onScroll}>
        <div className="long-list-all" style={{ height }}>
          <div className="long-list-shown" style={{ transform: `translateY(${rows[0]?.start ?? 0}px)` }}>
            {rows.map(({ key, index }) => (
              <div key={key} data-index={index} ref={list.measureElement}>
                {row(index)}
              </div>
            ))}
          </div>
        </div>
      </section>
      {isFollowing && !isAtEnd && (
        <button
          type="button"
          className="long-list-end"
          onClick={() => {
            setAtEnd(true);
            toEnd();
          }}
        >
          New output below
        </button>
      )}
    </div>
  );
}
