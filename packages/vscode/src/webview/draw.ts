export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  look: string,
  text = '',
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag);
  if (look) made.className = look;
  if (text) made.textContent = text;
  return made;
}

export interface Keyed<T> {
  box: HTMLElement;
  update(value: T): void;
}

/** A list whose elements stay as long as their key does, so that focus and open details survive an update. */
export function keyed<T>(parent: HTMLElement, keyOf: (value: T) => string, make: (value: T) => Keyed<T>) {
  const made = new Map<string, Keyed<T>>();
  return (values: T[]): void => {
    const keys = new Set(values.map(keyOf));
    for (const [key, { box }] of made) {
      if (keys.has(key)) continue;
      box.remove();
      made.delete(key);
    }
    for (const [at, value] of values.entries()) {
      const key = keyOf(value);
      const item = made.get(key) ?? make(value);
      made.set(key, item);
      item.update(value);
      if (parent.children[at] !== item.box) parent.insertBefore(item.box, parent.children[at] ?? null);
    }
  };
}
