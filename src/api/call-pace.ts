import { z } from 'zod'

const limit = z.object({
  /** Calls a second that were admitted when the service last refused one. */
  peak: z.number(),
  /** When that was; calls that left soon after say nothing about the rate since. */
  foundAtMs: z.number(),
  /** Time filled with admitted calls since: a rate that nobody uses proves nothing. */
  usedMs: z.number(),
  /** For how long the service asked to be left alone. */
  pauseMs: z.number(),
  /** Others may yet tell of more that was admitted then. */
  isOpen: z.boolean(),
  /** The limit if calls had been saved up until the first: tried for a second before `peak`. 0 where that is out of question. */
  floor: z.number(),
  /** The service refuses everything: single calls so far apart find out when that ends. 0 where it does not. */
  apartMs: z.number(),
  /** How long the call and its refusal were on their way. */
  lagMs: z.number(),
})

const admissions = z.object({ atMs: z.number(), count: z.number() })

const callPace = z.object({
  /** Nothing is known of what was before. */
  sinceMs: z.number(),
  /** The next call leaves no earlier. */
  nextAtMs: z.number(),
  /** Nothing leaves before. */
  pausedUntilMs: z.number(),
  /** Undefined until the service refuses a call. */
  limit: limit.readonly().optional(),
  /** By tenths of a second. */
  admissions: z.array(admissions.readonly()).readonly(),
})

/** The rate that the service takes, as far as its refusals have shown it. */
export type FoundLimit = Readonly<z.infer<typeof limit>>

/** Calls that the service has taken at about the same time. */
export type Admissions = Readonly<z.infer<typeof admissions>>

/** What is known of the pace of calls, for all who share it. Instants are milliseconds since 1970 by one clock. */
export type CallPace = Readonly<z.infer<typeof callPace>>

/** Before the first call. */
export function nothingKnown(nowMs: number): CallPace {
  return { sinceMs: nowMs, nextAtMs: 0, pausedUntilMs: 0, admissions: [] }
}

/** @returns undefined for what is none, or of another version */
export function parseCallPace(value: unknown): CallPace | undefined {
  return callPace.safeParse(value).data
}
