import { type RefObject, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';

/** So long something that is on its way is waited for. */
const PATIENCE_MS = 3000;
const FOCUSABLE = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled';

const hasNobodyFocus = () => document.activeElement === null || document.activeElement === document.body;
const isDialogOpen = () => document.querySelector('dialog[open]') !== null;

/** What had the focus, and around it, from the inside to the outside, what stands beside each part. */
interface Trail {
  element: Element;
  around: { part: Element; next: Element | null; previous: Element | null }[];
}

/**
 * Whoever has no mouse never has to begin at the top again: when what had the focus is gone (an answered question, a card
 * that moved on), the focus goes to what has taken its place.
 */
function useFocusKept(main: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = main.current!;
    let trail: Trail | null = null;
    const remember = (element: Element) => {
      const around: Trail['around'] = [];
      for (let part = element; part !== root && part.parentElement; part = part.parentElement)
        around.push({ part, next: part.nextElementSibling, previous: part.previousElementSibling });
      trail = { element, around };
    };
    const onFocus = ({ target }: FocusEvent) => target instanceof Element && target !== root && remember(target);
    const onChange = () => {
      if (!trail) return;
      if (trail.element.isConnected) return remember(trail.element);
      const { around } = trail;
      trail = null;
      if (hasNobodyFocus() && !isDialogOpen()) (successor(around) ?? root).focus({ preventScroll: true });
    };
    const watch = new MutationObserver(onChange);
    watch.observe(root, { childList: true, subtree: true });
    root.addEventListener('focusin', onFocus);
    return () => {
      watch.disconnect();
      root.removeEventListener('focusin', onFocus);
    };
  }, [main]);
}

/** The nearest thing to what is gone: what followed it, else what stood before it, else what is where they all were. */
function successor(around: Trail['around']): HTMLElement | null {
  const at = around.findLastIndex(({ part }) => !part.isConnected);
  const near = [around[at]?.next, around[at]?.previous, around[at + 1]?.part];
  const found = near.find((element) => element?.isConnected);
  return found ? firstIn(found) : null;
}

/** What j and k walk over comes first. */
function firstIn(element: Element): HTMLElement | null {
  if (element.matches(`[data-item], ${FOCUSABLE}`)) return element as HTMLElement;
  return element.querySelector<HTMLElement>('[data-item]') ?? element.querySelector<HTMLElement>(FOCUSABLE);
}

/** Heard before anybody else does, who draws the page that is gone back to at once. */
let isBack = false;
addEventListener('popstate', () => {
  isBack = true;
  // It may have been back to the same page, which is not drawn anew.
  setTimeout(() => {
    isBack = false;
  });
});

/** Another page: the focus goes into it, so that it is told aloud and keys begin there; back, to where one had left. */
function useFocusOfRoute(main: RefObject<HTMLElement | null>): void {
  const [at] = useLocation();
  const hash = useLocationProperty(() => location.hash);
  const before = useRef(at);
  useEffect(() => {
    const from = before.current;
    const wasBack = isBack;
    before.current = at;
    const root = main.current!;
    if (from !== at) {
      // Unless the new page has put it somewhere itself.
      if (!isDialogOpen() && !root.contains(document.activeElement)) root.focus({ preventScroll: true });
      if (!wasBack) scrollTo(0, 0);
    }
    if (wasBack) return whenThere(root, () => linkTo(root, from));
    if (hash !== '') return whenThere(root, () => elementOf(hash));
  }, [at, hash, main]);
}

function linkTo(root: Element, path: string): HTMLElement | null {
  const links = [...root.querySelectorAll('a')].filter(({ pathname }) => pathname === path);
  return links.find((link) => link.matches('[data-item]')) ?? links[0] ?? null;
}

function elementOf(hash: string): HTMLElement | null {
  try {
    return document.getElementById(decodeURIComponent(hash.slice(1)));
  } catch {
    return null; // somebody has written an address that cannot be read
  }
}

/** Focuses it once it is drawn, unless the person does something else meanwhile. */
export function whenThere(root: HTMLElement, find: () => HTMLElement | null): () => void {
  const over = new AbortController();
  const look = () => {
    const element = find();
    if (!element) return;
    over.abort();
    element.focus({ preventScroll: true });
    element.scrollIntoView({ block: 'nearest' });
  };
  const { signal } = over;
  const stop = () => over.abort();
  const watch = new MutationObserver(look);
  const timer = setTimeout(stop, PATIENCE_MS);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    watch.disconnect();
  });
  watch.observe(root, { childList: true, subtree: true });
  for (const act of ['keydown', 'pointerdown', 'wheel']) addEventListener(act, stop, { signal, capture: true });
  look();
  return stop;
}

/** For the element that holds the pages. */
export function useFocus(main: RefObject<HTMLElement | null>): void {
  useFocusKept(main);
  useFocusOfRoute(main);
}
