import type { ComponentProps } from 'react';
import { Link, useSearchParams } from 'wouter';

/** A link that keeps the current project. */
export function PageLink({ to, ...rest }: { to: string } & Omit<ComponentProps<'a'>, 'href'>) {
  return <Link href={useTo()(to)} {...rest} />;
}

export function useTo(): (to: string) => string {
  const [query] = useSearchParams();
  const project = query.get('project');
  return (to) => {
    if (!project) return to;
    const url = new URL(to, location.origin);
    url.searchParams.set('project', project);
    return url.pathname + url.search + url.hash;
  };
}

export const TaskLink = ({ number, ...rest }: { number: number } & Omit<ComponentProps<'a'>, 'href'>) => (
  <PageLink to={`/tasks/${number}`} className="number" {...rest}>
    #{number}
  </PageLink>
);
