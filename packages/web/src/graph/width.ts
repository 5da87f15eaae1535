import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** The current width of an element; 0 before it is rendered. */
export function useWidth<E extends HTMLElement>(): [element: RefObject<E | null>, width: number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const box = element.current;
    if (!box) return;
    const look = () => setWidth(Math.floor(box.clientWidth));
    look();
    const watch = new ResizeObserver(look);
    watch.observe(box);
    return () => watch.disconnect();
  }, []);
  return [element, width];
}
