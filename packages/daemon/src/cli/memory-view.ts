import type { KnowledgeAnswer, LessonDetail, LessonView, MemorySummary, ReflectionView } from '@tidemill/contract';
import { elapsed, fit, oneLine, type Terminal, table } from './terminal.ts';

const percent = (share: number) => `${Math.round(share * 100)} %`;

export const lessonsLines = (found: LessonView[], terminal: Terminal): string[] =>
  found.length === 0 ? ['There are no lessons.'] : found.flatMap((each) => lessonLines(each, terminal));

export const reflectionsLines = (found: ReflectionView[], terminal: Terminal): string[] =>
  found.length === 0
    ? ['There are no reflections. `learning.reflection` in the config switches them on.']
    : found.flatMap((each) => reflectionLines(each, terminal));

function lessonLines(lesson: LessonView, { width, paint }: Terminal): string[] {
  const { number, kind, text, filePatterns, topics, stage, confidence, occurrences } = lesson;
  const about = [...filePatterns, ...topics].join(', ') || 'everything';
  return [
    fit(`L${number}  ${oneLine(text)}`, width),
    paint(
      'dim',
      fit(
        `   ${stage} ${kind}, confidence ${confidence.toFixed(2)}, ${seenIn(occurrences)}, ${figures(lesson)}, about ${about}`,
        width,
      ),
    ),
  ];
}

/** The same words as on the page: three failures of one task are one task. */
const seenIn = (tasks: number) => `seen in ${tasks === 1 ? 'one task' : `${tasks} tasks`}`;

function figures({ injected, helped, hurt, rate, baseRate }: LessonView): string {
  if (injected === 0) return 'not used yet';
  const bounds = rate ? ` (${percent(rate.low)} to ${percent(rate.high)}, ${percent(baseRate)} without it)` : '';
  return `used ${injected}×, ${helped} ended well and ${hurt} not${bounds}`;
}

export function lessonDetailLines(lesson: LessonDetail, terminal: Terminal): string[] {
  const { why, state, action, scope, version, origin, tasks, uses, supersedes, proof } = lesson;
  const learned = tasks.map(({ number }) => `#${number}`).join(', ');
  const rows = [
    ['state', oneLine(state)],
    ...(why === '' ? [] : [['why', oneLine(why)]]),
    ...(action === null ? [] : [['action', action]]),
    ['scope', scope === 'all' ? 'all projects' : 'this project'],
    ['version', String(version)],
    ['from', `${oneLine(origin.by.name)}${learned === '' ? '' : `, in ${learned}`}`],
    ...(supersedes.length === 0 ? [] : [['replaces', supersedes.join(', ')]]),
    ...(proof ? [['replay', `gain ${percent(proof.gain)} (${percent(proof.low)} to ${percent(proof.high)})`]] : []),
  ];
  return [
    ...lessonLines(lesson, terminal),
    ...table(rows, terminal.width),
    ...(uses.length === 0 ? [] : ['', 'Used in:']),
    ...uses.map(({ taskNumber, taskTitle, verdict, why: measured, at, isHeldBack }) =>
      fit(
        `   #${taskNumber ?? '?'} ${oneLine(taskTitle)}, ${elapsed(Math.max(0, Date.now() - at))} ago: ${isHeldBack ? 'held back; ' : ''}${verdict ?? 'not known yet'}${measured === '' ? '' : `, ${oneLine(measured)}`}`,
        terminal.width,
      ),
    ),
  ];
}

export function knowledgeLines({ lessons, tokens, more }: KnowledgeAnswer, { width, paint }: Terminal): string[] {
  if (lessons.length === 0) return ['Nothing is known about it.'];
  return [
    ...lessons.flatMap(({ ref, text, why }) => [
      fit(`${ref}  ${oneLine(text)}`, width),
      ...(why === '' ? [] : [paint('dim', fit(`   ${oneLine(why)}`, width))]),
    ]),
    paint('dim', `About ${tokens} tokens${more > 0 ? `; ${more} more fit` : ''}.`),
  ];
}

function reflectionLines(reflection: ReflectionView, { width, paint }: Terminal): string[] {
  const { about, why, status, result, outcome, metrics } = reflection;
  const name = about.kind === 'task' ? `#${about.number}` : `S${about.number}`;
  const { tasks, firstPass, taught, taughtFirstPass, tokens } = metrics;
  const taughtWords = taught === 0 ? '' : `; with lessons ${taughtFirstPass} of ${taught}`;
  return [
    fit(`${name}  ${oneLine(about.title)}: ${oneLine(why)}`, width),
    ...(result ? [fit(`   ${oneLine(result.assumption)}`, width)] : []),
    ...(result?.divergences ?? []).map(({ what, kind }) =>
      fit(`   ${kind.replaceAll('_', ' ')}: ${oneLine(what)}`, width),
    ),
    paint('dim', fit(`   ${outcome === '' ? status : oneLine(outcome)}`, width)),
    paint(
      'dim',
      fit(
        `   first try: ${firstPass} of ${tasks}${taughtWords}; ${elapsed(metrics.durationMs)}, ${tokens} tokens`,
        width,
      ),
    ),
  ];
}

export function summaryLines(summary: MemorySummary, terminal: Terminal): string[] {
  const { gotchas, patterns, preferences, confirmed, retired, promoted, active, byStage, uses, unused, top } = summary;
  const stages = Object.entries(byStage)
    .map(([stage, count]) => `${count} ${stage}`)
    .join(', ');
  return table(
    [
      ['new', `${gotchas} gotchas, ${patterns} patterns, ${preferences} preferences`],
      ['seen again', String(confirmed)],
      ['retired', String(retired)],
      ['promoted', String(promoted)],
      ['in use', `${active}${stages === '' ? '' : ` (${stages})`}`],
      ['runs', `${uses.runs} were given lessons; ${uses.helped} ended well, ${uses.hurt} did not`],
      ['unused', `${unused} for 90 days`],
      ['most useful', top === '' ? 'none yet' : oneLine(top)],
    ],
    terminal.width,
  );
}
