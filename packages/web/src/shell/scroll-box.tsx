import { type ReactNode, useEffect, useRef, useState } from 'react';

interface ScrollBoxProps {
  label: string;
  className?: string;
  children: ReactNode;
}

/** Content that may be larger than its place. The keyboard reaches it only while there is something to scroll. */
export function ScrollBox({ label, className = '', children }: ScrollBoxProps) {
  const box = useRef<HTMLDivElement>(null);
  const [isLarger, setLarger] = useState(false);
  useEffect(() => {
    const element = box.current!;
    const look = () =>
      setLarger(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight);
    const watcher = new ResizeObserver(look);
    watcher.observe(element);
    if (element.firstElementChild) watcher.observe(element.firstElementChild);
    return () => watcher.disconnect();
  }, []);
  return (
    <div
      ref={box}
      className={`scroll-box ${className}`}
      {...(isLarger ? { role: 'region', 'aria-label': label, tabIndex: 0 } : {})}
    >
      {children}
    </div>
  );
}
