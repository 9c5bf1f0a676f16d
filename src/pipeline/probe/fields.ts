import { parseWallTime, type WallTime } from '../../core/wall-clock.ts'

/** A field as text, numbers too; undefined where there is none or nothing in it. */
export function textOf(item: unknown, field: string | number): string | undefined {
  if (typeof item !== 'object' || item === null || !Object.hasOwn(item, field)) return undefined
  const value: unknown = Reflect.get(item, field)
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** A field as a reading of the service's clock; undefined where it is none. */
export function timeOf(item: unknown, field: string | number): WallTime | undefined {
  return parseWallTime(textOf(item, field) ?? '')
}

/** Whether a field is a time that shows its seconds. */
export function showsSeconds(item: unknown, field: string | number): boolean {
  return timeOf(item, field) !== undefined && textOf(item, field)?.length === 19
}

/** `412 rows`, `1 row`. */
export function countOf(count: number, one = 'row', many = `${one}s`): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`
}
