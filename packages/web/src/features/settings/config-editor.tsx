import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConfigCheck, ConfigText } from '@tidemill/contract';
import { useEffect, useRef, useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { errorText, showToast } from '../../shell/toasts.tsx';
import { type TextDraft, useTextDraft } from '../../text-draft.ts';
import { plural } from '../../words.ts';
import { Code } from '../conflict/code.tsx';
import { CodeField, showLine } from './code-field.tsx';
import { Part } from './part.tsx';

/** The text is checked after a typing pause of this length. */
const PAUSE_MS = 300;
/** Polled, because not every change to the file causes an event. */
const LOOK_MS = 5000;

export function ConfigEditor() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['config', project.id],
    queryFn: ({ signal }) => api.config({ project: project.id }, withTimeout(signal)),
    refetchInterval: LOOK_MS,
  });
  return (
    <Part id="config" title="Config" about={data?.path} error={error}>
      {data && <Editor config={data} />}
    </Part>
  );
}

function Editor({ config }: { config: ConfigText }) {
  const { project } = useShown();
  const cache = useQueryClient();
  const field = useRef<HTMLTextAreaElement>(null);
  const draft = useTextDraft(`config ${project.id}`, config.text);
  const { text, isChanged, isChangedElsewhere } = draft;
  const [isBusy, setBusy] = useState(false);
  const act = useAct();
  const may = useMay('admin');
  const { check, error } = useCheck(project.id, text);
  const save = async () => {
    setBusy(true);
    const isSaved = await act(async () => {
      const saved = await api.saveConfig({ project: project.id, text, hash: config.hash });
      draft.drop();
      cache.setQueryData(['config', project.id], saved);
      showToast(`${saved.outcome} It applies within a second.`);
    });
    setBusy(false);
    // The file may have changed on disk: load it again.
    if (!isSaved) void cache.invalidateQueries({ queryKey: ['config', project.id] });
  };
  const problems = check?.problems ?? [];
  const why = whyNot({ may, isChanged, isChangedElsewhere, isChecked: check !== null, problems: problems.length });
  return (
    <>
      {isChangedElsewhere && <ChangedElsewhere draft={draft} now={config.text} />}
      <CodeField
        element={field}
        text={text}
        label="Config file"
        describedBy="config-problems"
        isReadOnly={!may}
        marked={new Set(problems.flatMap(({ line }) => (line === null ? [] : [line])))}
        onChange={draft.write}
      />
      <div id="config-problems" role="status">
        {error !== null && <p className="waiting">The text could not be checked: {errorText(error)}</p>}
        <Problems
          problems={problems}
          warnings={[...new Set([...(isChanged ? [] : config.warnings), ...(check?.warnings ?? [])])]}
          isChanged={isChanged}
          show={(line) => field.current && showLine(field.current, line)}
        />
        {isChanged && check && problems.length === 0 && <p className="working">config.yaml is valid.</p>}
      </div>
      <p className="row">
        <button type="button" className="primary" disabled={isBusy || why !== ''} onClick={() => void save()}>
          Save
        </button>
        <button type="button" disabled={!isChanged} onClick={draft.drop}>
          Discard changes
        </button>
        <span className="dim">{why}</span>
      </p>
    </>
  );
}

interface Standing {
  may: boolean;
  isChanged: boolean;
  isChangedElsewhere: boolean;
  isChecked: boolean;
  problems: number;
}

function whyNot({ may, isChanged, isChangedElsewhere, isChecked, problems }: Standing): string {
  if (!may) return 'Saving needs the role admin.';
  if (!isChanged) return 'No changes.';
  if (isChangedElsewhere) return 'Choose which text to keep first.';
  if (!isChecked) return 'Checking…';
  return problems > 0 ? 'Fix the problems first.' : '';
}

function Problems({
  problems,
  warnings,
  isChanged,
  show,
}: ConfigCheck & { isChanged: boolean; show: (line: number) => void }) {
  return (
    <>
      {problems.length > 0 && (
        <p className="waiting">
          {plural(problems.length, 'problem')}
          {isChanged ? '. Fix before saving:' : ' in the file. Tidemill uses the last valid version.'}
        </p>
      )}
      <ul className="problems">
        {problems.map(({ line, message }) => (
          <li key={`${line} ${message}`}>
            {line !== null && (
              <button type="button" className="quiet line" onClick={() => show(line)}>
                line {line}
              </button>
            )}{' '}
            {message}
          </li>
        ))}
        {warnings.map((warning) => (
          <li key={warning} className="idle">
            {warning}
          </li>
        ))}
      </ul>
    </>
  );
}

function ChangedElsewhere({ draft, now }: { draft: TextDraft; now: string }) {
  return (
    <div className="banner changed-elsewhere" role="alert">
      <span>The file was changed elsewhere while you edited it. Both versions are kept until you choose.</span>
      <button type="button" onClick={draft.drop}>
        Use the file on disk
      </button>
      <button type="button" onClick={draft.keep}>
        Keep my text
      </button>
      <details>
        <summary>The file on disk; lines that differ from yours are marked</summary>
        <Code text={now} base={draft.text} label="The file on disk" />
      </details>
    </div>
  );
}

/** The daemon's check of the text after a typing pause; null until it is known. */
function useCheck(project: string, text: string): { check: ConfigCheck | null; error: unknown } {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const wait = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(wait);
  }, [text]);
  const { data, error } = useQuery({
    queryKey: ['config-check', project, paused],
    queryFn: ({ signal }) => api.checkConfig({ project, text: paused }, withTimeout(signal)),
  });
  const isOfText = paused === text;
  return { check: isOfText && data ? data : null, error: isOfText ? error : null };
}
