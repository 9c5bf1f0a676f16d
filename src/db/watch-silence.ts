import { Socket } from 'node:net'
import { Client } from 'pg'
import { callIfStillRunning } from '../core/clock.ts'

/** Hears of each statement of a pool. */
export interface SilenceWatch {
  /** A statement has been sent. @returns what is called when it has ended */
  readonly ask: () => () => void
  /** All connections are being closed: one that is not within seconds is hung up. @returns what is called when all are */
  readonly partWith: () => () => void
}

/** How long nothing may be heard before the server is asked by itself, and how long that may take. */
const SILENT_AFTER_MS = 10_000
const LONGEST_PARTING_MS = 3000

/**
 * Notices a server that keeps its connections open and answers nothing: a disk that hangs, a proxy that forwards no more, a
 * machine that was put to sleep. A statement alone cannot tell, since some take long; so where nothing at all has been heard for
 * a while, a connection of its own asks. `hangUp` is called when that is not answered either.
 */
export function watchSilence(
  url: string,
  hangUp: (reason: Error) => void,
  silentAfterMs = SILENT_AFTER_MS,
): SilenceWatch {
  let waiting = 0
  let answered = 0
  let isWatching = false
  const watch = (): void => {
    isWatching = waiting > 0
    const before = answered
    if (isWatching) callIfStillRunning(silentAfterMs, () => void look(before))
  }
  const look = async (before: number): Promise<void> => {
    const isSilent = () => waiting > 0 && answered === before
    if (isSilent() && !(await answersAnother(url, silentAfterMs)) && isSilent()) hangUp(noAnswer(silentAfterMs))
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
    partWith: () => callIfStillRunning(LONGEST_PARTING_MS, () => hangUp(noAnswer(LONGEST_PARTING_MS / 2))),
  }
}

/** With a statement, since a pooler greets by itself. A refusal is an answer. */
async function answersAnother(url: string, withinMs: number): Promise<boolean> {
  const socket = new Socket()
  const callOff = callIfStillRunning(withinMs, () => socket.destroy())
  const client = new Client({ connectionString: url, application_name: 'livehouse', stream: () => socket })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } catch (error) {
    return error instanceof Error && 'severity' in error
  } finally {
    callOff()
    socket.destroy()
  }
}

/** With the code that the systems give to a peer that has gone silent. */
function noAnswer(silentAfterMs: number): Error {
  const seconds = Math.ceil((2 * silentAfterMs) / 1000)
  return Object.assign(new Error(`it has not answered for ${seconds} s`), { code: 'ETIMEDOUT' })
}
