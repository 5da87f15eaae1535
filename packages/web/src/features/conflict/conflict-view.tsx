import { useQuery } from '@tanstack/react-query';
import type { ConflictDetail, ConflictFile } from '@tidemill/contract';
import { useEffect, useRef } from 'react';
import { useAddress } from '../../address.ts';
import { api, isCode, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Command } from '../../shell/command.tsx';
import { PageHead } from '../../shell/page-head.tsx';
import { PageLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';
import { RoleNote } from '../../shell/role-note.tsx';
import { errorText } from '../../shell/toasts.tsx';
import { useUnsaved } from '../../text-draft.ts';
import { FileView } from './file-view.tsx';
import { Losses } from './losses.tsx';
import { Settle } from './settle.tsx';

export function ConflictView({ number }: { number: number }) {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['conflict', project.id, number],
    queryFn: ({ signal }) => api.conflict({ project: project.id, task: number }, withTimeout(signal)),
  });
  if (data) return <Shown conflict={data} error={error} />;
  return (
    <>
      <PageHead title={`Conflict of #${number}`} />
      {error ? (
        <Gone number={number} error={error} />
      ) : (
        <p className="dim">Merging the newest {project.rules.target}…</p>
      )}
    </>
  );
}

function Gone({ number, error }: { number: number; error: unknown }) {
  return (
    <div className="prose">
      <p className="waiting">{errorText(error)}</p>
      <p>
        <PageLink to={`/tasks/${number}`}>Open #{number}</PageLink> · <PageLink to="/conflicts">All conflicts</PageLink>
      </p>
    </div>
  );
}

/** Includes a file that was edited by hand but not added to git's index. */
const isDecided = ({ isResolved, hasMarkers, isText, kind }: ConflictFile) =>
  isResolved || (isText && !hasMarkers && (kind === 'both_changed' || kind === 'both_added'));

function Shown({ conflict, error }: { conflict: ConflictDetail; error: unknown }) {
  const { project } = useShown();
  const { number, title, files, target, why, isBehind } = conflict;
  const [chosen, choose] = useAddress('file');
  const view = useRef<HTMLDivElement>(null);
  const drafts = `conflict ${project.id} ${number} `;
  const unsaved = useUnsaved(drafts);
  const left = files.filter((file) => !isDecided(file));
  const file = files.find(({ path }) => path === chosen) ?? left[0] ?? files[0];
  /** Moves on to the next unresolved file. */
  const onResolved = (path: string) => {
    const at = files.findIndex((each) => each.path === path);
    const next = [...files.slice(at + 1), ...files.slice(0, at)].find((each) => !isDecided(each));
    choose(next?.path ?? path);
    view.current?.querySelector<HTMLElement>('#file-name')?.focus({ preventScroll: true });
    view.current?.scrollIntoView({ block: 'nearest' });
  };
  return (
    <>
      <PageHead
        title={
          <>
            Conflict of <PageLink to={`/tasks/${number}`}>#{number}</PageLink> {plainLine(title)}
          </>
        }
        about={why}
      >
        <Settle conflict={conflict} left={left.length} unsaved={unsaved} drafts={drafts} />
      </PageHead>
      <RoleNote what="Resolving" />
      {error !== null && isCode(error, 'wrong_stage') && (
        <div className="banner">
          <Gone number={number} error={error} />
        </div>
      )}
      {isBehind && (
        <p className="banner">
          {target} has new commits. Files you resolve stay resolved; the landing merges the rest.
        </p>
      )}
      {conflict.losses.length > 0 && (
        <section className="banner lossy" aria-label={`Changes of ${target} that are missing`}>
          <p>
            As the files are now, the resolution drops changes of {target}. Put them back, or confirm it at the end:
          </p>
          <Losses losses={conflict.losses} target={target} />
        </section>
      )}
      {file ? (
        <div className="conflict">
          <Files files={files} shown={file.path} left={left.length} unsaved={unsaved} choose={choose} />
          <div ref={view}>
            <FileView
              key={file.path}
              number={number}
              file={file}
              target={target}
              draftKey={drafts + file.path}
              onResolved={() => onResolved(file.path)}
            />
          </div>
        </div>
      ) : (
        <p>No file is in conflict any more. Mark it resolved to run the gates.</p>
      )}
      <Terminal conflict={conflict} />
    </>
  );
}

interface FilesProps {
  files: ConflictFile[];
  shown: string;
  left: number;
  unsaved: string[];
  choose: (path: string) => void;
}

function Files({ files, shown, left, unsaved, choose }: FilesProps) {
  const list = useRef<HTMLUListElement>(null);
  // In a narrow window the list scrolls: keep the current file visible.
  useEffect(() => {
    const item = [...(list.current?.children ?? [])][files.findIndex(({ path }) => path === shown)];
    if (list.current && item instanceof HTMLElement)
      list.current.scrollTop = item.offsetTop - list.current.offsetTop - item.offsetHeight;
  }, [shown]);
  return (
    <nav aria-label="Files in conflict">
      <p className="files-left">
        <span>{left === 0 ? 'All resolved' : `${files.length - left} of ${files.length} resolved`}</span>
        <progress max={files.length} value={files.length - left} aria-label="Files resolved" />
      </p>
      <ul ref={list}>
        {files.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              className="quiet"
              data-item
              aria-current={file.path === shown}
              onClick={() => choose(file.path)}
            >
              <Name path={file.path} />
              <span className={isDecided(file) ? 'landed' : 'waiting'}>
                {isDecided(file) ? 'resolved' : 'open'}
                {unsaved.includes(file.path) && ', not saved'}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The folder is dimmed, the file name is not. */
function Name({ path }: { path: string }) {
  const name = plainLine(path);
  const cut = name.lastIndexOf('/') + 1;
  return (
    <span className="name">
      <span className="dim">{name.slice(0, cut)}</span>
      {name.slice(cut)}
    </span>
  );
}

function Terminal({ conflict: { worktree, commands } }: { conflict: ConflictDetail }) {
  return (
    <details className="terminal">
      <summary>Use a terminal instead</summary>
      <p className="dim">
        The merge is in progress in <code>{plainLine(worktree)}</code>. You can also resolve files there. Run these
        commands in order. Instead of the last one you can press “Mark resolved” here.
      </p>
      <ol>
        {commands.map((command) => (
          <li key={command}>
            <Command text={command} />
          </li>
        ))}
      </ol>
    </details>
  );
}
