import { foreign, type Html, html } from '../html.ts'
import type { JobView } from '../facts.ts'
import { dataTable } from './data-table.ts'
import { stateMark } from './mark.ts'
import { section } from './section.ts'
import { moment, type View } from './view.ts'

/** When each job is due next, and how it ended last. */
export function jobsSection(view: View): Html {
  const { messages, facts } = view
  const { columns } = messages
  const table = dataTable<JobView>({
    caption: messages.sections.jobs,
    columns: [
      { head: columns.job, cell: ({ name }) => foreign(name) },
      { head: columns.schedule, cell: ({ cron, timeZone }) => html`<code>${cron}</code> <small>${timeZone}</small>` },
      {
        head: columns.next,
        cell: ({ next, timeZone }) => (next === undefined ? messages.notKnown : moment(view, next, timeZone)),
      },
      {
        head: columns.last,
        cell: ({ last, isRunning, timeZone }) => {
          if (last === undefined) return isRunning ? stateMark(messages, 'running') : messages.never
          const state = isRunning ? 'running' : last.status
          return html`${stateMark(messages, state)} ${moment(view, last.startedAt, timeZone)}`
        },
      },
    ],
    rows: facts.jobs,
    empty: messages.empty.jobs,
  })
  return section(messages, 'jobs', table)
}
