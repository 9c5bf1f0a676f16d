import { MultiBar, type SingleBar } from 'cli-progress'
import type { Clock } from '../core/clock.ts'
import type { StreamName } from '../core/stream.ts'
import type { Progress } from '../app/context.ts'
import { createProgressTally, isOver, type StreamTally } from '../sync/progress-tally.ts'
import type { Terminal } from './terminal.ts'

/** Progress on a terminal: a bar a stream with rows, pages of total, rate and time left. */
export function createProgressBars(terminal: Terminal, clock: Clock): Progress {
  const display = new MultiBar({
    format: '{name} {bar}{pagesText} pages {rows} rows {rate}/s  {left}',
    barCompleteChar: '█',
    barIncompleteChar: '░',
    barsize: 12,
    fps: 8,
    hideCursor: true,
    stopOnComplete: false,
    clearOnComplete: false,
    noTTYOutput: false,
  })
  const tally = createProgressTally()
  const bars = new Map<StreamName, { readonly bar: SingleBar; readonly startedAt: number }>()
  const release = terminal.divert((text) => display.log(text))
  return {
    report: (event) => {
      const state = tally.add(event)
      const { bar, startedAt } = bars.get(event.stream) ?? {
        bar: display.create(1, 0, payload(event.stream, state, 0)),
        startedAt: clock.now(),
      }
      bars.set(event.stream, { bar, startedAt })
      // Without a total the bar stays empty until the stream is over.
      const pages = isOver(state) ? 1 : state.totalPages === undefined ? 0 : state.pages
      bar.setTotal(isOver(state) ? 1 : Math.max(1, state.totalPages ?? 1))
      bar.update(pages, payload(event.stream, state, clock.now() - startedAt))
    },
    [Symbol.dispose]: () => {
      display.stop()
      release()
    },
  }
}

function payload(stream: StreamName, state: StreamTally, elapsedMs: number): Readonly<Record<string, string>> {
  const { rows, pages, totalPages } = state
  const seconds = elapsedMs / 1000
  const left = totalPages === undefined || pages === 0 ? undefined : ((totalPages - pages) / pages) * seconds
  return {
    name: stream.padEnd(16),
    pagesText: `${pages}/${totalPages ?? '?'}`.padStart(9),
    rows: rows.toLocaleString('en-US').padStart(9),
    rate: (seconds > 0 ? Math.round(rows / seconds) : 0).toLocaleString('en-US').padStart(7),
    left: isOver(state) ? `done in ${duration(seconds)}` : left === undefined ? '' : `${duration(left)} left`,
  }
}

function duration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 60) return `${whole} s`
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}
