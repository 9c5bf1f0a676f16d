import type { AccountList, ChannelList, EndpointName } from './endpoint.ts'
import { giftRunning } from './gift-endpoint.ts'
import { managers, managersUsage } from './manager-endpoints.ts'
import { getQuestionList, signupRecord } from './questionnaire-endpoints.ts'
import { visitorList } from './visitor-endpoint.ts'
import { userRecordList, userRecords } from './watch-record-endpoints.ts'

/** API 4.5 to 4.12. */
export const listEndpoints: Readonly<Partial<Record<EndpointName, ChannelList | AccountList>>> = {
  userRecordList,
  userRecords,
  visitorList,
  managersUsage,
  managers,
  getQuestionList,
  signupRecord,
  giftRunning,
}
