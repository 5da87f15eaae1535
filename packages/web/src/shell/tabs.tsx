import { type KeyboardEvent, type ReactNode, useEffect, useRef } from 'react';
import { useKeys } from './keys.ts';

/** This much of the previous tab stays visible. */
const NEIGHBOUR_PX = 64;

interface TabsProps<Name extends string> {
  /** What the tabs are about, for screen readers. */
  label: string;
  /** The first one is shown when the address names none. */
  names: readonly Name[];
  tab: Name;
  /** The address keeps which one is shown; empty for the first. */
  show: (tab: string) => void;
  /** What a number key does, as the help says it. */
  does?: (title: string) => string;
  badge: (name: Name) => ReactNode;
  className?: string;
  children: ReactNode;
}

const titleOf = (name: string) => name[0]!.toUpperCase() + name.slice(1);

/** Tabs with their panel: by mouse, by number, and by arrow keys. */
export function Tabs<Name extends string>(props: TabsProps<Name>) {
  const { label, names, tab, show, does = (title) => title, badge, className = '', children } = props;
  const list = useRef<HTMLDivElement>(null);
  const open = (next: Name) => show(next === names[0] ? '' : next);
  useKeys(names.map((name, index) => ({ keys: String(index + 1), does: does(titleOf(name)), run: () => open(name) })));
  useEffect(() => {
    const [pane, chosen] = [list.current, list.current?.querySelector<HTMLElement>(`#tab-${tab}`)];
    // Scroll the tabs only, not the page.
    if (pane && chosen) pane.scrollLeft = chosen.offsetLeft - pane.offsetLeft - NEIGHBOUR_PX;
  }, [tab]);
  const walk = (event: KeyboardEvent) => {
    const at = names.indexOf(tab);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    const place = (next + names.length) % names.length;
    open(names[place]!);
    list.current?.querySelectorAll<HTMLElement>('[role="tab"]')[place]?.focus();
  };
  return (
    <>
      <div ref={list} className={`tabs ${className}`.trim()} role="tablist" aria-label={label} onKeyDown={walk}>
        {names.map((name, index) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-controls="tab-panel"
            aria-selected={name === tab}
            aria-keyshortcuts={String(index + 1)}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => open(name)}
          >
            {titleOf(name)}
            {badge(name)}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a panel without buttons must be reachable by keyboard */}
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {children}
      </div>
    </>
  );
}
