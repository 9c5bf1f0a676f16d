import { formatWallTime, type WallTime } from '../core/wall-clock.ts'

/** An id that the spec calls an integer: exact also beyond 2^53. */
export function wireInteger(digits: string): number | object {
  const number = Number(digits)
  return Number.isSafeInteger(number) ? number : JSON.rawJSON(digits)
}

/** `HH:MM:SS`, with as many digits as the hours need. */
export function wireDuration(seconds: number): string {
  return `${twoDigits(Math.floor(seconds / 3600))}:${twoDigits(Math.floor(seconds / 60) % 60)}:${twoDigits(seconds % 60)}`
}

/** `YYYY-MM-DD HH:MM:SS`. */
export function wireSecond(time: WallTime): string {
  return formatWallTime(time)
}

/** `YYYY-MM-DD HH:MM`, the precision of watch records. */
export function wireMinute(time: WallTime): string {
  return formatWallTime(time).slice(0, 16)
}

function twoDigits(number: number): string {
  return number < 10 ? `0${number}` : String(number)
}
