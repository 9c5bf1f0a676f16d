import type { ListedChannel } from '../../ledger/channel-states.ts'
import type { LedgerUnit } from '../../ledger/latest-readings.ts'
import type { OpenReading, OpenReadings } from '../../ledger/open-readings.ts'
import { foreign, type Html, html, maskValues } from '../html.ts'
import { fill } from '../messages.ts'
import { isAskedFor } from '../verdict.ts'
import { rangeText } from './run-page.ts'
import { coverageSection, lastRead, standing, streamsOf } from './streams-section.ts'
import { actionForm, dataTable, lockedNote, mark, proofMarks, section, streamName, type View } from './view.ts'

/** One channel: each of its streams, what of them is open, and a form to have a range read again. */
export function channelPage(outer: View, channel: ListedChannel, readings: OpenReadings): Html {
  const view = { ...outer, facts: { ...outer.facts, ...readings } }
  const { messages } = view
  const { channelId } = channel
  const units = streamsOf(view).flatMap(({ units }) => units.filter((unit) => unit.channelId === channelId))
  const rows = units.map((unit) => ({ stream: unit.stream, units: [unit] }))
  const { open } = readings
  const title = channel.label ?? channel.name ?? channelId
  const known = [channelId, channel.name].filter((each) => each !== title)
  const facets = [...known, channel.group, channel.isTest ? messages.channel.test : null]
  const state = messages.channelStates[channel.state]
  return html`<h1>${foreign(title, 60)}</h1>
<p class="facets">${mark(channel.state === 'active' ? 'good' : 'calm', state)} ${facets.map((each) => each !== null && html`· ${foreign(each, 60)} `)}</p>
${streams(view, units)}
${units.length > 0 && coverageSection(view, rows, open)}
${openPoints(view)}
${reopenSection(view, channelId, units)}`
}

function streams(view: View, units: readonly LedgerUnit[]): Html {
  const { messages } = view
  const { columns } = messages
  const table = dataTable<LedgerUnit>({
    caption: messages.sections.streams,
    columns: [
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      { head: columns.lastRead, cell: (unit) => lastRead(view, [unit]) },
      { head: columns.coveredUntil, cell: (unit) => standing(view, [unit]) },
      { head: columns.proof, cell: ({ proofs }) => proofMarks(messages, proofs) },
    ],
    rows: units,
    empty: messages.empty.streams,
  })
  return section(messages, 'streams', table, '')
}

function openPoints(view: View): Html {
  const { messages, facts } = view
  const { open, openCounts } = facts
  const { columns } = messages
  const table = dataTable<OpenReading>({
    caption: messages.sections.open,
    className: 'worded',
    columns: [
      { head: columns.stream, cell: ({ stream }) => streamName(view, stream) },
      { head: columns.kind, cell: (reading) => kindOf(view, reading) },
      { head: columns.range, cell: ({ window }) => rangeText(view, window) },
      { head: columns.partition, cell: ({ partition }) => foreign(partition, 60) },
      {
        head: columns.reason,
        cell: ({ reason }) =>
          reason === null ? messages.notKnown : html`<span lang="en">${foreign(maskValues(reason), 300)}</span>`,
      },
    ],
    rows: open,
    empty: messages.empty.open,
  })
  const hasAskedFor = open.some(({ stream, kind }) => isAskedFor(stream) && kind !== 'accepted')
  const note = hasAskedFor ? messages.open.askedFor : messages.notes.open
  const more = openCounts.problem + openCounts.gap + openCounts.accepted - open.length
  const words = fill(messages.open.more, { count: messages.formats.number(more) })
  const content = html`${table}${more > 0 && html`<p class="note">${words}</p>`}`
  return section(messages, 'open', content, open.length === 0 ? '' : note)
}

/** Whole days of the service, both of them included. */
function reopenSection(view: View, channelId: string, units: readonly LedgerUnit[]): Html | false {
  const { messages } = view
  const { actions, columns } = messages
  const streams = units.filter(({ isWindowed }) => isWindowed).map(({ stream }) => stream)
  if (streams.length === 0) return false
  const options = streams.map((stream) => html`<option value="${stream}">${streamName(view, stream)}</option>`)
  const fields = html`<input type="hidden" name="channel" value="${channelId}">
<label>${columns.stream}<select name="stream">${options}</select></label>
<label>${actions.from}<input type="date" name="from" required></label>
<label>${actions.to}<input type="date" name="to" required></label>
`
  const command = `livehouse ledger forget --channels ${channelId} --from DATE --to DATE`
  const form = html`${actionForm(view, 'reopen', actions.reopen, fields)}${lockedNote(view, command)}`
  return section(messages, 'reopen', form)
}

function kindOf({ messages }: View, { kind, proof }: OpenReading): Html {
  if (kind === 'problem') return mark('bad', proof === null ? messages.open.problem : messages.proofs[proof])
  return kind === 'gap' ? mark('bad', messages.open.gap) : mark('warn', messages.open.accepted)
}
