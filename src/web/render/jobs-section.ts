import cronstrue from 'cronstrue/i18n.js'
import type { Language } from '../../core/column.ts'
import type { JobView } from '../facts.ts'
import { type Html, html, isolate } from '../html.ts'
import { type Column, tableSection } from './table.ts'
import { actionForm, lockedNote, mark, moment, stateMark, type View } from './view.ts'

/** The jobs: when each is next due, how it last ended, and a button to run it now. */
export function jobsSection(view: View): Html {
  const { messages, facts, csrf } = view
  const columns: readonly Column<JobView>[] = [
    ['job', ({ name }) => isolate(name)],
    [
      'schedule',
      ({ cron, timeZone }) => html`${inWords(cron, messages.language)} <small><code>${cron}</code> ${timeZone}</small>`,
    ],
    ['next', ({ next, timeZone }) => (next ? moment(view, next, timeZone) : mark('calm', messages.states.off))],
    ['last', ({ last, timeZone }) => (last ? lastRun(view, last, timeZone) : messages.never)],
  ]
  const button: Column<JobView> = ['action', (job) => runButton(view, job)]
  return tableSection(view, 'jobs', facts.jobs, csrf === undefined ? columns : [...columns, button], {
    more: facts.jobs.length > 0 && lockedNote(view, 'livehouse run JOB'),
  })
}

function lastRun(view: View, last: NonNullable<JobView['last']>, timeZone: string): Html {
  const status = stateMark(view.messages, last.status)
  return html`<span class="pair">${status} ${moment(view, last.startedAt, timeZone)}</span>`
}

function runButton(view: View, { name }: JobView): Html | false {
  const button = html`${view.messages.actions.runNow}<span class="unseen">: ${name}</span>`
  const field = html`<input type="hidden" name="job" value="${name}">`
  return actionForm(view, 'run', button, field, `livehouse run ${name}`)
}

/** Describes a cron expression; empty if the library cannot read it. */
function inWords(cron: string, language: Language): string {
  try {
    const locale = language === 'en' ? 'en' : 'zh_CN'
    return cronstrue.toString(cron, { locale, use24HourTimeFormat: true, verbose: true })
  } catch {
    return ''
  }
}
