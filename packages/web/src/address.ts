import { useSearchParams } from 'wouter';

/** A value stored in the page's address, so that it survives a reload and can be shared. */
export function useAddress(key: string): [value: string, set: (value: string) => void] {
  const [query, setQuery] = useSearchParams();
  return [
    query.get(key) ?? '',
    (next) =>
      setQuery(
        (current) => {
          const changed = new URLSearchParams(current);
          if (next) changed.set(key, next);
          else changed.delete(key);
          return changed;
        },
        { replace: true },
      ),
  ];
}
