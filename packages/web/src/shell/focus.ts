import { type RefObject, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useLocationProperty } from 'wouter/use-browser-location';

/** How long to wait for an element that is not rendered yet. */
const TIMEOUT_MS = 3000;
const FOCUSABLE = 'a[href], button:enabled, input:enabled, select:enabled, textarea:enabled';

const isNothingFocused = () => document.activeElement === null || document.activeElement === document.body;
const isDialogOpen = () => document.querySelector('dialog[open]') !== null;

/** The focused element and its ancestors up to the root, each with its siblings. */
interface Trail {
  element: Element;
  around: { part: Element; next: Element | null; previous: Element | null }[];
}

/**
 * When the focused element disappears (an answered question, a card that moved), the focus goes to its replacement, so
 * that keyboard users do not have to start at the top again.
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
      if (isNothingFocused() && !isDialogOpen()) (successor(around) ?? root).focus({ preventScroll: true });
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

/** The nearest remaining element: the next sibling, else the previous one, else the parent. */
function successor(around: Trail['around']): HTMLElement | null {
  const at = around.findLastIndex(({ part }) => !part.isConnected);
  const near = [around[at]?.next, around[at]?.previous, around[at + 1]?.part];
  const found = near.find((element) => element?.isConnected);
  return found ? firstIn(found) : null;
}

/** Prefers the items that j and k move between. */
function firstIn(element: Element): HTMLElement | null {
  if (element.matches(`[data-item], ${FOCUSABLE}`)) return element as HTMLElement;
  return element.querySelector<HTMLElement>('[data-item]') ?? element.querySelector<HTMLElement>(FOCUSABLE);
}

/** Registered before the router, which renders the previous page at once. */
let isBack = false;
addEventListener('popstate', () => {
  isBack = true;
  // Reset it, because going back to the same page renders nothing.
  setTimeout(() => {
    isBack = false;
  });
});

/** Moves the focus into a new page, for screen readers and keys; on "back", to the link that was followed. */
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
      // The new page may have set the focus itself.
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
    return null; // a malformed address
  }
}

/** Focuses an element once it is rendered, unless the person acts first. */
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
  const timer = setTimeout(stop, TIMEOUT_MS);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    watch.disconnect();
  });
  watch.observe(root, { childList: true, subtree: true });
  for (const act of ['keydown', 'pointerdown', 'wheel']) addEventListener(act, stop, { signal, capture: true });
  look();
  return stop;
}

/** For the element that contains the pages. */
export function useFocus(main: RefObject<HTMLElement | null>): void {
  useFocusKept(main);
  useFocusOfRoute(main);
}
