import { type FactSubject, factTopics, type SourceFact } from '../core/source-fact.ts'

/** Endpoints as the spec numbers them. */
export const subjectNames: Readonly<Record<FactSubject, string>> = {
  account: 'account',
  userRecordList: '4.5 userRecordList',
  visitorList: '4.7 visitorList',
  giftRunning: '4.12 giftRunning',
  getQuestionList: '4.10 getQuestionList',
  signupRecord: '4.11 signupRecord',
  managers: '4.9 managers',
  managersUsage: '4.8 managersUsage',
  userRecords: '4.6 userRecords',
}

/** `ends of the time filter that belong to it: both`. */
export function describeFact({ topic, answer }: SourceFact): string {
  return `${factTopics[topic]}: ${answer ?? 'unknown'}`
}
