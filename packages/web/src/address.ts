import { useState } from 'react';

/** A value that lives in the page's address, so that it survives a reload and can be shared. */
export function useAddress(key: string): [value: string, set: (value: string) => void] {
  const [value, setValue] = useState(() => new URLSearchParams(location.search).get(key) ?? '');
  return [
    value,
    (next) => {
      const query = new URLSearchParams(location.search);
      if (next) query.set(key, next);
      else query.delete(key);
      history.replaceState(null, '', query.size > 0 ? `?${query}` : location.pathname);
      setValue(next);
    },
  ];
}
