import type { Language } from '../core/language.ts'

/** Numbers and times as text, as a language writes them. */
export type Formats = ReturnType<typeof formatsOf>

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How a language writes numbers and times. Wall clock readings are those of the service, whatever its zone. */
export function formatsOf(language: Language) {
  const whole = new Intl.NumberFormat(language, { maximumFractionDigits: 0 })
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZone: 'UTC' } as const
  const date = { year: 'numeric', month: 'short', day: 'numeric', timeZone: 'UTC' } as const
  const locale = language === 'en' ? 'en-GB' : language
  const time = new Intl.DateTimeFormat(locale, { ...date, ...clock })
  const day = new Intl.DateTimeFormat(locale, { month: 'short', day: 'numeric', timeZone: 'UTC' })
  const unit = (name: string, value: number) =>
    new Intl.NumberFormat(language, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value)
  return {
    number: (value: number): string => whole.format(value),
    /** `20 Nov 2026, 02:10`, of the service's wall clock. */
    wallTime: (wallTime: number): string => time.format(wallTime * SECOND),
    /** `20 Nov`. */
    wallDay: (wallTime: number): string => day.format(wallTime * SECOND),
    span: (ms: number): string => {
      if (ms < MINUTE) return unit('second', Math.max(0, Math.round(ms / SECOND)))
      if (ms < HOUR) return unit('minute', Math.floor(ms / MINUTE))
      return ms < 3 * DAY ? unit('hour', Math.floor(ms / HOUR)) : unit('day', Math.floor(ms / DAY))
    },
  }
}
