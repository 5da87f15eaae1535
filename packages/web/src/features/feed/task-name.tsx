import { useQuery } from '@tanstack/react-query';
import { api, soon } from '../../api.ts';
import { TaskLink } from '../../shell/page-link.tsx';
import { useShown } from '../../shell/project.tsx';

/** Events know ids, people know numbers. What the stream told of tasks is known already; the rest is asked once. */
export function TaskName({ id }: { id: string }) {
  const { project } = useShown();
  const { data } = useQuery({
    queryKey: ['task-name', id],
    queryFn: async ({ signal }) => {
      const { task } = await api.task({ project: project.id, task: id }, soon(signal));
      return { number: task.number, title: task.title };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (!data) return null;
  return (
    <>
      <TaskLink number={data.number} /> <span className="title">{data.title}</span>
    </>
  );
}
