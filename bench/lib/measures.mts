/** The middle value, or the lower of the two middle ones. */
export function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? Number.NaN
}

/** One line of a result: what was measured, and its goal. */
export interface Measure {
  readonly name: string
  readonly value: number
  readonly unit: string
  /** Undefined for a figure that only explains others. */
  readonly goal?: Goal
}

export interface Goal {
  readonly is: 'at least' | 'at most'
  readonly value: number
}

export const atLeast = (value: number): Goal => ({ is: 'at least', value })
export const atMost = (value: number): Goal => ({ is: 'at most', value })

export function isMet({ value, goal }: Measure): boolean | undefined {
  if (goal === undefined) return undefined
  return goal.is === 'at least' ? value >= goal.value : value <= goal.value
}

/** Formats measures as a table; decimals are rounded to three significant digits at most. */
export function formatMeasures(measures: readonly Measure[]): string {
  const cells = measures.map((measure) => {
    const { name, value, unit, goal } = measure
    const verdict = isMet(measure)
    const mark = verdict === undefined ? '' : verdict ? '✓' : '✗'
    return [name, formatNumber(value), unit, goal ? `${goal.is} ${formatNumber(goal.value)}` : '', mark]
  })
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)))
  return cells
    .map(([name = '', value = '', unit = '', goal = '', mark = '']) =>
      `${name.padEnd(widths[0] ?? 0)}  ${value.padStart(widths[1] ?? 0)} ${unit.padEnd(widths[2] ?? 0)}  ${goal.padEnd(widths[3] ?? 0)}  ${mark}`.trimEnd(),
    )
    .join('\n')
}

function formatNumber(value: number): string {
  if (!Number.isFinite(value)) return '–'
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2
  return value.toLocaleString('en', { maximumFractionDigits: digits })
}
