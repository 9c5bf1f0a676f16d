import { type JudgedUnit, summarizeProgress } from '../../app/judge-health.ts'
import type { ListedChannel } from '../../ledger/channels.ts'
import { countProofs } from '../../ledger/latest-readings.ts'
import type { OpenReading, OpenReadings } from '../../ledger/open-readings.ts'
import { isOnlyWhenNamed } from '../../streams/registry.ts'
import { type Html, html, isolate } from '../html.ts'
import { rangeText } from './run-page.ts'
import { completeUntil, coverageSection, lastRead, streamsOf } from './streams-section.ts'
import { type Column, tableSection } from './table.ts'
import { errorText } from './verdict-section.ts'
import { actionForm, mark, proofMarks, section, sectionLinks, streamName, type View } from './view.ts'

/** The page of one channel: its streams, their open issues, and a form to have a range read again. */
export function channelPage(outer: View, channel: ListedChannel, readings: OpenReadings): Html {
  const view = { ...outer, facts: { ...outer.facts, ...readings } }
  const { messages } = view
  const { channelId } = channel
  const rows = streamsOf(view, channelId)
  const units = rows.flatMap((row) => row.units)
  const isComplete = summarizeProgress(units).behind.length === 0
  const tone = channel.state === 'active' && isComplete ? 'good' : 'calm'
  const title = channel.label ?? channel.name ?? channelId
  const otherNames = [channelId, channel.name].filter((each) => each !== title)
  const facets = [...otherNames, channel.group, channel.isTest ? messages.channel.test : null].map(
    (each) => each !== null && html`· ${isolate(each, 60)} `,
  )
  const parts = [
    ['streams', streamsTable(view, units)],
    ['coverage', units.length > 0 && coverageSection(view, rows)],
    ['open', openSection(view)],
    ['reopen', reopenSection(view, channelId, units)],
  ] as const
  const names = parts.flatMap(([name, part]) => (part === false ? [] : name))
  return html`<h1>${isolate(title, 60)}</h1>
<p class="facets">${mark(tone, messages.channelStates[channel.state])}
${facets}</p>
${sectionLinks(view, names)}
${parts.map(([, part]) => part)}`
}

function streamsTable(view: View, units: readonly JudgedUnit[]): Html {
  const columns: readonly Column<JudgedUnit>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['lastRead', (unit) => lastRead(view, [unit])],
    ['completeUntil', (unit) => completeUntil(view, [unit])],
    ['proof', (unit) => proofMarks(view.messages, countProofs([unit]))],
  ]
  return tableSection(view, 'streams', units, columns, { note: '' })
}

function openSection(view: View): Html {
  const { messages, facts } = view
  const { open, openCounts } = facts
  const columns: readonly Column<OpenReading>[] = [
    ['stream', ({ stream }) => streamName(view, stream)],
    ['kind', (reading) => kindOf(view, reading)],
    ['range', ({ window }) => rangeText(view, window)],
    ['partition', ({ partition }) => isolate(partition, 60)],
    ['reason', ({ reason }) => (reason === null ? messages.notKnown : errorText(messages, reason))],
  ]
  const hasOnlyWhenNamed = open.some(({ stream, kind }) => isOnlyWhenNamed(stream) && kind !== 'accepted')
  return tableSection(view, 'open', open, columns, {
    className: 'worded',
    note: open.length === 0 ? '' : hasOnlyWhenNamed ? messages.open.onlyWhenNamed : messages.notes.open,
    leftOut: openCounts.problem + openCounts.gap + openCounts.accepted - open.length,
  })
}

/** A form for a range of whole days of the service, the last included. */
function reopenSection(view: View, channelId: string, units: readonly JudgedUnit[]): Html | false {
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
  return section(messages, 'reopen', actionForm(view, 'reopen', actions.reopen, fields, command))
}

function kindOf({ messages }: View, { kind, proof }: OpenReading): Html {
  const words = kind === 'problem' && proof !== null ? messages.proofs[proof] : messages.days[kind]
  return mark(kind === 'accepted' ? 'warn' : 'bad', words)
}
