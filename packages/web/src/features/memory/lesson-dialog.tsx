import { LessonKind, type LessonView } from '@tidemill/contract';
import { useState } from 'react';
import { api } from '../../api.ts';
import { FormDialog } from '../../shell/form-dialog.tsx';
import { useProject } from '../../shell/project.tsx';

const listOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Adds a lesson, or changes one. */
export function LessonDialog({ lesson, onClose }: { lesson: LessonView | null; onClose: () => void }) {
  const project = useProject();
  const [kind, setKind] = useState<LessonKind>(lesson?.kind ?? 'gotcha');
  const [text, setText] = useState(lesson?.text ?? '');
  const [why, setWhy] = useState(lesson?.why ?? '');
  const [files, setFiles] = useState(lesson?.filePatterns.join(', ') ?? '');
  const [topics, setTopics] = useState(lesson?.topics.join(', ') ?? '');
  const said = { text: text.trim(), why: why.trim(), filePatterns: listOf(files), topics: listOf(topics) };
  const about = { project: project.id, by: 'page' };
  const send = () =>
    lesson
      ? api.editLesson({ ...about, lesson: String(lesson.number), ...said })
      : api.addLesson({ ...about, kind, ...said });
  return (
    <FormDialog
      title={lesson ? `Edit L${lesson.number}` : 'Add a lesson'}
      onClose={onClose}
      send={send}
      done={lesson ? `L${lesson.number} is changed` : 'The lesson is recorded'}
      yes={lesson ? 'Save' : 'Add'}
      isReady={said.text !== ''}
    >
      {lesson ? (
        <p className="dim">With another text its figures begin again.</p>
      ) : (
        <label>
          Kind
          <select value={kind} onChange={(event) => setKind(event.target.value as LessonKind)}>
            {LessonKind.options.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        What to do or to avoid
        <textarea rows={3} value={text} maxLength={600} onChange={(event) => setText(event.target.value)} />
      </label>
      <label>
        Why? What happens otherwise
        <textarea rows={2} value={why} maxLength={600} onChange={(event) => setWhy(event.target.value)} />
      </label>
      <label>
        File patterns, separated by commas
        <input value={files} placeholder="src/api/**, *.sql" onChange={(event) => setFiles(event.target.value)} />
      </label>
      <label>
        Topics, separated by commas
        <input value={topics} onChange={(event) => setTopics(event.target.value)} />
      </label>
    </FormDialog>
  );
}
