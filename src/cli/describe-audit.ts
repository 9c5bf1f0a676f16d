import { type AuditOutcome, describeDifferences, NOT_BY_TOTAL } from '../app/run-audit.ts'
import { findStream } from '../streams/registry.ts'
import type { PartitionAudit } from '../sync/audit/comparison.ts'
import { formatCount, formatRange, formatTable, type TableCell } from './format.ts'

/** Of more partitions than this, only those that differ are listed; all are counted by stream. */
const MAX_PARTITIONS = 40

function describeVerdict({ verdict, sourceRows }: PartitionAudit): string {
  if (verdict === 'unverifiable') return sourceRows === undefined ? 'not compared' : 'not proven'
  return verdict === 'unread' ? 'not read yet' : verdict
}

/** Describes an audit: a line per partition, then what differs and what was done about it. */
export function describeAudit(outcome: AuditOutcome): string[] {
  const { partitions, unaudited, gone, errors, status } = outcome
  const isOk = ({ verdict }: PartitionAudit) => verdict === 'equal' || verdict === 'unverifiable'
  const isShort = partitions.length <= MAX_PARTITIONS
  const shown = isShort ? partitions : partitions.filter((each) => !isOk(each))
  const calls = Object.values(outcome.streams).reduce((sum, { counts }) => sum + counts.calls, 0)
  const different = partitions.filter(({ verdict }) => verdict === 'different').length
  return [
    ...(isShort ? [] : [...describeStreams(partitions), '']),
    ...(shown.length === 0 ? [] : [...formatTable(header, shown.map(rowOf)), '']),
    ...partitions.flatMap(describePartition),
    ...unaudited.map((stream) => `– ${stream}: ${NOT_BY_TOTAL}`),
    ...gone.map((channelId) => `– channel ${channelId}: gone, nothing of it was compared`),
    ...errors.flatMap(({ code, message }) => (code === 'audit.difference' ? [] : [`✗ ${message}`])),
    `${status}: ${summaryOf(status, different)}; ${formatCount(calls, 'call')}`,
  ]
}

const header = ['stream', 'partition', 'compared', 'at the source', 'in the warehouse', 'quarantined', 'verdict']

function rowOf(audit: PartitionAudit): TableCell[] {
  const { stream, partition, window, sourceRows, warehouseRows, quarantinedRows, verdict } = audit
  const range = window === undefined ? '–' : formatRange(window)
  const compared = findStream(stream)?.isTimeFiltered === false && verdict !== 'unread' ? 'whole list' : range
  const rows = warehouseRows === undefined ? undefined : warehouseRows - quarantinedRows
  return [stream, partition, compared, sourceRows ?? '–', rows ?? '–', quarantinedRows, describeVerdict(audit)]
}

function describeStreams(partitions: readonly PartitionAudit[]): string[] {
  const rows = [...Map.groupBy(partitions, ({ stream }) => stream)].map(([stream, group]) => {
    const verdicts = [...Map.groupBy(group, describeVerdict)].map(([word, each]) => `${each.length} ${word}`)
    return [stream, group.length, verdicts.join(', ')]
  })
  return formatTable(['stream', 'partitions', 'verdicts'], rows)
}

function describePartition(audit: PartitionAudit): string[] {
  const { stream, partition, notes, reopened, verdict } = audit
  const mark = verdict === 'accepted' ? '~ accepted:' : '✗'
  const place = `${stream} ${partition}`
  return [
    ...describeDifferences(audit).map((each) => `${mark} ${place}: ${each}`),
    ...notes.map((note) => `– ${place}: ${note}`),
    ...reopened.map((each) => `  ${formatRange(each)} is no longer covered: the next livehouse sync reads it again`),
    ...(verdict === 'different' && findStream(stream)?.isTimeFiltered === false
      ? ['  the next livehouse sync reads the whole list again']
      : []),
  ]
}

function summaryOf(status: AuditOutcome['status'], different: number): string {
  if (status === 'ok') return 'no difference was found'
  if (status === 'failed') return 'nothing could be compared'
  if (different === 0) return 'some of it could not be compared'
  return `${different} ${different === 1 ? 'partition differs' : 'partitions differ'}`
}
