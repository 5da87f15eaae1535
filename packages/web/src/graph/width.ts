import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** How wide an element is right now, 0 before it is there: what is drawn to fit needs to know. */
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
