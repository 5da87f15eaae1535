/** Short, readable, safe in a branch name and a path; also for a title without Latin letters and digits. */
export function slugOf(title: string, otherwise = 'task'): string {
  const slug = title
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-+|-+$/g, '');
  return slug || otherwise;
}
