import type { Cause, Notice } from '../../core/cause.ts'
import type { Language } from '../../core/language.ts'

/** Names that come from the service (fields, ids) could be of any length. */
const LONGEST_NAME = 60
const LONGEST_REASON = 200
const MOST_PROBLEMS = 5

/** One line for a person: what has happened and, where something can be done, what. */
export function describeNotice({ event, cause }: Notice, language: Language): string {
  const says = language === 'en' ? english : chinese
  return event === 'raised' ? says.raised(cause) : says.cleared(cause)
}

interface Words {
  readonly raised: (cause: Cause) => string
  readonly cleared: (cause: Cause) => string
}

const english: Words = {
  raised: (cause) => {
    switch (cause.kind) {
      case 'run':
        return `livehouse ${named(cause.name)} ended ${cause.status}${runOf(cause, ' (run ', ')')}${problemsOf(cause, ': ')}. See ${whereToLook(cause)}.`
      case 'stale':
        if (cause.unproven !== undefined) {
          return `Of ${cause.stream}, ${cause.unproven.channels} of ${cause.unproven.of} channels were not proven by ${cause.provenBy} today. See livehouse status.`
        }
        return cause.provenAt === null
          ? `Nothing of ${cause.stream} was ever proven, by ${cause.provenBy} today.`
          : `Nothing of ${cause.stream} was proven by ${cause.provenBy} today; the last proof is of ${cause.provenAt}.`
      case 'unknownField':
        return `A new field in ${cause.stream}: ${named(cause.field)}. Its values are kept in the column extra.`
      case 'channelGone':
        return `Channel ${named(cause.channel)} is gone: the service did not know it on three days. It is asked for once a day, and read again when it is known.`
      case 'unfinished':
        return `Job ${cause.job} had to end before it was done, ${cause.runs} times in a row. Give it more time (until), or raise the call rate.`
      case 'database':
        return cause.sqlState === null
          ? `The database does not answer livehouse on ${named(cause.host)}, which waits for it.`
          : `The database refuses what livehouse on ${named(cause.host)} asks (${reasonOf(cause.sqlState, 'its disk is full')}); it is asked again. See the log.`
    }
  },
  cleared: (cause) => {
    switch (cause.kind) {
      case 'run':
        return `livehouse ${named(cause.name)} ended well again.`
      case 'stale':
        return `${cause.stream} is proven again.`
      case 'unknownField':
        return `The field ${named(cause.field)} of ${cause.stream} is known now.`
      case 'channelGone':
        return `Channel ${named(cause.channel)} is back, or no longer configured.`
      case 'unfinished':
        return `Job ${cause.job} was done in time again.`
      case 'database':
        return `The database answers livehouse on ${named(cause.host)} again.`
    }
  },
}

const chinese: Words = {
  raised: (cause) => {
    switch (cause.kind) {
      case 'run':
        return `livehouse ${named(cause.name)} ${cause.status === 'failed' ? '运行失败' : '只完成了一部分'}${runOf(cause, '（运行 ', '）')}${problemsOf(cause, '：')}。详见 ${whereToLook(cause)}。`
      case 'stale':
        if (cause.unproven !== undefined) {
          return `截至今日 ${cause.provenBy}，${cause.stream} 的 ${cause.unproven.of} 个频道中有 ${cause.unproven.channels} 个尚未得到验证。详见 livehouse status。`
        }
        return cause.provenAt === null
          ? `截至今日 ${cause.provenBy}，${cause.stream} 从未得到验证。`
          : `截至今日 ${cause.provenBy}，${cause.stream} 尚未得到验证；上次验证于 ${cause.provenAt}。`
      case 'unknownField':
        return `${cause.stream} 出现新字段：${named(cause.field)}。其值保存在 extra 列。`
      case 'channelGone':
        return `频道 ${named(cause.channel)} 已消失：连续三次运行中服务都不认识它。可用 livehouse sync --channels 重试。`
      case 'unfinished':
        return `任务 ${cause.job} 连续 ${cause.runs} 次未能按时完成。请延长时间（until）或提高调用速率。`
      case 'database':
        return cause.sqlState === null
          ? `数据库对 ${named(cause.host)} 上的 livehouse 没有响应；正在等待。`
          : `数据库拒绝 ${named(cause.host)} 上 livehouse 的请求（${reasonOf(cause.sqlState, '磁盘已满')}）；将继续重试。详见日志。`
    }
  },
  cleared: (cause) => {
    switch (cause.kind) {
      case 'run':
        return `livehouse ${named(cause.name)} 已恢复正常。`
      case 'stale':
        return `${cause.stream} 已重新得到验证。`
      case 'unknownField':
        return `${cause.stream} 的字段 ${named(cause.field)} 已知。`
      case 'channelGone':
        return `频道 ${named(cause.channel)} 已恢复，或不再配置。`
      case 'unfinished':
        return `任务 ${cause.job} 已能按时完成。`
      case 'database':
        return `数据库已恢复对 ${named(cause.host)} 上 livehouse 的响应。`
    }
  },
}

/** Without what the robots would read as markup, and no longer than a name should be. */
function named(name: string, longest = LONGEST_NAME): string {
  // An underscore within a word is no markup.
  const markup =
    // oxlint-disable-next-line no-control-regex
    /(?:[\u0000-\u001f\u007f-\u009f<>&*`~[\]()#@|\\!]|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_]))+/g
  const plain = name.replace(markup, ' ').trim()
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain
}

/** SQLSTATE 53100 is disk_full. */
function reasonOf(sqlState: string, diskIsFull: string): string {
  return sqlState === '53100' ? diskIsFull : `SQLSTATE ${sqlState}`
}

function runOf({ runId }: Extract<Cause, { kind: 'run' }>, before: string, after: string): string {
  return runId === null ? '' : `${before}${runId}${after}`
}

/** What never became a run is on record of its job alone. */
function whereToLook({ runId }: Extract<Cause, { kind: 'run' }>): string {
  return runId === null ? 'livehouse jobs' : 'livehouse status'
}

function problemsOf({ problems, reason }: Extract<Cause, { kind: 'run' }>, before: string): string {
  if (problems.length === 0)
    return reason === undefined ? '' : `${before}${named(reason, LONGEST_REASON).replace(/\.$/, '')}`
  const told = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ stream, code, count }) => `${stream === null ? '' : `${stream} `}${code} × ${count}`)
  const rest = problems.length - told.length
  return `${before}${told.join(', ')}${rest > 0 ? `, +${rest}` : ''}`
}
