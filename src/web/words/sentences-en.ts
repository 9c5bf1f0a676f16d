import type { Finding } from '../verdict.ts'
import type { Formats } from '../formats.ts'

/** What is open of a channel: readings that fell short or failed, gaps, streams that are late or unread. */
export interface OpenCounts {
  readonly problems: number
  readonly gaps: number
  readonly late: number
}

/** The sentences of the page. */
export type Sentences = typeof english

/** In English; every other language has the same. */
export const english = {
  languageName: 'English',
  title: 'livehouse',
  skip: 'Skip to the content',
  pages: { label: 'Pages', overview: 'Overview', channels: 'Channels' },
  switchLanguage: 'Language',
  asOf: (time: string) => `As of ${time}.`,
  zone: (timeZone: string) => `Times are those of ${timeZone}.`,
  never: 'never',
  ago: (span: string) => `${span} ago`,
  ahead: (span: string) => `in ${span}`,
  notKnown: '–',
  about: (number: string) => `about ${number}`,
  verdict: {
    complete: 'Last night is complete',
    incomplete: 'Last night is not complete',
    first: 'The first sync is under way',
    empty: 'Nothing has run yet',
    unreachable: 'The database cannot be read',
    completeText: (streams: number, channels: number, formats: Formats) =>
      `${count(streams, 'stream', formats)} of ${count(channels, 'channel', formats)}: all read, fresh, and counted against the service wherever it tells a total.`,
    incompleteText: 'What has landed is right; this is what is missing:',
    firstText: 'The newest days come first; history fills in behind them.',
    emptyText: 'Run livehouse sync, or wait for the next scheduled job.',
    unreachableText: (time: string) => `What follows is as of ${time}. This page recovers by itself.`,
    unreachableAtAll: 'Nothing has been read from it yet. This page recovers by itself.',
    unreachablePart: 'What this page shows was not read. It recovers by itself.',
    runningText: 'A run is under way.',
    moreFindings: (count: number, { number }: Formats) => `… and ${number(count)} more`,
    finding,
  },
  figures: {
    label: 'Key figures',
    completeUntil: 'Complete until',
    channels: 'Active channels',
    rows: 'Rows in the warehouse',
    lastRun: 'Last run',
    quarantine: 'In quarantine',
    budget: 'Version 1 calls left today',
    budgetLeft: (left: string, all: string) => `${left} of ${all}`,
    goneChannels: (count: string) => `${count} gone at the service`,
    nextRun: 'Next job',
  },
  timeline: {
    legend: 'Legend',
    cell: (day: string, state: string, percent: string) => `${day}: ${state}, ${percent} read`,
    summary: (complete: string, days: string) => `${complete} of ${days} days complete`,
    marked: (state: string, days: string) => `${state}: ${days}`,
    separators: { days: ', ', states: '; ' },
    today: 'today',
  },
  charts: {
    rows: 'Rows written',
    hours: 'Hours watched',
    calls: 'Calls to the service',
    recent: 'Calls of this process, last 24 hours',
    inserted: 'new',
    updated: 'changed',
    watched: 'hours',
    madeOnce: 'calls',
    repeated: 'repeated',
    answered: 'answered',
    refused: 'refused',
    failed: 'failed',
    numbers: 'Numbers',
    tooSlow: 'The database took too long to add this up.',
  },
  progress: {
    title: (job: string) => `${job} is running`,
    slices: (ended: string, all: string) => `${ended} of ${all} slices`,
    rows: (rows: string) => `${rows} rows`,
    ended: (count: string) => `slices read: ${count}`,
    elsewhere: (command: string, run: string) => `${command}, run ${run}`,
  },
  filter: {
    search: 'Name, label or id',
    group: 'Group',
    state: 'State',
    all: 'all',
    onlyOpen: 'only with open points',
    apply: 'Show',
    found: (count: string, all: string) => `${count} of ${all} channels`,
    previous: 'Previous',
    next: 'Next',
    page: (page: string, pages: string) => `Page ${page} of ${pages}`,
    pagination: 'Pages of the list',
  },
  open: {
    gap: 'gap',
    problem: 'problem',
    accepted: 'accepted',
    wholeList: 'whole list',
    unmarked: (marked: string, all: string) => `Only the newest ${marked} of ${all} open points are marked.`,
    more: (count: string) => `… and ${count} more.`,
    askedFor:
      'The next sync reads all of this again, but watch records of version 1 only when they are named; the job v1-history does.',
  },
  run: {
    title: (runId: string) => `Run ${runId}`,
    moreErrors: (count: string) => `… and ${count} more; the record of the run has them.`,
  },
  channel: {
    test: 'test channel',
    open: ({ problems, gaps, late }: OpenCounts, formats: Formats): readonly string[] => [
      ...(problems === 0 ? [] : [`${formats.number(problems)} short or failed`]),
      ...(gaps === 0 ? [] : [count(gaps, 'gap', formats)]),
      ...(late === 0 ? [] : [`${count(late, 'stream', formats)} late`]),
    ],
  },
  login: {
    title: 'Sign in',
    text: 'This page is protected. Enter the value of LIVEHOUSE_HTTP_TOKEN.',
    token: 'Token',
    enter: 'Sign in',
    wrong: 'That is not the token.',
  },
  problems: {
    notFound: 'There is no such page.',
    back: 'To the overview',
    broken: 'This page could not be made. The log says why.',
  },
  footer: { metrics: 'Metrics', readOnly: 'This page only reads.' },
}

function count(value: number, noun: string, { number }: Formats): string {
  return `${number(value)} ${noun}${value === 1 ? '' : 's'}`
}

function finding(found: Finding, stream: string, formats: Formats): string {
  const inChannels = (channels: number) => (channels === 0 ? '' : ` in ${count(channels, 'channel', formats)}`)
  switch (found.kind) {
    case 'late':
      return found.since === null
        ? `${stream}: not yet read to the end${inChannels(found.channels)}.`
        : `${stream}: nothing after ${formats.wallTime(found.since)}${inChannels(found.channels)}.`
    case 'unread':
      return `${stream}: ${count(found.channels, 'channel', formats)} not read yet.`
    case 'problem':
      return `${stream}: ${count(found.partitions, 'part', formats)} fell short or failed.`
    case 'gap':
      return `${stream}: ${count(found.gaps, 'gap', formats)}${inChannels(found.channels)}.`
    case 'failedRun':
      return `The last run, ${found.command} (run ${found.runId}), failed.`
  }
}
