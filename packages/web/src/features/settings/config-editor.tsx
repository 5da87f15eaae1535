import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConfigCheck, ConfigText } from '@tidemill/contract';
import { useEffect, useRef, useState } from 'react';
import { api, soon } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { errorText } from '../../shell/notices.tsx';
import { useShown } from '../../shell/project.tsx';
import { type TextDraft, useTextDraft } from '../../text-draft.ts';
import { plural } from '../../words.ts';
import { Code } from '../conflict/code.tsx';
import { CodeField, showLine } from './code-field.tsx';
import { Part } from './part.tsx';

/** A pause of typing this long, and the text is checked. */
const PAUSE_MS = 300;
/** The file is a person's own: not every change to it makes an event. */
const LOOK_MS = 5000;

export function ConfigEditor() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['config', project.id],
    queryFn: ({ signal }) => api.config({ project: project.id }, soon(signal)),
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
  const { text, isChanged, isOvertaken } = draft;
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
    }, 'Saved. The mill follows it within a second.');
    setBusy(false);
    // It may have been refused because the file is another by now: then that is shown.
    if (!isSaved) void cache.invalidateQueries({ queryKey: ['config', project.id] });
  };
  const problems = check?.problems ?? [];
  const why = whyNot({ may, isChanged, isOvertaken, isChecked: check !== null, problems: problems.length });
  return (
    <>
      {isOvertaken && <Overtaken draft={draft} now={config.text} />}
      <CodeField
        element={field}
        text={text}
        label="The config file"
        describedBy="config-problems"
        isReadOnly={!may}
        marked={new Set(problems.flatMap(({ line }) => (line === null ? [] : [line])))}
        onChange={draft.write}
      />
      <div id="config-problems" role="status">
        {error !== null && <p className="waiting">It could not be checked: {errorText(error)}</p>}
        <Problems
          problems={problems}
          warnings={[...new Set([...(isChanged ? [] : config.warnings), ...(check?.warnings ?? [])])]}
          isChanged={isChanged}
          show={(line) => field.current && showLine(field.current, line)}
        />
        {isChanged && check && problems.length === 0 && <p className="working">This can be saved.</p>}
      </div>
      <p className="row">
        <button type="button" className="primary" disabled={isBusy || why !== ''} onClick={() => void save()}>
          Save
        </button>
        <button type="button" disabled={!isChanged} onClick={draft.drop}>
          Undo the changes
        </button>
        <span className="dim">{why}</span>
      </p>
    </>
  );
}

interface Standing {
  may: boolean;
  isChanged: boolean;
  isOvertaken: boolean;
  isChecked: boolean;
  problems: number;
}

function whyNot({ may, isChanged, isOvertaken, isChecked, problems }: Standing): string {
  if (!may) return 'Saving needs the role admin.';
  if (!isChanged) return 'Nothing is changed.';
  if (isOvertaken) return 'Say first which text counts.';
  if (!isChecked) return 'Checking…';
  return problems > 0 ? 'Correct what is wrong first.' : '';
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
          {isChanged
            ? ', so it cannot be saved:'
            : ' in the file as it stands. The mill goes on with the last one that was right.'}
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

function Overtaken({ draft, now }: { draft: TextDraft; now: string }) {
  return (
    <div className="banner overtaken" role="alert">
      <span>
        The file was changed elsewhere while you were at it. Nothing of yours is lost, nothing of theirs either.
      </span>
      <button type="button" onClick={draft.drop}>
        Take the file as it is now
      </button>
      <button type="button" onClick={draft.keep}>
        Mine counts: save it over theirs
      </button>
      <details>
        <summary>The file as it is now, with the lines marked that yours does not have</summary>
        <Code text={now} base={draft.text} label="The file as it is now" />
      </details>
    </div>
  );
}

/** What the daemon says to the text after a pause of typing; null while that is not known. */
function useCheck(project: string, text: string): { check: ConfigCheck | null; error: unknown } {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const wait = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(wait);
  }, [text]);
  const { data, error } = useQuery({
    queryKey: ['config-check', project, paused],
    queryFn: ({ signal }) => api.checkConfig({ project, text: paused }, soon(signal)),
  });
  const isOfText = paused === text;
  return { check: isOfText && data ? data : null, error: isOfText ? error : null };
}
