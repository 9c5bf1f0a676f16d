import type { Page } from '../../core/page.ts'
import type { SourceFact } from '../../core/source-fact.ts'
import { textOf } from './fields.ts'
import { findEndsBySeconds } from './find-ends-by-seconds.ts'
import { findGiftVisitor } from './find-gift-visitor.ts'
import { findPageLimits } from './find-page-limits.ts'
import { findVisitorOrder } from './find-visitor-order.ts'
import type { Questioner } from './questioner.ts'
import { sampleGifts, sampleSignups } from './samples.ts'

export interface ChannelFindings {
  readonly facts: readonly SourceFact[]
  /** What came on the way. */
  readonly pages: readonly (Page | undefined)[]
}

type Asking = Pick<Questioner, 'ask'>

/** Visitors, gifts and signups of one channel: their order, their filters and their pages. Around fifteen calls. */
export async function probeChannel(questioner: Asking, channelId: string): Promise<ChannelFindings> {
  const findings = [
    await probeVisitors(questioner, channelId),
    await probeGifts(questioner, channelId),
    await probeSignups(questioner, channelId),
  ]
  return { facts: findings.flatMap(({ facts }) => facts), pages: findings.flatMap(({ pages }) => pages) }
}

async function probeVisitors(questioner: Asking, channelId: string): Promise<ChannelFindings> {
  const list = { endpoint: 'visitorList', channelId, filter: '0', direction: 'desc' } as const
  const desc = await questioner.ask({ list, pageSize: 100 })
  const asc = await questioner.ask({ list: { ...list, direction: 'asc' }, pageSize: 100 })
  const [first, other] = [desc, asc].map((reply) => (reply.kind === 'page' ? reply.page : undefined))
  const missing = desc.kind === 'page' ? (asc.kind === 'page' ? '' : asc.reason) : desc.reason
  const limits = { subject: 'visitorList', list, defaultSize: 20, largestSize: 100, first, missing } as const
  return {
    facts: [...findVisitorOrder(first, other, missing), ...(await findPageLimits(questioner, limits))],
    pages: [first, other],
  }
}

async function probeGifts(questioner: Asking, channelId: string): Promise<ChannelFindings> {
  const { list, page: first, evidence } = await sampleGifts(questioner, channelId)
  const ends = await findEndsBySeconds(questioner, {
    subject: 'giftRunning',
    pageSize: 100,
    items: first?.items ?? [],
    within: (startTime, endTime) => ({ ...list, startTime, endTime }),
    timeField: () => 'uptime',
  })
  const limits = { subject: 'giftRunning', list, defaultSize: 20, largestSize: 100, first, missing: evidence } as const
  const carrying = findGiftVisitor(first?.items, evidence)
  return { facts: [ends, carrying, ...(await findPageLimits(questioner, limits))], pages: [first] }
}

async function probeSignups(questioner: Asking, channelId: string): Promise<ChannelFindings> {
  const subject = 'signupRecord'
  const forms = await questioner.ask({ list: { endpoint: 'getQuestionList', channelId }, pageSize: 100 })
  const items = forms.kind === 'page' ? forms.page.items : []
  const questionIds = items.map((item) => textOf(item, 'question_id')).filter((id) => id !== undefined)
  const sample = await sampleSignups(questioner, channelId, questionIds)
  if (sample === undefined) {
    const evidence = forms.kind === 'page' ? `channel ${channelId} has no questionnaire` : forms.reason
    const topics = ['filter_ends', 'past_last_page', 'above_maximum'] as const
    return { facts: topics.map((topic) => ({ topic, subject, answer: null, evidence })), pages: [] }
  }
  const { list, page: first, evidence } = sample
  const ends = await findEndsBySeconds(questioner, {
    subject,
    pageSize: 50,
    items: first?.items ?? [],
    within: (startTime, endTime) => ({ ...list, startTime, endTime }),
    timeField: (row) => (Array.isArray(row) ? row.length - 1 : ''),
  })
  const limits = { subject, list, defaultSize: 10, largestSize: 50, first, missing: evidence } as const
  return { facts: [ends, ...(await findPageLimits(questioner, limits))], pages: [first] }
}
