import type { Cause, Notice } from '../../core/cause.ts'
import type { Language, Words } from '../../core/column.ts'

const MAX_PROBLEMS = 5

/** Describes a notice in one line: what has happened and, if anything can be done, what to do. */
export function describeNotice({ event, cause }: Notice, language: Language): string {
  return (event === 'raised' ? describeRaised(cause) : describeCleared(cause))[language]
}

function describeRaised(cause: Cause): Words {
  switch (cause.kind) {
    case 'run': {
      const { name, status, runId } = cause
      // A failure before the run began is recorded only with the job.
      const where = runId === null ? 'livehouse jobs' : 'livehouse status'
      const [en, zh] = runId === null ? ['', ''] : [` (run ${runId})`, `（运行 ${runId}）`]
      const ended = status === 'failed' ? '运行失败' : '只完成了一部分'
      return {
        en: `livehouse ${withoutMarkup(name)} ended ${status}${en}${problemsOf(cause, ': ')}. See ${where}.`,
        zh: `livehouse ${withoutMarkup(name)} ${ended}${zh}${problemsOf(cause, '：')}。详见 ${where}。`,
      }
    }
    case 'unknownField': {
      const { stream, field } = cause
      return {
        en: `A new field in ${stream}: ${withoutMarkup(field)}. Its values are kept in the column extra.`,
        zh: `${stream} 出现新字段：${withoutMarkup(field)}。其值保存在 extra 列。`,
      }
    }
    case 'channelGone': {
      const what = `Channel ${withoutMarkup(cause.channel)} is gone: the service did not know it on three days`
      return {
        en: `${what}. It is checked once a day, and read again when it is back.`,
        zh: `频道 ${withoutMarkup(cause.channel)} 已消失：服务已在三个不同的日子不认识它。此后每天询问一次，恢复后会重新读取。`,
      }
    }
  }
}

function describeCleared(cause: Cause): Words {
  switch (cause.kind) {
    case 'run':
      return {
        en: `livehouse ${withoutMarkup(cause.name)} ended well again.`,
        zh: `livehouse ${withoutMarkup(cause.name)} 已恢复正常。`,
      }
    case 'unknownField':
      return {
        en: `The field ${withoutMarkup(cause.field)} of ${cause.stream} is known now.`,
        zh: `${cause.stream} 的字段 ${withoutMarkup(cause.field)} 已知。`,
      }
    case 'channelGone':
      return {
        en: `Channel ${withoutMarkup(cause.channel)} is back, or no longer configured.`,
        zh: `频道 ${withoutMarkup(cause.channel)} 已恢复，或不再配置。`,
      }
  }
}

/** Removes what chat robots would read as markup. */
function withoutMarkup(name: string): string {
  // An underscore inside a word is not markup.
  const markup =
    // oxlint-disable-next-line no-control-regex
    /(?:[\u0000-\u001f\u007f-\u009f<>&*`~[\]()#@|\\!]|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_]))+/g
  return name.replace(markup, ' ').trim()
}

function problemsOf({ problems, reason }: Extract<Cause, { kind: 'run' }>, before: string): string {
  if (problems.length === 0) return reason === undefined ? '' : `${before}${withoutMarkup(reason).replace(/\.$/, '')}`
  const listed = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ stream, code, count }) => `${stream === null ? '' : `${stream} `}${code} × ${count}`)
  const rest = problems.length - listed.length
  return `${before}${listed.join(', ')}${rest > 0 ? `, +${rest}` : ''}`
}
