import { useQuery } from '@tanstack/react-query';
import { api, withTimeout } from '../../api.ts';
import { plainLine } from '../../plain.ts';
import { TaskLink } from '../../shell/page-link.tsx';
import { useProject } from '../../shell/project.tsx';

/** A sentence about a task with its number and title. Events contain only ids; unknown ones are requested once. */
export function TaskName({ id, text }: { id: string; text: string }) {
  const project = useProject();
  const { data } = useQuery({
    queryKey: ['task-name', id],
    queryFn: async ({ signal }) => {
      const { task } = await api.task({ project: project.id, task: id }, withTimeout(signal));
      return { number: task.number, title: task.title };
    },
    staleTime: 'static',
  });
  if (!data) return text;
  return (
    <>
      <TaskLink number={data.number} /> {text} <span className="dim">{plainLine(data.title)}</span>
    </>
  );
}
