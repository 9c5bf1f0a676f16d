import type { Connection, ConnectOptions } from '../../src/service/connect.ts'
import type { ListEndpoint, ListRequest } from '../../src/core/page.ts'
import type { Emulator } from '../../src/emulator/server.ts'
import { connectClient } from './connect-client.ts'

/** A client of an emulator with both kinds of credentials, and a budget for 4.6 that never ends. */
export function connectTo(emulator: Emulator, overrides: Partial<ConnectOptions> = {}): Connection {
  const { appId, appSecret, apiToken, authUrl } = emulator
  const spendDay = async () => {}
  const reservation = { scope: 'account', serviceDay: '2026-11-20', resumesAt: '2026-11-20T16:00:00Z', spendDay }
  const reserve = async () => reservation
  return connectClient(emulator.baseUrl, { authUrl, appId, appSecret, apiToken, reserve, ...overrides })
}

/** What each list endpoint is asked for: all of the first channel, or of its first questionnaire. */
export function listOf(emulator: Emulator, endpoint: ListEndpoint): ListRequest {
  const channelId = emulator.channelIds[0] ?? ''
  const questionId = emulator.world.channels.get(channelId)?.questionnaires.rows[0]?.questionId ?? ''
  const lists: Readonly<Record<ListEndpoint, ListRequest>> = {
    visitorList: { endpoint: 'visitorList', channelId, filter: '0', direction: 'desc' },
    userRecordList: { endpoint: 'userRecordList', channelId, filterWatchTime: 0 },
    userRecords: { endpoint: 'userRecords', channelId, filterWatchTime: 0 },
    giftRunning: { endpoint: 'giftRunning', channelId, type: 'cash' },
    getQuestionList: { endpoint: 'getQuestionList', channelId },
    signupRecord: { endpoint: 'signupRecord', channelId, questionId },
    managers: { endpoint: 'managers' },
    managersUsage: { endpoint: 'managersUsage' },
  }
  return lists[endpoint]
}
