import { MultiBar, type SingleBar } from 'cli-progress'
import type { Progress } from '../app/context.ts'
import type { Clock } from '../core/clock.ts'
import type { SavedProgress } from '../ledger/runs/runs.ts'
import { formatDuration } from './format.ts'

/** The widths of the parts of a line, which has sixty columns at most. */
const [NAME_WIDTH, BAR_WIDTH, ROWS_WIDTH] = [16, 8, 9]

/** The data of a line, which is redrawn several times a second. */
interface Line {
  readonly name: string
  readonly startedAtMs: number
  /** Undefined until something is planned. */
  readonly state: SavedProgress | undefined
  readonly endedAtMs: number | undefined
}

/**
 * Shows progress on a terminal: how long planning takes, then a line per stream with a bar, rows, and time left.
 * @param divert passes all other output to a function, until the function that it returns is called
 * @param opening work to name instead of planning; its line does not stay on the screen
 */
export function createProgressBars(
  divert: (write: (text: string) => void) => () => void,
  clock: Clock,
  { opening, stream = process.stderr }: { opening?: string | undefined; stream?: NodeJS.WritableStream } = {},
): Progress {
  const display = new MultiBar({
    format: (_options, _params, line: Line) => formatLine(line, clock.now()),
    fps: 8,
    hideCursor: true,
    linewrap: true,
    forceRedraw: true,
    stopOnComplete: false,
    clearOnComplete: opening !== undefined,
    stream,
    noTTYOutput: false,
  })
  const lines = new Map<string, { readonly bar: SingleBar; readonly startedAtMs: number }>()
  // The text may take several lines. Clear the screen below the cursor (ECMA-48, ED): the bars are drawn again there.
  const release = divert((text) => display.log(`\u001B[0J${text}`))
  const unplanned: Omit<Line, 'name'> = { startedAtMs: clock.now(), state: undefined, endedAtMs: undefined }
  /** The line for planning, which the first stream takes over. */
  const first = display.create(1, 0, { ...unplanned, name: opening ?? 'planning' })
  return {
    report: (name, state) => {
      const nowMs = clock.now()
      const existing = lines.get(name)
      const bar = existing?.bar ?? (lines.size === 0 ? first : display.create(1, 0, { ...unplanned, name }))
      const entry = existing ?? { bar, startedAtMs: nowMs }
      lines.set(name, entry)
      const isOver = state.parts > 0 && state.endedParts === state.parts
      const line: Line = { name, startedAtMs: entry.startedAtMs, state, endedAtMs: isOver ? nowMs : undefined }
      entry.bar.update(state.share, line)
    },
    [Symbol.dispose]: () => {
      // Draws lines that were written since the last drawing.
      display.update()
      display.stop()
      release()
    },
  }
}

/** A line, of sixty columns at most. */
export function formatLine({ name, startedAtMs, state, endedAtMs }: Line, nowMs: number): string {
  const elapsedMs = (endedAtMs ?? nowMs) - startedAtMs
  const title = name.padEnd(NAME_WIDTH)
  if (state === undefined) return `${title} ${formatDuration(elapsedMs)}`
  const { share, rows } = state
  const full = Math.round(share * BAR_WIDTH)
  const bar = '█'.repeat(full) + '░'.repeat(BAR_WIDTH - full)
  const leftMs = share === 0 ? undefined : (elapsedMs / share) * (1 - share)
  const left = leftMs === undefined ? '' : `~${formatDuration(leftMs)}`
  const time = endedAtMs === undefined ? left : formatDuration(elapsedMs)
  const percent = `${Math.floor(share * 100)} %`.padStart(5)
  return `${title} ${bar} ${percent} ${rows.toLocaleString('en-US').padStart(ROWS_WIDTH)} rows ${time}`
}
