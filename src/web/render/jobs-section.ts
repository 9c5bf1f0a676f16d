import cronstrue from 'cronstrue/i18n.js'
import type { Language } from '../../core/language.ts'
import { foreign, type Html, html } from '../html.ts'
import type { JobView } from '../facts.ts'
import { actionForm, dataTable, lockedNote, mark, moment, section, stateMark, type View } from './view.ts'

/** When each job is due next, how it ended last, and a button to run it now. */
export function jobsSection(view: View): Html {
  const { messages, facts, csrf } = view
  const { columns, language } = messages
  const table = dataTable<JobView>({
    caption: messages.sections.jobs,
    columns: [
      { head: columns.job, cell: ({ name }) => foreign(name) },
      {
        head: columns.schedule,
        cell: ({ cron, timeZone }) => html`${inWords(cron, language)} <small><code>${cron}</code> ${timeZone}</small>`,
      },
      {
        head: columns.next,
        cell: ({ next, timeZone }) =>
          next === undefined ? mark('calm', messages.states.off) : moment(view, next, timeZone),
      },
      {
        head: columns.last,
        cell: ({ last, isRunning, timeZone }) => {
          if (last === undefined) return isRunning ? stateMark(messages, 'running') : messages.never
          const state = isRunning ? 'running' : last.status
          return html`${stateMark(messages, state)} ${moment(view, last.startedAt, timeZone)}`
        },
      },
      ...(csrf === undefined ? [] : [{ head: columns.action, cell: (job: JobView) => runButton(view, job) }]),
    ],
    rows: facts.jobs,
    empty: messages.empty.jobs,
  })
  return section(messages, 'jobs', html`${table}${facts.jobs.length > 0 && lockedNote(view, 'livehouse run JOB')}`)
}

function runButton(view: View, { name }: JobView): Html | false {
  const { runNow } = view.messages.actions
  const button = html`${runNow}<span class="unseen">: ${name}</span>`
  return actionForm(view, 'run', button, html`<input type="hidden" name="job" value="${name}">`)
}

/** Empty for an expression that the library does not know. */
function inWords(cron: string, language: Language): string {
  try {
    const locale = language === 'en' ? 'en' : 'zh_CN'
    return cronstrue.toString(cron, { locale, use24HourTimeFormat: true, verbose: true })
  } catch {
    return ''
  }
}
