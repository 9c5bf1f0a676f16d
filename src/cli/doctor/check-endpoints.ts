import type { Connection } from '../../api/connect.ts'
import type { ChannelSetting } from '../../config/channel-setting.ts'
import { hasCode } from '../../core/errors.ts'
import type { ListRequest, Page } from '../../core/page.ts'
import { isObject } from '../../transform/field.ts'
import { type Check, failed, passed, skipped } from './check.ts'

export interface EndpointChecks {
  readonly channels: readonly ChannelSetting[]
  /** Whether the base URL answers. */
  readonly isReachable: boolean
  readonly signal: AbortSignal
  readonly report: (check: Check) => void
}

interface Asked {
  readonly check: Check
  readonly page?: Page
  readonly isTokenRefused?: boolean
}

/** The smallest call on each endpoint that reads, the first of which also shows whether the bearer token is accepted. */
export async function checkEndpoints(connection: Connection, checks: EndpointChecks): Promise<void> {
  const { channels, isReachable, signal, report } = checks
  const ask = async (name: string, list: ListRequest): Promise<Asked> => {
    try {
      const page = await connection.fetchPage({ list, page: 1, pageSize: 1 }, { signal })
      return { check: passed(name, describe(page)), page }
    } catch (error) {
      const isTokenRefused = hasCode(error, 'api.unauthorized') || hasCode(error, 'api.credentialsRefused')
      return { check: failed(name, error, signal), isTokenRefused }
    }
  }
  if (!isReachable) {
    report(skipped('bearer token', 'not tried: the base URL does not answer'))
    for (const name of Object.values(names)) report(skipped(name, 'not asked: the base URL does not answer'))
    return
  }
  const managers = await ask(names.managers, { endpoint: 'managers' })
  if (managers.isTokenRefused === true) {
    report({ ...managers.check, name: 'bearer token' })
    for (const name of Object.values(names)) report(skipped(name, 'not asked: the token is refused'))
    return
  }
  report(passed('bearer token', 'accepted'))
  report(managers.check)
  report((await ask(names.managersUsage, { endpoint: 'managersUsage' })).check)
  const channelId = channels[0]?.channelId
  if (channelId === undefined) {
    for (const name of channelNames) report(skipped(name, 'not asked: no channel is configured'))
  } else {
    report((await ask(names.visitorList, { endpoint: 'visitorList', channelId, filter: '0', direction: 'desc' })).check)
    report((await ask(names.userRecordList, { endpoint: 'userRecordList', channelId, filterWatchTime: 0 })).check)
    const questionnaires = await ask(names.getQuestionList, { endpoint: 'getQuestionList', channelId })
    report(questionnaires.check)
    const questionId = questionIdOf(questionnaires.page?.items[0])
    if (questionId === undefined) {
      report(skipped(names.signupRecord, `not asked: no questionnaire of channel ${channelId} is known`))
    } else {
      report((await ask(names.signupRecord, { endpoint: 'signupRecord', channelId, questionId })).check)
    }
    report((await ask(names.giftRunning, { endpoint: 'giftRunning', channelId, type: 'cash' })).check)
  }
  report(skipped(names.userRecords, 'not asked: it allows ten calls a day'))
}

const names = {
  managers: '4.9 managers',
  managersUsage: '4.8 managersUsage',
  visitorList: '4.7 visitorList',
  userRecordList: '4.5 userRecordList',
  getQuestionList: '4.10 getQuestionList',
  signupRecord: '4.11 signupRecord',
  giftRunning: '4.12 giftRunning',
  userRecords: '4.6 userRecords',
} as const

const channelNames = [
  names.visitorList,
  names.userRecordList,
  names.getQuestionList,
  names.signupRecord,
  names.giftRunning,
]

function describe({ total, items }: Page): string {
  if (total !== undefined) return `answers, ${total.toLocaleString('en-US')} in all`
  return items.length === 0 ? 'answers, nothing there' : 'answers'
}

function questionIdOf(item: unknown): string | undefined {
  const id = isObject(item) ? item.question_id : undefined
  return typeof id === 'string' && id !== '' ? id : undefined
}
