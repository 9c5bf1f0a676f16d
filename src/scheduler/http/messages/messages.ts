import type { Language } from '../../../core/language.ts'
import type { Proof } from '../../../core/slice.ts'
import type { RunReport } from '../../../state/read-run-reports.ts'
import type { StreamName } from '../../../core/stream.ts'
import type { DayState } from '../timeline.ts'
import type { Finding } from '../verdict.ts'

/** How a run or a job ended, or that it has not. */
export type RunState = RunReport['status']

/** Numbers and times as text, as a language writes them. */
export interface Formats {
  readonly number: (value: number) => string
  readonly hours: (value: number) => string
  /** `20 Nov 2026, 02:10`, of the service's wall clock. */
  readonly wallTime: (wallTime: number) => string
  /** `20 Nov`. */
  readonly wallDay: (wallTime: number) => string
  /** A span in its largest unit. */
  readonly span: (ms: number) => string
}

/** The single words of the page. */
export interface Labels {
  readonly streams: Readonly<Record<StreamName, string>>
  readonly proofs: Readonly<Record<Proof, string>>
  readonly proofMeanings: Readonly<Record<Proof, string>>
  readonly states: Readonly<Record<RunState, string>>
  readonly days: Readonly<Record<DayState, string>>
  readonly channelStates: { readonly active: string; readonly retired: string; readonly gone: string }
  readonly sections: Readonly<Record<SectionName, string>>
  readonly notes: Readonly<Record<SectionName, string>>
  readonly columns: Readonly<Record<ColumnName, string>>
  readonly empty: Readonly<Record<EmptyName, string>>
}

/** The sentences of the page. */
export interface Sentences {
  /** Of the language itself, for the switch. */
  readonly languageName: string
  readonly title: string
  readonly skip: string
  readonly pages: { readonly label: string; readonly overview: string; readonly channels: string }
  readonly switchLanguage: string
  /** A whole sentence. */
  readonly asOf: (time: string) => string
  readonly zone: (timeZone: string) => string
  readonly never: string
  readonly ago: (span: string) => string
  readonly ahead: (span: string) => string
  readonly notKnown: string
  readonly about: (number: string) => string
  readonly verdict: {
    readonly complete: string
    readonly incomplete: string
    readonly first: string
    readonly empty: string
    readonly unreachable: string
    readonly completeText: (streams: number, channels: number, formats: Formats) => string
    readonly incompleteText: string
    readonly firstText: string
    readonly emptyText: string
    readonly unreachableText: (time: string) => string
    readonly unreachableAtAll: string
    readonly unreachablePart: string
    readonly runningText: string
    readonly moreFindings: (count: number, formats: Formats) => string
    /** `stream`: as the page calls it. */
    readonly finding: (finding: Finding, stream: string, formats: Formats) => string
  }
  readonly figures: {
    readonly label: string
    readonly completeUntil: string
    readonly channels: string
    readonly rows: string
    readonly lastRun: string
    readonly quarantine: string
    readonly budget: string
    readonly budgetLeft: (left: string, all: string) => string
    readonly goneChannels: (count: string) => string
    readonly nextRun: string
  }
  readonly timeline: {
    readonly legend: string
    readonly cell: (day: string, state: string, percent: string) => string
    readonly summary: (complete: string, days: string) => string
    readonly marked: (state: string, days: string) => string
    /** Between days, and between what is said of them. */
    readonly separators: { readonly days: string; readonly states: string }
    readonly today: string
  }
  readonly charts: {
    readonly rows: string
    readonly hours: string
    readonly calls: string
    readonly recent: string
    readonly inserted: string
    readonly updated: string
    readonly watched: string
    readonly madeOnce: string
    readonly repeated: string
    readonly answered: string
    readonly refused: string
    readonly failed: string
    readonly numbers: string
    readonly tooSlow: string
  }
  readonly progress: {
    readonly title: (job: string) => string
    readonly slices: (ended: string, all: string) => string
    readonly rows: (rows: string) => string
    readonly ended: (count: string) => string
    readonly elsewhere: (command: string, run: string) => string
  }
  readonly filter: {
    readonly search: string
    readonly group: string
    readonly state: string
    readonly all: string
    readonly onlyOpen: string
    readonly apply: string
    readonly found: (count: string, all: string) => string
    readonly previous: string
    readonly next: string
    readonly page: (page: string, pages: string) => string
    readonly pagination: string
  }
  readonly open: {
    readonly gap: string
    readonly problem: string
    readonly accepted: string
    readonly wholeList: string
    /** In place of the note, where some of it is read only when it is named. */
    readonly askedFor: string
  }
  readonly run: { readonly title: (runId: string) => string; readonly moreErrors: (count: string) => string }
  readonly channel: {
    readonly test: string
    /** One phrase for each that is not zero. */
    readonly open: (counts: OpenCounts, formats: Formats) => readonly string[]
  }
  readonly login: {
    readonly title: string
    readonly text: string
    readonly token: string
    readonly enter: string
    readonly wrong: string
  }
  readonly problems: {
    readonly notFound: string
    readonly back: string
    readonly broken: string
    readonly notInTime: string
  }
  readonly footer: { readonly metrics: string; readonly readOnly: string }
}

/** Every word of the page, with how its language writes numbers and times. */
export interface Messages extends Labels, Sentences {
  readonly language: Language
  readonly formats: Formats
}

/** What is open of a channel: readings that fell short or failed, gaps, streams that are late or unread. */
export interface OpenCounts {
  readonly problems: number
  readonly gaps: number
  readonly late: number
}

export type SectionName =
  | 'streams'
  | 'coverage'
  | 'charts'
  | 'runs'
  | 'jobs'
  | 'quarantine'
  | 'channels'
  | 'open'
  | 'errors'
  | 'progress'

export type ColumnName =
  | 'stream'
  | 'rows'
  | 'lastRead'
  | 'coveredUntil'
  | 'proof'
  | 'run'
  | 'command'
  | 'status'
  | 'started'
  | 'took'
  | 'read'
  | 'new'
  | 'changed'
  | 'unchanged'
  | 'removed'
  | 'quarantined'
  | 'calls'
  | 'slices'
  | 'job'
  | 'schedule'
  | 'next'
  | 'last'
  | 'reason'
  | 'items'
  | 'lastSeen'
  | 'channel'
  | 'state'
  | 'timeline'
  | 'open'
  | 'range'
  | 'partition'
  | 'kind'
  | 'day'
  | 'hour'
  | 'code'
  | 'message'

export type EmptyName = 'runs' | 'jobs' | 'quarantine' | 'streams' | 'channels' | 'open' | 'errors' | 'charts'
