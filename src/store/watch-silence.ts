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
/** What one counts where the connection is greeted: a pooler lets a statement wait while others hold its connections. */
const GREETED = 0.1

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
  let unheard = 0
  let looks = 0
  let isWatching = false
  const watch = (): void => {
    isWatching = waiting > 0
    const before = answered
    if (isWatching) callIfStillRunning(silentAfterMs, () => void look(before))
  }
  const look = async (before: number): Promise<void> => {
    const isSilent = () => waiting > 0 && answered === before
    const silence = isSilent() ? await askAnother(url, silentAfterMs) : 0
    looks = silence > 0 && isSilent() ? looks + 1 : 0
    unheard = looks > 0 ? unheard + silence : 0
    if (unheard >= MOST_UNHEARD) {
      hangUp(noAnswer(2 * looks * silentAfterMs))
      looks = unheard = 0
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
 * Asks by a connection of its own. A refusal is an answer, and an error of the network no silence.
 * @returns 0 for an answer, 1 for silence, and `GREETED`
 */
async function askAnother(url: string, withinMs: number): Promise<number> {
  const socket = new Socket()
  let silence = 1
  let isLate = false
  const callOff = callIfStillRunning(withinMs, () => {
    isLate = true
    socket.destroy()
  })
  try {
    const client = createClient(url, { stream: () => socket })
    await client.connect()
    silence = GREETED
    await client.query('select 1')
    return 0
  } catch {
    return isLate ? silence : 0
  } finally {
    callOff()
    socket.destroy()
  }
}

/** With the code that the systems give to a peer that has gone silent. */
function noAnswer(forMs: number): Error {
  return Object.assign(new Error(`it has not answered for ${Math.ceil(forMs / 1000)} s`), { code: 'ETIMEDOUT' })
}
