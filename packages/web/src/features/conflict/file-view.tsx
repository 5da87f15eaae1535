import { useQueryClient } from '@tanstack/react-query';
import type { ConflictDetail, ConflictFile, ConflictKind, Resolution } from '@tidemill/contract';
import { api } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { Action } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { useTextDraft } from '../../text-draft.ts';
import { Code } from './code.tsx';
import { Result } from './result.tsx';

interface FileProps {
  number: number;
  file: ConflictFile;
  target: string;
  draftKey: string;
  onResolved: () => void;
}

const WHAT: Record<ConflictKind, (target: string) => string> = {
  both_changed: (target) => `Changed on ${target} and by the task.`,
  both_added: (target) => `Added on ${target} and by the task, with different content.`,
  both_deleted: () => 'Deleted on both sides: it was renamed differently.',
  deleted_by_task: (target) => `Changed on ${target}, deleted by the task.`,
  deleted_by_target: (target) => `Deleted on ${target}, changed by the task.`,
  added_by_task: (target) => `Only the task has it here; ${target} moved it.`,
  added_by_target: (target) => `Only ${target} has it here; the task moved it.`,
};
const WITHOUT_OURS: ConflictKind[] = ['deleted_by_task', 'added_by_target', 'both_deleted'];
const WITHOUT_THEIRS: ConflictKind[] = ['deleted_by_target', 'added_by_task', 'both_deleted'];

const FORMS: Record<ConflictFile['form'], string> = {
  text: '',
  binary: 'A binary file, or not UTF-8. There is no text to show.',
  large: 'Larger than 1 MB, too large to show here.',
  symlink: 'A symbolic link.',
  submodule: 'A submodule: choose one of its commits.',
};

/** All sides of a file, and its result. */
export function FileView({ number, file, target, draftKey, onResolved }: FileProps) {
  const { project } = useShown();
  const cache = useQueryClient();
  const { path, kind, form, isText, current } = file;
  const draft = useTextDraft(draftKey, current ?? '');
  const resolve = (resolution: Resolution) => async () => {
    const after = await api.resolveFile({ project: project.id, task: number, path, resolution, by: 'page' });
    draft.drop();
    cache.setQueryData<ConflictDetail>(
      ['conflict', project.id, number],
      (known) => known && { ...known, files: known.files.map((each) => (each.path === path ? after : each)) },
    );
    // A request that began before this one must not be the last: what the resolution drops comes with it.
    void cache.invalidateQueries({ queryKey: ['conflict', project.id, number] });
    onResolved();
  };
  const name = plainLine(path);
  return (
    <section className="file" aria-label={name}>
      <header>
        <h3 tabIndex={-1} id="file-name">
          {name}
        </h3>
        <p>{WHAT[kind](target)}</p>
        {!isText && <p className="waiting">{FORMS[form]} Use one side's version, or the terminal commands below.</p>}
        <div className="row">
          <span className="dim">Whole file:</span>
          {!WITHOUT_THEIRS.includes(kind) && (
            <Action act={resolve({ take: 'theirs' })} done={`${name}: using ${target}'s version`}>
              Use {target}'s version
            </Action>
          )}
          {!WITHOUT_OURS.includes(kind) && (
            <Action act={resolve({ take: 'ours' })} done={`${name}: using the task's version`}>
              Use the task's version
            </Action>
          )}
          <Action act={resolve({ take: 'deleted' })} done={`${name} deleted`}>
            Delete file
          </Action>
        </div>
      </header>
      {isText && <Result file={file} draft={draft} number={number} target={target} resolve={resolve} />}
      {isText && <Whole number={number} file={file} target={target} />}
    </section>
  );
}

/** Open if there are no conflicting places to show. */
function Whole({
  number,
  file: { base, ours, theirs, hasMarkers, isResolved },
  target,
}: Pick<FileProps, 'number' | 'file' | 'target'>) {
  return (
    <details className="whole" open={!hasMarkers && !isResolved}>
      <summary>The whole file in all three versions</summary>
      <div className="three">
        <Side name={target} text={theirs} base={base ?? ''} />
        <Side name="Common base" text={base} base={base} />
        <Side name={`Task #${number}`} text={ours} base={base ?? ''} />
      </div>
    </details>
  );
}

function Side({ name, text, base }: { name: string; text: string | null; base: string | null }) {
  return (
    <div className="side">
      <h4>{name}</h4>
      {text === null && <p className="dim none">No file.</p>}
      {text === '' && <p className="dim none">Empty file.</p>}
      {text && <Code text={text} base={base} label={`${name}, the whole file`} />}
    </div>
  );
}
