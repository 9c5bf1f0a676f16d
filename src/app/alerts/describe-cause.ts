import type { Cause, Notice } from '../../core/cause.ts'
import type { Language, Words } from '../../core/column.ts'

const MOST_PROBLEMS = 5

/** Describes a notice in one line: what has happened and, if anything can be done, what to do. */
export function describeNotice({ event, cause }: Notice, language: Language): string {
  return (event === 'raised' ? raised(cause) : cleared(cause))[language]
}

function raised(cause: Cause): Words {
  switch (cause.kind) {
    case 'run': {
      const { name, status, runId } = cause
      // A failure before the run began is recorded only with the job.
      const where = runId === null ? 'livehouse jobs' : 'livehouse status'
      const [en, zh] = runId === null ? ['', ''] : [` (run ${runId})`, `（运行 ${runId}）`]
      const ended = status === 'failed' ? '运行失败' : '只完成了一部分'
      return {
        en: `livehouse ${named(name)} ended ${status}${en}${problemsOf(cause, ': ')}. See ${where}.`,
        zh: `livehouse ${named(name)} ${ended}${zh}${problemsOf(cause, '：')}。详见 ${where}。`,
      }
    }
    case 'unknownField': {
      const { stream, field } = cause
      return {
        en: `A new field in ${stream}: ${named(field)}. Its values are kept in the column extra.`,
        zh: `${stream} 出现新字段：${named(field)}。其值保存在 extra 列。`,
      }
    }
    case 'channelGone': {
      const what = `Channel ${named(cause.channel)} is gone: the service did not know it on three days`
      return {
        en: `${what}. It is checked once a day, and read again when it is back.`,
        zh: `频道 ${named(cause.channel)} 已消失：服务已在三个不同的日子不认识它。此后每天询问一次，恢复后会重新读取。`,
      }
    }
  }
}

function cleared(cause: Cause): Words {
  switch (cause.kind) {
    case 'run':
      return {
        en: `livehouse ${named(cause.name)} ended well again.`,
        zh: `livehouse ${named(cause.name)} 已恢复正常。`,
      }
    case 'unknownField':
      return {
        en: `The field ${named(cause.field)} of ${cause.stream} is known now.`,
        zh: `${cause.stream} 的字段 ${named(cause.field)} 已知。`,
      }
    case 'channelGone':
      return {
        en: `Channel ${named(cause.channel)} is back, or no longer configured.`,
        zh: `频道 ${named(cause.channel)} 已恢复，或不再配置。`,
      }
  }
}

/** Removes what chat robots would read as markup. */
function named(name: string): string {
  // An underscore inside a word is not markup.
  const markup =
    // oxlint-disable-next-line no-control-regex
    /(?:[\u0000-\u001f\u007f-\u009f<>&*`~[\]()#@|\\!]|(?<![A-Za-z0-9_])_+|_+(?![A-Za-z0-9_]))+/g
  return name.replace(markup, ' ').trim()
}

function problemsOf({ problems, reason }: Extract<Cause, { kind: 'run' }>, before: string): string {
  if (problems.length === 0) return reason === undefined ? '' : `${before}${named(reason).replace(/\.$/, '')}`
  const told = problems
    .slice(0, MOST_PROBLEMS)
    .map(({ stream, code, count }) => `${stream === null ? '' : `${stream} `}${code} × ${count}`)
  const rest = problems.length - told.length
  return `${before}${told.join(', ')}${rest > 0 ? `, +${rest}` : ''}`
}
