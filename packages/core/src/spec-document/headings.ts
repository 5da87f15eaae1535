/** The headings of `spec.md`, which are read back when a person has written it. */
export const SPEC_HEADINGS = {
  requirements: 'Requirements',
  in: 'In scope',
  out: 'Out of scope',
  architecture: 'Architecture',
  files: 'Files',
  dependencies: 'Dependencies',
  risks: 'Risks',
} as const;
/** What is still unclear. It is shown and not read back: a person who imports the document has decided. */
export const OPEN_POINTS = 'Open points';
export type SpecSection = keyof typeof SPEC_HEADINGS;

/** Without case, spaces, hyphens and the plural: `Out-of-scope` is meant as `Out of scope`. */
const bare = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}]/gu, '')
    .replace(/s$/, '');

const MEANT = new Map<string, SpecSection>([
  ...Object.entries(SPEC_HEADINGS).map(([section, heading]) => [bare(heading), section as SpecSection] as const),
  ...(['Functional requirements', 'Non-functional requirements'] as const).map(
    (heading) => [bare(heading), 'requirements'] as const,
  ),
  ...(['Non-goals', 'Not in scope'] as const).map((heading) => [bare(heading), 'out'] as const),
  [bare('Dependency'), 'dependencies'],
]);

/** The section that a heading begins, and whether the heading is written as it must be. Null for any other heading. */
export function specSection(heading: string): { section: SpecSection; isExact: boolean } | null {
  const section = MEANT.get(bare(heading));
  if (section === undefined) return null;
  return { section, isExact: SPEC_HEADINGS[section].toLowerCase() === heading.trim().toLowerCase() };
}

export const isOpenPoints = (heading: string) => bare(heading) === bare(OPEN_POINTS);

const HEADING = /^(\\*)## (.+?)\s*$/gm;
const isRead = (heading: string) => specSection(heading) !== null || isOpenPoints(heading);
/** A free text that contains one of the headings must not end its own section. */
export const escapedText = (text: string) =>
  text.replace(HEADING, (line, _, heading: string) => (isRead(heading) ? `\\${line}` : line));
export const unescapedText = (text: string) =>
  text.replace(HEADING, (line, _, heading: string) =>
    line.startsWith('\\') && isRead(heading) ? line.slice(1) : line,
  );
