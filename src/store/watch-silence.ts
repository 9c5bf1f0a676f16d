import { Socket } from 'node:net'
import { callIfStillRunning } from '../core/clock.ts'
import { createClient } from './require-scram.ts'

/** Hears of each statement of a pool. */
export interface SilenceWatch {
  /** A statement has been sent. @returns what is called when it has ended */
  readonly ask: () => () => void
  /** All connections are being closed: those that stay open are hung up. @returns what is called when all are closed */
  readonly partWith: () => () => void
}

/** How long nothing may be heard before the server is asked by itself, and how long that may take. */
const SILENT_AFTER_MS = 10_000
const LONGEST_PARTING_MS = 3000
/** So many questions in a row must get no answer: a lost one, or a process that was too slow to hear, says nothing. */
const MOST_UNHEARD = 3
/** The same where the connection is greeted: a pooler lets a statement wait while others hold its connections. */
const MOST_UNANSWERED = 30

/**
 * Notices a server that keeps its connections open and answers nothing: a disk that hangs, a proxy that forwards no
 * more, a machine that was put to sleep. A statement alone cannot tell, since some take long; so where nothing at all
 * has been heard for a while, a connection of its own asks. `hangUp` is called when that gets no answer either, again
 * and again.
 */
export function watchSilence(
  url: string,
  hangUp: (reason: Error) => void,
  silentAfterMs = SILENT_AFTER_MS,
): SilenceWatch {
  let waiting = 0
  let answered = 0
  let isWatching = false
  let unheard = 0
  let unanswered = 0
  const watch = (): void => {
    isWatching = waiting > 0
    const before = answered
    if (isWatching) callIfStillRunning(silentAfterMs, () => void look(before))
  }
  const look = async (before: number): Promise<void> => {
    const isSilent = () => waiting > 0 && answered === before
    const heard = isSilent() ? await askAnother(url, silentAfterMs) : 'answer'
    if (heard === 'answer' || !isSilent()) unheard = unanswered = 0
    else if (heard !== 'error') {
      unheard = heard === 'nothing' ? unheard + 1 : 0
      unanswered++
    }
    if (unheard >= MOST_UNHEARD || unanswered >= MOST_UNANSWERED) {
      hangUp(noAnswer(unanswered * 2 * silentAfterMs))
      unheard = unanswered = 0
    }
    watch()
  }
  return {
    ask: () => {
      waiting++
      if (!isWatching) watch()
      return () => {
        waiting--
        answered++
      }
    },
    partWith: () => callIfStillRunning(LONGEST_PARTING_MS, () => hangUp(noAnswer(LONGEST_PARTING_MS))),
  }
}

/**
 * What a connection of its own hears in time. A refusal is an answer; an error of the network, or of files for TLS that
 * are being replaced, is none, nor silence.
 */
async function askAnother(url: string, withinMs: number): Promise<'answer' | 'greeting' | 'nothing' | 'error'> {
  const socket = new Socket()
  let isLate = false
  let isGreeted = false
  const callOff = callIfStillRunning(withinMs, () => {
    isLate = true
    socket.destroy()
  })
  try {
    const client = createClient(url, { stream: () => socket })
    await client.connect()
    isGreeted = true
    await client.query('select 1')
    return 'answer'
  } catch (error) {
    if (error instanceof Error && 'severity' in error) return 'answer'
    if (!isLate) return 'error'
    return isGreeted ? 'greeting' : 'nothing'
  } finally {
    callOff()
    socket.destroy()
  }
}

/** With the code that the systems give to a peer that has gone silent. */
function noAnswer(forMs: number): Error {
  return Object.assign(new Error(`it has not answered for ${Math.ceil(forMs / 1000)} s`), { code: 'ETIMEDOUT' })
}
