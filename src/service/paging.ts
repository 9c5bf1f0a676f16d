import type { FetchPage } from '../core/page.ts'
import type { Client } from './client.ts'

/** Leads each kind of list request to its method of the client. */
export function createFetchPage(client: Client): FetchPage {
  return ({ list, page, pageSize }, context) => {
    const paging = { page, pageSize }
    switch (list.endpoint) {
      case 'visitorList':
        return client.visitors(list, paging, context)
      case 'userRecordList':
        return client.watchRecords(list, paging, context)
      case 'userRecords':
        return client.watchRecordsV1(list, paging, context)
      case 'giftRunning':
        return client.gifts(list, paging, context)
      case 'getQuestionList':
        return client.questionnaires(list, paging, context)
      case 'signupRecord':
        return client.signups(list, paging, context)
      case 'managers':
        return client.managers(paging, context)
      case 'managersUsage':
        return client.managerUsage(list, paging, context)
    }
  }
}
