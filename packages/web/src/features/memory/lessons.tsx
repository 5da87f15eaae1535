import { useQuery } from '@tanstack/react-query';
import { LessonStage } from '@tidemill/contract';
import { useState } from 'react';
import { api, withTimeout } from '../../api.ts';
import { Failed } from '../../shell/failed.tsx';
import { Empty } from '../../shell/page-head.tsx';
import { useProject } from '../../shell/project.tsx';
import { LessonCard } from './lesson-card.tsx';

const SHOWN = 100;

/** The lessons, the most certain first. */
export function Lessons() {
  const project = useProject();
  const [stage, setStage] = useState<LessonStage | ''>('');
  const [words, setWords] = useState('');
  const asked = words.trim();
  const { data, error, isPending } = useQuery({
    queryKey: ['lessons', project.id, stage, asked],
    queryFn: ({ signal }) =>
      api.lessons(
        {
          ...{ project: project.id, limit: SHOWN, all: stage === 'retired' },
          ...(stage === '' ? {} : { stage }),
          ...(asked === '' ? {} : { words: asked }),
        },
        withTimeout(signal),
      ),
    placeholderData: (before) => before,
  });
  const isFiltered = stage !== '' || asked !== '';
  return (
    <section className="memory-part" aria-label="Lessons">
      <div className="row memory-bar">
        <h3>Lessons</h3>
        <label>
          <span className="unseen">Only lessons with these words</span>
          <input
            type="search"
            placeholder="words"
            value={words}
            maxLength={500}
            onChange={(event) => setWords(event.target.value)}
          />
        </label>
        <label>
          <span className="unseen">Only lessons of this stage</span>
          <select value={stage} onChange={(event) => setStage(event.target.value as LessonStage | '')}>
            <option value="">in use</option>
            {LessonStage.options.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Failed error={error} />
      {isPending && <p className="dim">Loading…</p>}
      {data?.length === 0 && (
        <Empty>
          {isFiltered
            ? 'No lesson is like this.'
            : 'Nothing is learned yet. Lessons come from finished tasks, from what agents record, and from you.'}
        </Empty>
      )}
      <ul className="lessons">
        {data?.map((lesson) => (
          <LessonCard key={lesson.id} lesson={lesson} />
        ))}
      </ul>
      {data?.length === SHOWN && <p className="dim">The first {SHOWN} are shown. Search for others.</p>}
    </section>
  );
}
