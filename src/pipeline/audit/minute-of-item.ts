import type { Stream } from '../../core/stream.ts'
import type { WallTime } from '../../core/wall-clock.ts'
import { minuteOf } from '../row-window.ts'

/**
 * In which minute an item (JSON text) lies that could not become a row; undefined where that cannot be read either. Only of an object
 * are the fields known by name: an array of cells has been refused as such.
 */
export function minuteOfItem(raw: string, { columns }: Stream, column: string, timeZone: string): WallTime | undefined {
  const source = columns[column]?.source
  if (source?.kind !== 'field') return undefined
  const value = source.parse(Object(JSON.parse(raw))[source.field])
  return typeof value === 'string' ? minuteOf(value, timeZone) : undefined
}
