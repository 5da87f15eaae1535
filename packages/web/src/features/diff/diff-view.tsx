import './diff.css';
import { memo, useMemo, useState } from 'react';
import { plainLine } from '../../plain.ts';
import { LongList } from '../../shell/long-list.tsx';
import { plural } from '../../words.ts';
import type { DiffFile } from './parse.ts';
import { DiffRows } from './rows.ts';
import { useDiff } from './use-diff.ts';

const LINE_PX = 19;
/** Longer files start folded. */
const FOLDED_FROM = 1500;
const STEP = 5000;

/** A unified diff: foldable files, hunks, numbered lines. */
export function DiffView({ text, isCut }: { text: string; isCut: boolean }) {
  const { files, isReading } = useDiff(text);
  const [opened, setOpened] = useState<ReadonlyMap<string, number>>(new Map());
  const [sought, seek] = useState<number | null>(null);
  const limits = useMemo(() => files.map((file) => opened.get(file.path) ?? usual(file)), [files, opened]);
  const rows = useMemo(() => new DiffRows(files, limits), [files, limits]);
  if (isReading && files.length === 0) return <p className="dim">Loading the change…</p>;
  if (files.length === 0) return <p className="empty">No file was changed.</p>;
  const open = (file: number, lines: number) => setOpened(new Map(opened).set(files[file]!.path, lines));
  const all = (lines: (file: DiffFile) => number) => setOpened(new Map(files.map((file) => [file.path, lines(file)])));
  return (
    <div className="diff">
      <FileList files={files} isCut={isCut} onChoose={(file) => seek(rows.startOf(file))} />
      <p className="row">
        <button type="button" className="quiet" onClick={() => all(() => 0)}>
          Fold all
        </button>
        <button type="button" className="quiet" onClick={() => all(() => STEP)}>
          Unfold all
        </button>
      </p>
      <LongList
        label="The change, line by line"
        className="diff-lines"
        count={rows.count}
        estimate={LINE_PX}
        shownIndex={sought}
        row={(index) => {
          const row = rows.at(index);
          const file = files[row.file]!;
          const limit = limits[row.file]!;
          if (row.kind === 'head')
            return <FileHead file={file} isOpen={limit > 0} onToggle={() => open(row.file, limit > 0 ? 0 : STEP)} />;
          if (row.kind === 'more')
            return <MoreLines file={file} limit={limit} onMore={() => open(row.file, limit + STEP)} />;
          return <Line text={file.lines[row.line]!} before={file.before[row.line]!} after={file.after[row.line]!} />;
        }}
      />
    </div>
  );
}

const usual = ({ lines }: DiffFile) => (lines.length > FOLDED_FROM ? 0 : FOLDED_FROM);

const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span className="counts">
    <span className="plus">+{added.toLocaleString('en-US')}</span>{' '}
    <span className="minus">−{removed.toLocaleString('en-US')}</span>
  </span>
);

const LISTED = 200;

function FileList(props: { files: readonly DiffFile[]; isCut: boolean; onChoose: (file: number) => void }) {
  const { files, isCut, onChoose } = props;
  const [filter, setFilter] = useState('');
  const found = files
    .map((file, index) => ({ file, index }))
    .filter(({ file }) => file.path.toLowerCase().includes(filter.toLowerCase()));
  const sum = (of: (file: DiffFile) => number) => files.reduce((total, file) => total + of(file), 0);
  return (
    <details className="file-list" open={files.length <= 12}>
      <summary>
        {plural(files.length, 'file')}
        {isCut && ' so far'} <Counts added={sum((file) => file.added)} removed={sum((file) => file.removed)} />
      </summary>
      {files.length > 12 && (
        <input
          type="search"
          aria-label="Find a file"
          placeholder="Find a file"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <ul>
        {found.slice(0, LISTED).map(({ file, index }) => (
          <li key={file.path}>
            <button type="button" className="quiet file-pick" data-item onClick={() => onChoose(index)}>
              {plainLine(file.path)}
            </button>{' '}
            <Counts added={file.added} removed={file.removed} />
          </li>
        ))}
      </ul>
      {found.length > LISTED && <p className="dim">and {plural(found.length - LISTED, 'more file')}</p>}
    </details>
  );
}

function FileHead({ file, isOpen, onToggle }: { file: DiffFile; isOpen: boolean; onToggle: () => void }) {
  const { path, from, status, isBinary, notes, added, removed, lines, more } = file;
  return (
    <div className="file-head">
      <button type="button" className="quiet file-fold" aria-expanded={isOpen} onClick={onToggle}>
        <span className="title">{plainLine(path)}</span>
      </button>
      <span className="dim">
        {from !== null && `from ${plainLine(from)}, `}
        {isBinary ? `${status}, binary` : status}
        {notes.length > 0 && `, ${notes.map(plainLine).join(', ')}`}
      </span>
      <Counts added={added} removed={removed} />
      {!isOpen && <span className="dim">{plural(lines.length + more, 'line')}, folded</span>}
    </div>
  );
}

function MoreLines({ file, limit, onMore }: { file: DiffFile; limit: number; onMore: () => void }) {
  const left = file.lines.length - limit;
  if (left <= 0) return <p className="dim">{plural(file.more, 'more line')}, too many to show here</p>;
  return (
    <p>
      <button type="button" onClick={onMore}>
        Show more: {plural(left, 'line')} left
      </button>
    </p>
  );
}

const KIND: Record<string, string> = { '+': 'added', '-': 'removed', '@': 'hunk', '\\': 'mark' };

const Line = memo(function Line({ text, before, after }: { text: string; before: number; after: number }) {
  const kind = KIND[text[0] ?? ' '] ?? 'same';
  const isCode = kind !== 'hunk' && kind !== 'mark';
  return (
    <div className={`diff-line ${kind}`}>
      <span className="at" aria-hidden="true">
        {before || ''}
      </span>
      <span className="at" aria-hidden="true">
        {after || ''}
      </span>
      <span className="sign">{isCode ? text[0] : ''}</span>
      <code>{plainLine(isCode ? text.slice(1) : text.replace(/^\\ /, '')) || ' '}</code>
    </div>
  );
});
