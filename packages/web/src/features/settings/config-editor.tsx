import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ConfigCheck, ConfigText } from '@tidemill/contract';
import { useEffect, useState } from 'react';
import { api, soon } from '../../api.ts';
import { useAct, useMay } from '../../shell/action.tsx';
import { useShown } from '../../shell/project.tsx';
import { plural } from '../../words.ts';
import { Part } from './part.tsx';

/** A pause of typing this long, and the text is checked. */
const PAUSE_MS = 300;

export function ConfigEditor() {
  const { project } = useShown();
  const { data, error } = useQuery({
    queryKey: ['config', project.id],
    queryFn: ({ signal }) => api.config({ project: project.id }, soon(signal)),
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
  // What the person started from: the file may change under their hands.
  const [start, setStart] = useState(config);
  const [text, setText] = useState(config.text);
  const act = useAct();
  const may = useMay('admin');
  const check = useCheck(project.id, text, text !== start.text);
  const isChanged = text !== start.text;
  const isOvertaken = config.hash !== start.hash;
  useEffect(() => {
    if (isOvertaken && !isChanged) {
      setStart(config);
      setText(config.text);
    }
  }, [config, isOvertaken, isChanged]);
  const save = () =>
    act(async () => {
      const saved = await api.saveConfig({ project: project.id, text, hash: start.hash });
      setStart(saved);
      setText(saved.text);
      cache.setQueryData(['config', project.id], saved);
    }, 'Saved. The mill follows it within a second.');
  const problems = check?.problems ?? [];
  const warnings = check?.warnings ?? config.warnings;
  return (
    <>
      {isOvertaken && isChanged && (
        <p className="banner">
          The file was changed elsewhere meanwhile.
          <button
            type="button"
            onClick={() => {
              setStart(config);
              setText(config.text);
            }}
          >
            Take the file as it is now
          </button>
        </p>
      )}
      <textarea
        className="code"
        aria-label="The config file"
        aria-describedby="config-problems"
        aria-invalid={problems.length > 0}
        spellCheck={false}
        rows={Math.min(32, text.split('\n').length + 1)}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <div id="config-problems" role="status">
        {problems.length > 0 && <p className="waiting">{plural(problems.length, 'problem')}, so it cannot be saved:</p>}
        <ul className="problems">
          {problems.map(({ line, message }) => (
            <li key={`${line} ${message}`}>
              {line !== null && <strong>line {line}</strong>} {message}
            </li>
          ))}
          {warnings.map((warning) => (
            <li key={warning} className="idle">
              {warning}
            </li>
          ))}
        </ul>
        {isChanged && check && problems.length === 0 && <p className="working">This can be saved.</p>}
      </div>
      <p className="row">
        <button
          type="button"
          className="primary"
          disabled={!may || !isChanged || !check || problems.length > 0}
          onClick={() => void save()}
        >
          Save
        </button>
        <button type="button" disabled={!isChanged} onClick={() => setText(start.text)}>
          Undo the changes
        </button>
      </p>
    </>
  );
}

/** What the daemon says to the text after a pause of typing; null while that is not known. */
function useCheck(project: string, text: string, isWanted: boolean): ConfigCheck | null {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const wait = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(wait);
  }, [text]);
  const { data } = useQuery({
    queryKey: ['config-check', project, paused],
    queryFn: ({ signal }) => api.checkConfig({ project, text: paused }, soon(signal)),
    enabled: isWanted,
  });
  return paused === text && data ? data : null;
}
