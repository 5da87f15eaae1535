import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, withTimeout } from '../api.ts';
import { plainLine } from '../plain.ts';
import { fitsWords } from '../search-words.ts';
import { stageText } from '../words.ts';
import { Dialog } from './dialog.tsx';
import { useTo } from './page-link.tsx';
import type { PageTab } from './page-tab.ts';
import { useShown } from './project.tsx';

const FOUND = 12;

interface Hit {
  to: string;
  title: string;
  kind: string;
}

/** Finds tasks by number or words, pages and workers. */
export function Search({ pages, onClose }: { pages: readonly PageTab[]; onClose: () => void }) {
  const { project, status } = useShown();
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [, go] = useLocation();
  const to = useTo();
  const wanted = text.trim();
  const { data: tasks = [], isFetching } = useQuery({
    queryKey: ['search', project.id, wanted],
    queryFn: ({ signal }) =>
      api.tasks({ project: project.id, search: wanted, newestFirst: true, limit: FOUND }, withTimeout(signal)),
    enabled: wanted !== '',
    placeholderData: (before) => before,
  });
  const fits = (name: string) => name.toLowerCase().includes(wanted.toLowerCase());
  const hits: Hit[] = [
    ...pages.filter(({ name }) => fits(name)).map(({ path, name }) => ({ to: path, title: name, kind: 'page' })),
    // Until the response arrives, show those previous results that match the new words.
    ...(wanted === '' ? [] : tasks.filter(fitsWords(wanted))).map(({ number, title, stage }) => ({
      to: `/tasks/${number}`,
      title: `#${number} ${plainLine(title)}`,
      kind: stageText(stage),
    })),
    ...status.workers
      .filter(({ name }) => wanted !== '' && fits(name))
      .map(({ name, status: doing }) => ({ to: `/fleet#worker-${name}`, title: name, kind: doing })),
  ];
  const chosen = Math.min(at, hits.length - 1);
  const open = (hit: Hit | undefined) => {
    if (!hit) return;
    onClose();
    go(to(hit.to));
  };
  return (
    <Dialog title="Search" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-expanded="true"
        aria-controls="hits"
        aria-activedescendant={chosen >= 0 ? `hit-${chosen}` : undefined}
        aria-label="Search tasks, pages and workers"
        placeholder="Task number, title, page or worker"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') open(hits[chosen]);
          else if (event.key === 'ArrowDown') setAt(Math.min(chosen + 1, hits.length - 1));
          else if (event.key === 'ArrowUp') setAt(Math.max(chosen - 1, 0));
          else return;
          event.preventDefault();
        }}
      />
      <div id="hits" className="hits" role="listbox" aria-label="Results">
        {hits.map((hit, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: the input above handles the keys
          <div
            key={hit.to}
            id={`hit-${index}`}
            role="option"
            aria-selected={index === chosen}
            tabIndex={-1}
            onClick={() => open(hit)}
          >
            <span className="title">{hit.title}</span> <span className="dim">{hit.kind}</span>
          </div>
        ))}
      </div>
      {hits.length === 0 && !isFetching && <p className="dim">No results for “{wanted}”.</p>}
    </Dialog>
  );
}
